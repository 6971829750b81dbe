"""The id that a shop's own system has for a product, and how we know. It is shown, and never what a row is found by."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from leasehold_packs.webfacts.product import Product
from leasehold_packs.webfacts.shop_feed import Platform, platform_of

_AMAZON_HOST = re.compile(r"(?:^|\.)amazon\.(?:com|ca|de|fr|it|es|nl|se|pl|eg|ae|sa|in|sg|cn|com\.be|ie"
                          r"|co\.uk|co\.jp|co\.za|com\.(?:au|br|mx|tr))$")  # fmt: skip
_ASIN = re.compile(r"/(?:dp|gp/product|gp/aw/d|product)/([A-Z0-9]{10})(?:[/?]|$)")
_SHOPIFY_ID = re.compile(r'"rtyp"\s*:\s*"product"\s*,\s*"rid"\s*:\s*(\d+)|"product"\s*:\s*\{\s*"id"\s*:\s*(\d+)')
_WOO_ID = re.compile(r'\bpostid-(\d+)\b|name="add-to-cart"\s+value="(\d+)"|data-product_id="(\d+)"')
_PARAMETERS = ("pid", "product_id", "productid", "sku", "item_id", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopId:
    platform: str
    value: str
    method: str


def shop_id(text: str, url: str, product: Product) -> ShopId | None:
    """Amazon by its host, Shopify and WooCommerce by their markup, all else by number, parameter or article number."""
    parts = urlsplit(url)
    if _AMAZON_HOST.search(parts.hostname or ""):
        return _of("amazon", _ASIN.search(parts.path), "asin-in-path")
    match platform_of(text):
        case Platform.SHOPIFY:
            return _of("shopify", _SHOPIFY_ID.search(text), "product-id-in-page") or _handle(parts.path)
        case Platform.WOOCOMMERCE:
            found = _of("woocommerce", _WOO_ID.search(text), "post-id-in-page")
            return found or _generic(parts.query, product, "woocommerce")
    return _generic(parts.query, product, "generic")


def _of(platform: str, found: re.Match[str] | None, method: str) -> ShopId | None:
    value = next(filter(None, found.groups()), None) if found else None
    return ShopId(platform=platform, value=value, method=method) if value else None


def _handle(path: str) -> ShopId | None:
    *before, last = [part for part in path.split("/") if part] or [""]
    return ShopId(platform="shopify", value=last, method="handle-in-path") if before[-1:] == ["products"] else None


def _generic(query: str, product: Product, platform: str) -> ShopId | None:
    given = {name.lower(): values[0] for name, values in parse_qs(query).items()}
    for name in _PARAMETERS:
        if value := given.get(name):
            return ShopId(platform=platform, value=value[:200], method=f"parameter-{name}")
    for name, fact in (("gtin", product.gtin), ("sku", product.sku), ("mpn", product.mpn)):
        if fact:
            return ShopId(platform=platform, value=fact.value[:200], method=f"{name}-{fact.source}")
    return None
