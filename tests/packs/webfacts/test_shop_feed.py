"""Products that shops tell in JSON."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.webfacts.availability import Availability
from leasehold_packs.webfacts.money import Money
from leasehold_packs.webfacts.shop_feed import Platform, feed_url, platform_of, read_feed

PAGE = "https://shop.example/collections/all/products/chair?variant=1"


def test_a_platform_is_known_by_its_markup_and_not_by_a_path() -> None:
    assert platform_of('<link href="//cdn.shopify.com/s/files/1/x.css">') is Platform.SHOPIFY
    assert platform_of('<script src="/wp-content/plugins/woocommerce/a.js"></script>') is Platform.WOOCOMMERCE
    assert platform_of('<a href="/products/chair">') is None


@pytest.mark.parametrize(
    ("platform", "url", "feed"),
    [
        (Platform.SHOPIFY, PAGE, "https://shop.example/products/chair.js"),
        (Platform.SHOPIFY, "https://shop.example/products/hemd-gr%C3%B6%C3%9Fe", "https://shop.example/products/hemd-gr%C3%B6%C3%9Fe.js"),
        (Platform.SHOPIFY, "https://shop.example/site/products/list/more", None),
        (Platform.WOOCOMMERCE, "https://shop.example/product/chair/", "https://shop.example/wp-json/wc/store/v1/products?slug=chair"),
        (Platform.WOOCOMMERCE, "https://shop.example/", None),
    ],
)  # fmt: skip
def test_the_feed_of_a_page_is_beside_it(platform: Platform, url: str, feed: str | None) -> None:
    assert feed_url(platform, url) == feed


def test_shopify_tells_cents_and_every_variant() -> None:
    variants = [
        {
            "id": 1,
            "price": 1999,
            "compare_at_price": 2500,
            "available": False,
            "sku": "C-1",
            "barcode": "4054278533728",
        },
        {"id": 2, "price": 2099, "compare_at_price": None, "available": True, "sku": ""},
    ]
    first, second = read_feed(Platform.SHOPIFY, {"variants": variants}, currency="EUR")
    assert (first.key, first.sku, first.gtin) == ("1", "C-1", "4054278533728")
    assert first.price == Money(amount=Decimal("19.99"), currency="EUR")
    assert first.list_price == Money(amount=Decimal("25.00"), currency="EUR")
    assert (first.availability, second.availability) == (Availability.OUT_OF_STOCK, Availability.IN_STOCK)
    assert (second.list_price, second.sku, second.pointers["price"]) == (None, None, "/variants/1/price")


def test_woocommerce_names_its_smallest_unit() -> None:
    prices = {"price": "423923", "regular_price": "423923", "currency_code": "KWD", "currency_minor_unit": 3}
    (offer,) = read_feed(Platform.WOOCOMMERCE, [{"id": 7, "sku": "A", "is_in_stock": True, "prices": prices}])
    assert offer.price == Money(amount=Decimal("423.923"), currency="KWD")
    assert (offer.list_price, offer.availability) == (None, Availability.IN_STOCK)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["variants", "prices", "price", "id", "currency_minor_unit"]), inner)
    ),
    max_leaves=15,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(_JSON, st.sampled_from(Platform))
def test_no_feed_is_an_error(document: Any, platform: Platform) -> None:
    read_feed(platform, document)
