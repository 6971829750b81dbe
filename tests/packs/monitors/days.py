"""A shop over some days, written down: what changes when, and everything around it that changes and means nothing."""

from dataclasses import replace
from decimal import Decimal

from leasehold_packs.monitors.demo.shop import LAYOUTS, Item, product_page
from tests.fetch.world import page
from tests.packs.monitors.watching import HTML

PRODUCTS = 30
DAYS = 3
CAPTCHA = page(b"<html><title>One moment</title><body><h1>Are you a human?</h1><p>Solve it.</p></body></html>", HTML)

_PRICES = {day: range(day * 7 - 7, min(day * 7, 20)) for day in range(1, DAYS + 1)}  # twenty of them
_STOCKS = {1: [20, 21], 2: [22, 23], 3: [24]}
_CURRENCY = {2: 25}
_BLOCKED = {2: 26}
_GONE_FROM = {2: 27}


def pages(day: int) -> dict[str, bytes]:
    """What the shop answers on a day."""
    return {
        f"/p/{n}": _answer(n, day)
        for n in range(PRODUCTS)
        if not any(n == gone and day >= d for d, gone in _GONE_FROM.items())
    }


def truth() -> list[tuple[str, str]]:
    """The changes that there are: path and kind, sorted."""
    found = [(f"/p/{n}", "price") for numbers in _PRICES.values() for n in numbers]
    found += [(f"/p/{n}", "availability") for numbers in _STOCKS.values() for n in numbers]
    found += [(f"/p/{n}", "currency") for n in _CURRENCY.values()]
    found += [(f"/p/{n}", "gone") for n in _GONE_FROM.values()]
    return sorted(found)


def _answer(n: int, day: int) -> bytes:
    if _BLOCKED.get(day) == n:
        return CAPTCHA
    return page(product_page(_item(n, day), layout=LAYOUTS[n % 3], noise=day * 1000 + n).encode(), HTML)


def _item(n: int, day: int) -> Item:
    item = Item(n=n, price=Decimal(1000 + 37 * n) / 100, in_stock=n % 2 == 0)
    for past in range(1, day + 1):
        if n in _PRICES.get(past, ()):
            item = replace(item, price=(item.price * (90 if n % 2 else 120) / 100).quantize(Decimal("0.01")))
        if n in _STOCKS.get(past, ()):
            item = replace(item, in_stock=not item.in_stock)
        if _CURRENCY.get(past) == n:
            item = replace(item, currency="USD")
    return item
