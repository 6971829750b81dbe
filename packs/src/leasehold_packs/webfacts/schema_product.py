"""schema.org products: JSON-LD and microdata alike, in all the shapes that shops give them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from leasehold import storable
from leasehold_packs.webfacts.availability import Availability, schema_availability
from leasehold_packs.webfacts.currency import currency_code
from leasehold_packs.webfacts.fact import Fact, T
from leasehold_packs.webfacts.gtin import gtin_of
from leasehold_packs.webfacts.money import Money, parse_number, parse_price
from leasehold_packs.webfacts.offer import Offer
from leasehold_packs.webfacts.product_candidates import Candidates
from leasehold_packs.webfacts.shop_words import worded_availability
from leasehold_packs.webfacts.structured import Json, Named, Node, Structured, escaped, text_of, values

_PRODUCTS = {"product", "productgroup", "individualproduct", "productmodel", "someproducts", "vehicle", "car"}
_OTHER_PRODUCTS = re.compile(
    r"/(?:isRelatedTo|isSimilarTo|isAccessoryOrSparePartFor|isConsumableFor|itemListElement)/?"
)
_CONFIDENCE = {"json-ld": 0.9, "microdata": 0.85}
_STRUCK = re.compile(r"listprice|strikethroughprice|msrp|srp|regularprice", re.IGNORECASE)
_GTINS = ("gtin", "gtin13", "gtin14", "gtin12", "gtin8", "isbn", "productID")


_Found = tuple[T, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """An object inside a node, and where."""

    properties: dict[str, Json]
    pointer: str

    def parts(self, *names: str) -> Iterator["_Part"]:
        for name in names:
            for value, pointer in self.all(name):
                if isinstance(value, dict):
                    yield _Part(properties=value, pointer=value.pointer if isinstance(value, Named) else pointer)

    def all(self, name: str) -> Iterator[_Found[Json]]:
        """The values of a property, each with its pointer."""
        value, pointer = self.properties.get(name), f"{self.pointer}/{escaped(name)}"
        if isinstance(value, list):
            yield from ((item, f"{pointer}/{index}") for index, item in enumerate(value))
        elif value is not None:
            yield value, pointer

    def first(self, *names: str, read: Callable[[Json], T | None]) -> _Found[T] | None:
        """The first value that can be read, and its pointer."""
        for name in names:
            for value, pointer in self.all(name):
                if found := read(value):
                    return found, pointer
        return None


def read_products(structured: Structured, *, url: str, title: str) -> tuple[Candidates, tuple[Offer, ...]]:
    """The facts of the product the page is about, from JSON-LD, then from microdata; and the offers of the first."""
    found = Candidates()
    offers: tuple[Offer, ...] = ()
    nodes = list(structured.nodes())
    for source in ("json-ld", "microdata"):
        described = [node for node in nodes if node.source == source]
        if product := _main_product(described, title):
            own = _offers(product, described)
            _add_product(found, product)
            if chosen := _chosen(own, url):
                _add_offer(found, chosen, source)
            offers = offers or own
    return found, offers


def _main_product(nodes: list[Node], title: str) -> Node | None:
    """A product before other things with offers, one with a price before one without, the page's own before others."""
    products = [node for node in nodes if node.types & _PRODUCTS or "offers" in node.properties]
    return min(products, key=lambda node: _remoteness(node, title), default=None)


def _remoteness(node: Node, title: str) -> tuple[bool, bool, bool, bool]:
    name = text_of(node.properties.get("name"))
    return (
        bool(_OTHER_PRODUCTS.search(node.pointer)),
        not node.types & _PRODUCTS,
        not _same_name(name, title),
        not (values(node.properties, "offers") or values(node.properties, "hasVariant")),
    )


def _same_name(name: str | None, title: str) -> bool:
    return bool(name) and _letters(name) in _letters(title)


def _letters(text: str | None) -> str:
    return re.sub(r"\W", "", text or "").casefold()


def _offers(product: Node, nodes: list[Node]) -> tuple[Offer, ...]:
    """Those of the product and of its namesakes, which are its sizes and colours; else those that stand alone."""
    found = [
        (offer, part)
        for node in (product, *_namesakes(product, nodes))
        for part in (_whole(node), *_whole(node).parts("hasVariant", "model"))
        for offer in _offers_of(part)
    ]
    if not found:
        loose = [node for node in nodes if node.types & {"offer", "aggregateoffer"} and node.pointer.count("/") == 2]
        found = [(_whole(node), _whole(product)) for node in loose]
    distinct = {offer.pointer: _offer(offer, part) for offer, part in reversed(found)}
    return tuple(reversed(distinct.values()))


