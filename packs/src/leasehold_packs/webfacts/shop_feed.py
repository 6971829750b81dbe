"""Shops that tell a product in JSON beside its page: exact prices and every variant, without reading markup.

The platform is known by its markup, never by ``/products/`` in a path. Fetching is the caller's.
"""

from collections.abc import Iterator
from decimal import Decimal
from enum import StrEnum
from typing import Any

import ada_url

from leasehold_packs.webfacts.availability import Availability
from leasehold_packs.webfacts.currency import currency_code
from leasehold_packs.webfacts.gtin import gtin_of
from leasehold_packs.webfacts.money import Money, parse_number
from leasehold_packs.webfacts.offer import Offer
from leasehold_packs.webfacts.structured import text_of, values


class Platform(StrEnum):
    SHOPIFY = "shopify"
    WOOCOMMERCE = "woocommerce"


_MARKS = {
    Platform.SHOPIFY: ("cdn.shopify.com/", "Shopify.theme", "/cdn/shop/"),
    Platform.WOOCOMMERCE: ("/plugins/woocommerce/", "woocommerce-product-gallery"),
}


def platform_of(text: str) -> Platform | None:
    """What a product page was made with, if that has a feed."""
    return next((platform for platform, marks in _MARKS.items() if any(mark in text for mark in marks)), None)


def feed_url(platform: Platform, url: str) -> str | None:
    """Where the feed of a product page is; None if the URL is of no product."""
    parsed = ada_url.URL(url)
    origin = f"{parsed.protocol}//{parsed.host}"
    *before, last = [part for part in parsed.pathname.split("/") if part] or [""]
    if not last:
        return None
    if platform is Platform.WOOCOMMERCE:
        return f"{origin}/wp-json/wc/store/v1/products?slug={last}"
    return f"{origin}/products/{last.removesuffix('.js')}.js" if before[-1:] == ["products"] else None


def read_feed(platform: Platform, document: Any, *, currency: str | None = None) -> tuple[Offer, ...]:
    """The offers in a feed; ``currency`` is the page's, as Shopify's feed names none."""
    reader = {Platform.SHOPIFY: _shopify, Platform.WOOCOMMERCE: _woocommerce}[platform]
    return tuple(reader(document, currency))


_SHOPIFY = {
    "price": "price",
    "list_price": "compare_at_price",
    "availability": "available",
    "sku": "sku",
    "gtin": "barcode",
}
_WOOCOMMERCE = {
    "price": "prices/price",
    "list_price": "prices/regular_price",
    "availability": "is_in_stock",
    "sku": "sku",
}


def _shopify(document: Any, currency: str | None) -> Iterator[Offer]:
    """Prices are in hundredths of whatever currency, yen and won too."""
    variants = values(document, "variants") if isinstance(document, dict) else []
    for index, variant in enumerate(variants):
        if isinstance(variant, dict):
            yield Offer(
                key=text_of(variant.get("id")) or "",
                price=_minor(variant.get("price"), 2, currency),
                list_price=_minor(variant.get("compare_at_price"), 2, currency),
                availability=_stock(variant.get("available")),
                sku=text_of(variant.get("sku")),
                gtin=gtin_of(text_of(variant.get("barcode")) or ""),
                pointers={name: f"/variants/{index}/{place}" for name, place in _SHOPIFY.items()},
            )


def _woocommerce(document: Any, currency: str | None) -> Iterator[Offer]:
    """A list of products; prices are in the smallest unit, which is named."""
    for index, product in enumerate(document if isinstance(document, list) else []):
        prices = product.get("prices") if isinstance(product, dict) else None
        if isinstance(prices, dict):
            code = currency_code(text_of(prices.get("currency_code"))) or currency
            places = prices.get("currency_minor_unit")
            digits = places if isinstance(places, int) and 0 <= places <= 6 else 2
            price, regular = (_minor(prices.get(name), digits, code) for name in ("price", "regular_price"))
            yield Offer(
                key=text_of(product.get("id")) or "",
                price=price,
                list_price=regular if regular != price else None,
                availability=_stock(product.get("is_in_stock")),
                sku=text_of(product.get("sku")),
                gtin=None,
                pointers={name: f"/{index}/{place}" for name, place in _WOOCOMMERCE.items()},
            )


def _minor(value: Any, places: int, currency: str | None) -> Money | None:
    money = parse_number(value, currency=currency)
    if money is None or money.amount != money.amount.to_integral_value() or not money.amount:
        return None
    return Money(amount=money.amount.scaleb(-places).quantize(Decimal(1).scaleb(-places)), currency=currency)


def _stock(value: Any) -> Availability | None:
    if not isinstance(value, bool):
        return None
    return Availability.IN_STOCK if value else Availability.OUT_OF_STOCK
