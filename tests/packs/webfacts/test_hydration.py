"""Prices in the state that a page brings along for its scripts."""

import json
from decimal import Decimal
from typing import Any

import pytest

from leasehold_packs.webfacts.availability import Availability
from leasehold_packs.webfacts.hydration import MAX_OBJECTS
from leasehold_packs.webfacts.product import Product, read_product

LAMP: dict[str, Any] = {
    "name": "Desk lamp Aurora",
    "sku": "AU-100",
    "ean": "4006381333931",
    "inStock": False,
    "price": {"amount": "1249.50", "currencyCode": "EUR"},
}


def read(state: Any, *, shown: str = "") -> Product:
    return page(f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(state)}</script>', shown=shown)


def page(script: str, *, shown: str = "") -> Product:
    html = f"<title>Desk lamp Aurora | Shop</title><h1>Desk lamp Aurora</h1><p class=price>{shown}</p>{script}"
    return read_product(html, url="https://shop.example/lamp")


def test_the_product_with_the_name_of_the_page_is_read_wherever_it_lies() -> None:
    other = {"name": "Desk lamp Borealis", "price": {"amount": "9.50", "currencyCode": "EUR"}}
    product = read({"props": {"pageProps": {"related": [other], "data": [{"node": LAMP}]}}})
    assert product.price
    assert product.availability
    assert product.sku
    assert product.gtin
    assert (product.price.value.amount, product.price.value.currency) == (Decimal("1249.50"), "EUR")
    assert product.price.source == "state"
    assert product.price.pointer == "/state/__NEXT_DATA__/props/pageProps/data/0/node/price/amount"
    assert product.availability.value is Availability.OUT_OF_STOCK
    assert (product.sku.value, product.gtin.value) == ("AU-100", "4006381333931")


def test_a_state_in_a_variable_is_read_up_to_its_end() -> None:
    script = f"<script>var a = 1; window.__INITIAL_STATE__ = {json.dumps({'product': LAMP})}; start(a)</script>"
    found = page(script).price
    assert found
    assert found.value.amount == Decimal("1249.50")


@pytest.mark.parametrize(
    ("price", "shown", "amount"),
    [
        (4999, "49.99 €", "49.99"),  # in cents
        (4999, "4,999 €", "4999"),  # in whole euros
        (4999, "", None),  # who knows
        ("49.99", "", "49.99"),
        (49.99, "", "49.99"),
        (0.0, "", None),
    ],
)
def test_a_whole_number_counts_only_if_the_page_shows_it(price: Any, shown: str, amount: str | None) -> None:
    found = read({"product": {"title": "Desk lamp Aurora", "price": price, "currency": "EUR"}}, shown=shown).price
    assert (found.value.amount if found else None) == (Decimal(amount) if amount else None)


def test_what_is_said_to_machines_stands_above_the_state() -> None:
    offer = {"@type": "Offer", "price": "1199.00", "priceCurrency": "EUR"}
    said = json.dumps({"@type": "Product", "name": "Desk lamp Aurora", "offers": offer})
    state = json.dumps(LAMP)
    found = page(
        f'<script type="application/ld+json">{said}</script><script type="application/json">{state}</script>'
    ).price
    assert found
    assert (found.source, found.value.amount) == ("json-ld", Decimal("1199.00"))


@pytest.mark.parametrize(
    "script",
    [
        '<script type="application/json">{"name": "Desk lamp Aurora", "price": </script>',
        "<script>window.__NUXT__ = {name: 'Desk lamp Aurora', price: 12.5}</script>",
        '<script type="application/json">' + "[" * 100_000 + "</script>",
        '<script type="application/json">' + "[" * 500 + "]" * 500 + "</script>",
        f'<script type="application/json">[{",".join(["{}"] * (MAX_OBJECTS + 1))}]</script>',
    ],
)
def test_what_cannot_be_read_says_nothing(script: str) -> None:
    assert page(script).price is None
