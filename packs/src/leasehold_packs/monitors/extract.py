"""What a page says about a product, and what an answer is that says nothing about one. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from typing_extensions import TypedDict

from leasehold_packs.monitors.identity import ShopId, shop_id
from leasehold_packs.webfacts.availability import Availability
from leasehold_packs.webfacts.challenge import is_challenge
from leasehold_packs.webfacts.currency import EXPONENT
from leasehold_packs.webfacts.dom import flat, parse, visible_text
from leasehold_packs.webfacts.fact import Fact
from leasehold_packs.webfacts.money import Money
from leasehold_packs.webfacts.offer import Offer
from leasehold_packs.webfacts.page_change import facts_digest
from leasehold_packs.webfacts.product import Product, read_product
from leasehold_packs.webfacts.shop_feed import Platform, platform_of, read_feed
from leasehold_packs.webfacts.simhash import signed, simhash

#: Raised whenever the rules of reading change, so that pages kept in the body store are read again.
EXTRACTOR = 3

_NAMES = ("price", "list_price", "availability", "sku", "gtin", "mpn", "brand", "name", "image")
#: Characters of facts that products are found by: an index takes no more than 2.7 kB.
_LONGEST = dict.fromkeys(("brand", "sku", "gtin", "mpn"), 200)
_NOT_FOR_SALE = (Availability.OUT_OF_STOCK, Availability.DISCONTINUED)
_NOT_FOUND = re.compile(
    r"\b404\b|(?:page|product|item) (?:was |could |is |can)?(?:not|no longer|n't) (?:be )?(?:found|exist|available)"
    r"|nicht gefunden|page introuvable|no encontrada|non trovata|niet gevonden|не найдена",
    re.IGNORECASE,
)
_NEEDS_SCRIPT = re.compile(
    r"enable javascript|javascript (?:is )?(?:required|disabled)|need to enable js", re.IGNORECASE
)
_VARIANTS = 200
_FEED = 0.98


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One offer as a page shows it; ``variant`` is empty for the product itself."""

    variant: str = ""
    price: Decimal | None
    currency: str | None
    list_price: Decimal | None = None
    availability: str | None
    method: str | None = None
    stock_method: str | None = None
    confidence: float = 0.0
    pointer: str | None = None


class Amount(TypedDict):
    amount: str
    currency: str | None


class FactRecord(TypedDict):
    """A value, where it was found, how, and how sure that is."""

    value: str | Amount
    source: str
    method: str
    confidence: float
    pointer: str | None


class Disagreement(TypedDict):
    name: str
    chosen: FactRecord
    other: FactRecord


class ProductFacts(TypedDict):
    found: dict[str, FactRecord]
    disagreements: list[Disagreement]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """``facts`` is for people: each value with where it was found, how, and how sure we are."""

    offers: tuple[Observed, ...]
    shop_id: ShopId | None
    platform: Platform | None
    facts: ProductFacts = field(repr=False)
    title: str
    is_challenge: bool
    words: int
    scripts: int
    says_script: bool
    simhash: int | None

    @property
    def main(self) -> Observed:
        return self.offers[0]

    @property
    def is_readable(self) -> bool:
        """Whether there is a price, or a word that there is nothing to pay for."""
        return self.main.price is not None or self.main.availability in _NOT_FOR_SALE

    @property
    def needs_script(self) -> bool:
        """Whether the page is made in the browser: it is nearly empty here, and brings or asks for scripts."""
        return self.main.price is None and self.words < 150 and (self.says_script or self.scripts > 0)

    @property
    def is_not_found(self) -> bool:
        return self.main.price is None and bool(_NOT_FOUND.search(self.title))

    @property
    def digest(self) -> str:
        return facts_digest({one.variant: (one.price, one.currency, one.availability) for one in self.offers})

    def get(self, name: str) -> str | None:
        fact = self.facts["found"].get(name)
        return str(fact["value"]) if fact else None


def read(text: str, *, url: str, selector: str | None = None, currency: str | None = None) -> Reading:
    """``currency`` is that of prices whose page does not say."""
    tree = parse(text)
    titles = [flat(node.text()) for name in ("title", "h1") for node in tree.css(name)[:1]]
    scripts = len(tree.css("script"))
    says_script = any(_NEEDS_SCRIPT.search(node.text()) for node in tree.css("noscript"))
    product = read_product(text, url=url, price_selector=selector, page=tree)
    visible = visible_text(tree)
    near = simhash(visible)
    words = len(visible.split())
    offers = tuple(_offers(product, currency))
    asks = offers[0].price is None and is_challenge(titles, text, tree, words=words, scripts=scripts)
    return Reading(
        offers=offers,
        shop_id=shop_id(text, url, product),
        platform=platform_of(text),
        facts=_facts(product),
        title=" ".join(titles),
        is_challenge=asks,
        words=words,
        scripts=scripts,
        says_script=says_script,
        simhash=None if near is None else signed(near),
    )


