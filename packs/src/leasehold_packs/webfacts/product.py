"""One product read off one page, by the ladder: a given selector, JSON-LD, microdata, Open Graph, the state that the
page has for its scripts, the page, its URL.

The highest rung that has a value gives it. Where another rung says something else, both are kept: the disagreement is
reported and the confidence falls, and nobody guesses.
"""

from dataclasses import dataclass, replace

import ada_url
from selectolax.lexbor import LexborHTMLParser

from leasehold_packs.webfacts.availability import Availability, schema_availability
from leasehold_packs.webfacts.currency import currency_code, currency_of_host
from leasehold_packs.webfacts.dom import flat, parse, path_of, visible_text
from leasehold_packs.webfacts.dom_code import read_codes
from leasehold_packs.webfacts.dom_names import named_elements
from leasehold_packs.webfacts.dom_price import money_of, read_prices
from leasehold_packs.webfacts.dom_stock import read_stock
from leasehold_packs.webfacts.fact import Disagreement, Fact, T, disagreements, settle
from leasehold_packs.webfacts.gtin import gtin_of
from leasehold_packs.webfacts.hydration import add_hydration
from leasehold_packs.webfacts.money import Money, parse_number, parse_price
from leasehold_packs.webfacts.offer import Offer
from leasehold_packs.webfacts.product_candidates import Candidates
from leasehold_packs.webfacts.schema_product import read_products
from leasehold_packs.webfacts.selectors import select_first
from leasehold_packs.webfacts.structured import read_structured

_OPEN_GRAPH = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """What was found; ``offers`` are the variants and sellers that the structured data tells apart."""

    price: Fact[Money] | None
    list_price: Fact[Money] | None
    availability: Fact[Availability] | None
    sku: Fact[str] | None
    gtin: Fact[str] | None
    mpn: Fact[str] | None
    brand: Fact[str] | None
    name: Fact[str] | None
    image: Fact[str] | None
    offers: tuple[Offer, ...]
    disagreements: tuple[Disagreement, ...]


def read_product(
    text: str, *, url: str, price_selector: str | None = None, page: LexborHTMLParser | None = None
) -> Product:
    """The product that a page is about; what is not there is None.

    ``price_selector`` is a person's word on where the price stands, and stands above all else. ``page`` is the same
    text, parsed, for callers who read more of it; what cannot be seen is taken out of it.
    """
    tree = page or parse(text)
    structured = read_structured(text, url=url, page=tree)
    title = _title(tree)
    found, offers = read_products(structured, url=url, title=title)
    _add_open_graph(found, structured.opengraph)
    currency = _currency(found, url)
    if price_selector and (fact := _selected_price(tree, price_selector, currency, text)):
        found.price.insert(0, fact)
    _add_page(found, tree, url, currency, title)
    found.price = [_in_currency(fact, currency) for fact in found.price]
    return Product(
        price=settle(found.price, Money.agrees),
        list_price=settle(found.list_price, Money.agrees),
        availability=settle(found.availability),
        sku=settle(found.sku),
        gtin=settle(found.gtin),
        mpn=settle(found.mpn),
        brand=settle(found.brand),
        name=settle(found.name),
        image=settle(found.image),
        offers=offers,
        disagreements=(
            *disagreements("price", found.price, Money.agrees),
            *disagreements("availability", found.availability),
            *disagreements("sku", found.sku),
            *disagreements("gtin", found.gtin),
        ),
    )


def _title(tree: LexborHTMLParser) -> str:
    return " ".join(flat(node.text()) for selector in ("title", "h1") for node in tree.css(selector)[:1])


def _add_open_graph(found: Candidates, properties: dict[str, list[str]]) -> None:
    def first(*names: str) -> tuple[str, str]:
        return next(((name, value) for name in names for value in properties.get(name, ()) if value), ("", ""))

    def add(facts: list[Fact[T]], value: T | None, name: str) -> None:
        if value:
            pointer = f"/opengraph/{name}"
            facts.append(Fact(value=value, source="opengraph", method=name, confidence=_OPEN_GRAPH, pointer=pointer))

    currency = currency_code(first("product:price:currency", "og:price:currency", "product:sale_price:currency")[1])
    name, value = first("product:sale_price:amount", "product:price:amount", "og:price:amount")
    money = parse_number(value, currency=currency) or parse_price(value, currency=currency)
    add(found.price, money if money and money.amount > 0 else None, name)
    name, value = first("product:availability", "og:availability")
    add(found.availability, schema_availability(value) if value else None, name)
    name, value = first("product:retailer_item_id", "product:retailer_part_no")
    add(found.sku, value, name)
    name, value = first("product:ean", "product:upc", "product:isbn")
    add(found.gtin, gtin_of(value), name)
    name, value = first("product:mfr_part_no")
    add(found.mpn, value, name)
    name, value = first("product:brand", "og:brand")
    add(found.brand, value, name)
    name, value = first("og:title")
    add(found.name, value, name)
    name, value = first("og:image:secure_url", "og:image")
    add(found.image, value, name)


def _selected_price(tree: LexborHTMLParser, selector: str, currency: str | None, text: str) -> Fact[Money] | None:
    node = select_first(tree, selector, text=text)
    if node is None or (money := money_of(node, currency)) is None:
        return None
    return Fact(value=money, source="selector", method=selector, confidence=0.95, pointer=path_of(node))


def _add_page(found: Candidates, tree: LexborHTMLParser, url: str, currency: str | None, title: str) -> None:
    named = named_elements(tree)
    stock = read_stock(tree, named)
    for_sale = stock is None or stock.value is not Availability.OUT_OF_STOCK
    price, struck = read_prices(tree, named.prices, currency=currency, for_sale=for_sale)
    for node in tree.css("h1")[:1]:
        if name := flat(node.text()):
            found.name.append(Fact(value=name, source="page", method="h1", confidence=0.6, pointer="h1"))
    if not found.price:  # States are large: they are read only where nobody says the price to machines.
        add_hydration(found, tree, title=title, shown=price)
    found.price += [price] if price else []
    found.list_price += [struck] if struck else []
    found.availability += [stock] if stock else []
    if found.price and not found.availability:
        found.availability.append(_for_sale(found.price[0]))
    found.sku += read_codes(tree, text=visible_text(tree), url=url)


def _for_sale(price: Fact[Money]) -> Fact[Availability]:
    """A price, and nothing that says it cannot be had: the weakest of reasons, and marked so."""
    return Fact(
        value=Availability.IN_STOCK,
        source=price.source,
        method="price-shown",
        confidence=0.3,
        pointer=price.pointer,
    )


def _currency(found: Candidates, url: str) -> str | None:
    """What prices without a clear sign are in: what the structured data says, else what the country uses."""
    known = next((fact.value.currency for fact in found.price if fact.value.currency), None)
    return known or currency_of_host(_host(url))


def _in_currency(fact: Fact[Money], currency: str | None) -> Fact[Money]:
    return fact if fact.value.currency else replace(fact, value=replace(fact.value, currency=currency))


def _host(url: str) -> str:
    try:
        return ada_url.URL(url).hostname
    except ValueError:
        return ""
