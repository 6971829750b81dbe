"""Products in the state that a page brings along for its own scripts: ``__NEXT_DATA__`` and its kin.

Shops name the parts of such states as they like. An object is the product because it bears the name that the page's
title has, and says a price; there are no paths of single shops here.
"""

import json
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

from selectolax.lexbor import LexborHTMLParser

from leasehold_packs.webfacts.availability import Availability, schema_availability
from leasehold_packs.webfacts.currency import currency_code
from leasehold_packs.webfacts.fact import Fact, T
from leasehold_packs.webfacts.gtin import gtin_of
from leasehold_packs.webfacts.money import Money, parse_number
from leasehold_packs.webfacts.product_candidates import Candidates
from leasehold_packs.webfacts.structured import Json, escaped, text_of

MAX_OBJECTS = 50_000

_CONFIDENCE = 0.7
_MAX_SCRIPT = 4_000_000
_MAX_DEPTH = 40
_LEAST_NAME = 6
_ASSIGNED = re.compile(r"""\b(?:window|self|globalThis)(?:\.|\[['"])(\w{1,80})(?:['"]\])?\s*=\s*(?=\{)""")

# Names of properties, without case, dashes and underscores; the first that can be read counts.
_NAMES = ("name", "title", "productname", "displayname", "producttitle")
_PRICES = ("saleprice", "currentprice", "finalprice", "sellingprice", "specialprice", "offerprice", "price", "prices")
_AMOUNTS = ("current", "now", "sale", "selling", "final", "special", "discounted", "value", "amount", "price")
_CURRENCIES = ("currency", "currencycode", "pricecurrency", "currencyisocode", "isocode")
_IN_STOCK = ("instock", "isinstock", "availableforsale", "isavailable", "purchasable")
_OUT_OF_STOCK = ("outofstock", "isoutofstock", "soldout", "issoldout")
_SKUS = ("sku", "articlenumber", "itemnumber", "productsku")
_GTINS = ("gtin", "gtin13", "gtin14", "ean", "ean13", "upc", "barcode")
_MPNS = ("mpn", "manufacturerpartnumber")


def add_hydration(found: Candidates, tree: LexborHTMLParser, *, title: str, shown: Fact[Money] | None) -> None:
    """What the first product with the page's name and a price says; ``shown`` is the price that a reader sees."""
    for pointer, product in _products(_states(tree), _letters(title)):
        if priced := _price(product, pointer, None, shown.value if shown else None):
            _add(found.price, *priced)
            _add_others(found, product, pointer)
            return


def _states(tree: LexborHTMLParser) -> Iterator[tuple[str, Json]]:
    """Every state, named by the id of its script or by the variable that it is put into."""
    for place, script in enumerate(tree.css("script:not([src])")):
        text = script.text()
        if not text or len(text) > _MAX_SCRIPT:
            continue
        kind = (script.attributes.get("type") or "").split(";")[0].strip().lower()
        if kind == "application/json":
            yield from _json(f"/state/{escaped(script.attributes.get('id') or str(place))}", text.strip())
        elif not kind.endswith("json"):
            for assigned in _ASSIGNED.finditer(text):
                yield from _json(f"/state/{assigned[1]}", text[assigned.end() :])


def _json(pointer: str, text: str) -> Iterator[tuple[str, Json]]:
    """Nothing where it is a script's own notation rather than JSON."""
    try:
        yield pointer, json.JSONDecoder(parse_float=Decimal).raw_decode(text)[0]
    except (ValueError, RecursionError):
        return


def _products(states: Iterable[tuple[str, Json]], title: str) -> Iterator[tuple[str, dict[str, Json]]]:
    """Objects with the name of the page, outer before inner."""
    left = MAX_OBJECTS
    for start, state in states:
        waiting = [(start, state, 0)]
        while waiting and left:
            pointer, value, depth = waiting.pop()
            left -= 1
            if isinstance(value, dict) and _is_named(value, title):
                yield pointer, value
            inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
            if depth < _MAX_DEPTH:
                parts = [(f"{pointer}/{escaped(str(name))}", part, depth + 1) for name, part in inner if _is_box(part)]
                waiting += reversed(parts)


def _is_box(value: Json) -> bool:
    return isinstance(value, dict | list) and bool(value)


def _is_named(product: dict[str, Json], title: str) -> bool:
    names = (_letters(value) for name, value in product.items() if isinstance(value, str) and _plain(name) in _NAMES)
    return any(len(name) >= _LEAST_NAME and name in title for name in names)


def _price(
    thing: dict[str, Json], pointer: str, currency: str | None, shown: Money | None, names: tuple[str, ...] = _PRICES
) -> tuple[Money, str] | None:
    """Of the thing itself, or of an object inside that tells the amount and the currency apart."""
    own = next((code for _, value in _found(thing, _CURRENCIES) if (code := currency_code(text_of(value)))), currency)
    for name, value in _found(thing, names):
        place = f"{pointer}/{escaped(name)}"
        if isinstance(value, dict) and names is _PRICES and (inner := _price(value, place, own, shown, _AMOUNTS)):
            return inner
        if (money := parse_number(value, currency=own)) and (sure := _sure(money, value, shown)):
            return sure, place
    return None


def _sure(money: Money, value: Json, shown: Money | None) -> Money | None:
    """A whole number may be in cents: it counts only if the page shows it, the one way or the other."""
    if money.amount <= 0:
        return None
    if not isinstance(value, int):
        return money
    cents = Money(amount=money.amount.scaleb(-2), currency=money.currency)
    return next((one for one in (money, cents) if shown and one.agrees(shown)), None)


def _add_others(found: Candidates, product: dict[str, Json], pointer: str) -> None:
    for facts, names in ((found.sku, _SKUS), (found.mpn, _MPNS)):
        for name, value in _found(product, names):
            _add(facts, text_of(value), f"{pointer}/{escaped(name)}")
    for name, value in _found(product, _GTINS):
        _add(found.gtin, gtin_of(text_of(value) or ""), f"{pointer}/{escaped(name)}")
    for name, value in _found(product, ("brand",)):
        _add(found.brand, text_of(value), f"{pointer}/{escaped(name)}")
    for state, name in _stock(product):
        _add(found.availability, state, f"{pointer}/{escaped(name)}")


def _stock(product: dict[str, Json]) -> Iterator[tuple[Availability, str]]:
    for name, value in _found(product, ("availability",)):
        if isinstance(value, str) and (state := schema_availability(value)):
            yield state, name
    for names, if_true in ((_IN_STOCK, True), (_OUT_OF_STOCK, False)):
        for name, value in _found(product, names):
            if isinstance(value, bool):
                yield Availability.IN_STOCK if value is if_true else Availability.OUT_OF_STOCK, name


def _found(thing: dict[str, Json], names: tuple[str, ...]) -> list[tuple[str, Json]]:
    """The properties so named, in the order of ``names``."""
    spelled = {_plain(name): name for name in thing}
    return [(spelled[name], thing[spelled[name]]) for name in names if name in spelled]


def _add(facts: list[Fact[T]], value: T | None, pointer: str) -> None:
    if value:
        method = pointer.rpartition("/")[2]
        facts.append(Fact(value=value, source="state", method=method, confidence=_CONFIDENCE, pointer=pointer))


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _letters(text: str) -> str:
    return re.sub(r"\W", "", text).casefold()