def with_feed(reading: Reading, document: Any, *, url: str, currency: str | None = None) -> Reading:
    """The same with prices and stock as the platform says them in JSON: exact, and all variants."""
    if reading.platform is None:
        return reading
    known = reading.main.currency or currency
    offers = [
        offer for offer in read_feed(reading.platform, document, currency=known) if offer.price and offer.price.currency
    ]
    if not offers:
        return reading
    named = [offer for offer in offers if len(offer.key) > 3 and offer.key in url]
    sold = [offer for offer in offers if offer.availability is not Availability.OUT_OF_STOCK]
    chosen = _variant(next(iter([*named, *sold, *offers])), None)
    main = replace(
        chosen,
        variant="",
        availability=chosen.availability or reading.main.availability,
        method="feed:price",
        stock_method="feed:availability" if chosen.availability else reading.main.stock_method,
        confidence=_FEED,
    )
    others = tuple(_variant(offer, None) for offer in offers[:_VARIANTS]) if len(offers) > 1 else ()
    price: FactRecord = {
        "value": {"amount": amount_text(main.price or Decimal(0), main.currency), "currency": main.currency},
        "source": "feed",
        "method": str(reading.platform),
        "confidence": _FEED,
        "pointer": main.pointer,
    }
    facts: ProductFacts = {**reading.facts, "found": reading.facts["found"] | {"price": price}}
    return replace(reading, offers=(main, *others), facts=facts)


def amount_text(amount: Decimal, currency: str | None) -> str:
    """With as many decimals as the currency has, or more if the shop says more."""
    plain = format(amount.normalize(), "f")
    _, _, decimals = plain.partition(".")
    return f"{amount:.{max(EXPONENT.get(currency or '', 2), len(decimals))}f}"


def _offers(product: Product, currency: str | None) -> Iterator[Observed]:
    """The product itself, then its variants if there are several."""
    yield Observed(
        **_money(product.price.value if product.price else None, currency),
        list_price=_amount(product.list_price.value if product.list_price else None, product.price),
        availability=str(product.availability.value) if product.availability else None,
        method=_method(product.price),
        stock_method=_method(product.availability),
        confidence=product.price.confidence if product.price else 0.0,
        pointer=product.price.pointer if product.price else None,
    )
    variants = {offer.key: offer for offer in product.offers if offer.key}
    if len(variants) > 1:
        yield from (_variant(offer, currency) for offer in list(variants.values())[:_VARIANTS])


def _variant(offer: Offer, currency: str | None) -> Observed:
    return Observed(
        variant=offer.key[:200],
        **_money(offer.price, currency),
        list_price=offer.list_price.amount if offer.list_price else None,
        availability=str(offer.availability) if offer.availability else None,
        method="offer:price" if offer.price else None,
        stock_method="offer:availability" if offer.availability else None,
        confidence=0.9,
        pointer=offer.pointers.get("price"),
    )


class _Price(TypedDict):
    price: Decimal | None
    currency: str | None


def _money(money: Money | None, currency: str | None) -> _Price:
    """A price in no known currency is no price: it could be compared with nothing."""
    code = (money.currency or currency) if money else None
    return {"price": money.amount if money and code else None, "currency": code}


def _amount(struck: Money | None, price: Fact[Money] | None) -> Decimal | None:
    """What is struck through counts only above the price it stands beside."""
    return struck.amount if struck and price and struck.amount > price.value.amount else None


def _method(fact: Fact[Any] | None) -> str | None:
    return f"{fact.source}:{fact.method}"[:200] if fact else None


def _facts(product: Product) -> ProductFacts:
    facts = {name: _fact(name, fact) for name in _NAMES if (fact := getattr(product, name))}
    others: list[Disagreement] = [
        {"name": one.name, "chosen": _fact(one.name, one.chosen), "other": _fact(one.name, one.other)}
        for one in product.disagreements
    ]
    return {"found": facts, "disagreements": others}


def _fact(name: str, fact: Fact[Any]) -> FactRecord:
    value = fact.value
    if isinstance(value, Money):
        told: str | Amount = {"amount": amount_text(value.amount, value.currency), "currency": value.currency}
    else:
        told = str(value)[: _LONGEST.get(name, 2000)]
    return {
        "value": told,
        "source": fact.source,
        "method": fact.method[:500],
        "confidence": fact.confidence,
        "pointer": fact.pointer[:500],
    }