def _namesakes(product: Node, nodes: list[Node]) -> list[Node]:
    name = text_of(product.properties.get("name"))
    return [
        node for node in nodes if name and node.types & product.types and text_of(node.properties.get("name")) == name
    ]


def _whole(node: Node) -> _Part:
    return _Part(properties=node.properties, pointer=node.pointer)


def _offers_of(product: _Part) -> Iterator[_Part]:
    for offer in product.parts("offers"):
        nested = list(offer.parts("offers"))
        yield from nested or [offer]


def _offer(offer: _Part, product: _Part) -> Offer:
    found: dict[str, _Found[Any] | None] = {
        "price": _price(offer),
        "list_price": _list_price(offer),
        "availability": offer.first("availability", read=_availability),
        "sku": offer.first("sku", read=text_of) or product.first("sku", read=text_of),
        "gtin": offer.first(*_GTINS, read=_gtin) or product.first(*_GTINS, read=_gtin),
    }
    known = {name: one[0] if one else None for name, one in found.items()}
    url = text_of(offer.properties.get("url"))
    return Offer(
        key=known["sku"] or known["gtin"] or url or "",
        pointers={name: one[1] for name, one in found.items() if one},
        **known,
    )


def _price(offer: _Part) -> _Found[Money] | None:
    """The price itself, else that of a specification that is neither struck out nor by the unit."""
    if own := _money(offer, "price", "lowPrice"):
        return own
    parts = [part for part in offer.parts("priceSpecification") if not _is_struck(part)]
    whole = [part for part in parts if "referenceQuantity" not in part.properties]
    return next((money for part in whole or parts if (money := _money(part, "price", "minPrice", offer=offer))), None)


def _list_price(offer: _Part) -> _Found[Money] | None:
    parts = filter(_is_struck, offer.parts("priceSpecification"))
    return next((money for part in parts if (money := _money(part, "price", offer=offer))), None)


def _is_struck(specification: _Part) -> bool:
    return any(_STRUCK.search(str(value)) for value, _ in specification.all("priceType"))


def _money(part: _Part, *names: str, offer: _Part | None = None) -> _Found[Money] | None:
    currency = _currency(part) or (_currency(offer) if offer else None)

    def read(value: Json) -> Money | None:
        if isinstance(value, dict):
            return next((money for name in ("price", "value", "@value") if (money := read(value.get(name)))), None)
        money = parse_number(value, currency=currency)
        if money is None and isinstance(value, str):
            money = parse_price(value, currency=currency)
        return money if money and money.amount > 0 else None

    return part.first(*names, read=read)


def _currency(part: _Part) -> str | None:
    found = part.first("priceCurrency", "currency", read=lambda value: currency_code(text_of(value)))
    return found[0] if found else None


def _availability(value: Json) -> Availability | None:
    text = text_of(value)
    return schema_availability(text) or worded_availability(text) if text else None


def _gtin(value: Json) -> str | None:
    text = text_of(value)
    return gtin_of(text) if text else None


def _chosen(offers: tuple[Offer, ...], url: str) -> Offer | None:
    """The variant that the URL names, else the first with a price that can be bought, else the first with a price."""
    priced = [offer for offer in offers if offer.price] or list(offers)
    named = [offer for offer in priced if len(offer.key) > 3 and offer.key in unquote(url)]
    sold = [offer for offer in priced if offer.availability is not Availability.OUT_OF_STOCK]
    return next(iter([*named, *sold, *priced]), None)


def _add_product(found: Candidates, product: Node) -> None:
    part = _whole(product)

    def add(facts: list[Fact[str]], *names: str, read: Callable[[Json], str | None] = text_of) -> None:
        if one := part.first(*names, read=read):
            facts.append(_fact(one[0], product.source, one[1]))

    add(found.name, "name")
    add(found.brand, "brand", "manufacturer")
    add(found.sku, "sku")
    add(found.sku, "productID")
    add(found.mpn, "mpn")
    add(found.gtin, *_GTINS, read=_gtin)
    add(found.image, "image", read=_image)


def _image(value: Json) -> str | None:
    url = value.get("url") or value.get("contentUrl") if isinstance(value, dict) else value
    return storable(url).strip() or None if isinstance(url, str) else None


def _add_offer(found: Candidates, offer: Offer, source: str) -> None:
    for name, pointer in offer.pointers.items():
        getattr(found, name).append(_fact(getattr(offer, name), source, pointer))


def _fact(value: T, source: str, pointer: str) -> Fact[T]:
    """The method is the name of the property."""
    method = re.sub(r"(?:/\d+)+$", "", pointer).rpartition("/")[2]
    return Fact(value=value, source=source, method=method, confidence=_CONFIDENCE[source], pointer=pointer)
