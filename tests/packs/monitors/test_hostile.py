"""Texts that people have broken programs with, wherever a page says something of a product: each product is read."""

import json
from html import escape

import pytest

from leasehold_packs.monitors import service
from leasehold_packs.monitors.store import CRAWL
from tests.corpora.data import needs_corpora
from tests.corpora.test_hostile_input import naughty
from tests.fetch.world import Site, page
from tests.packs.audits.test_hostile import CASTS
from tests.packs.monitors.watching import HTML, Watcher

#: What an index refuses, and what compression cannot make small.
LONG = ["x" * 10_000, "".join(chr(0x4E00 + n % 20_000) for n in range(0, 140_000, 7))]


def product(text: str, price: str) -> bytes:
    """A product all of whose words are this text, with two variants that are named after it."""
    html = escape(text)
    offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR", "availability": text, "url": text}
    thing = {
        "@context": "https://schema.org", "@type": "Product", "name": text, "sku": text, "mpn": text, "gtin13": text,
        "brand": {"@type": "Brand", "name": text}, "image": text, text: {"@id": text},
        "offers": [offer | {"sku": f"{text}1"}, offer | {"sku": f"2{text}"}],
    }  # fmt: skip
    head = f"<title>{html}</title><script type='application/ld+json'>{in_script(thing)}</script>"
    head += "".join(f"<meta property='{name}' content='{html}'>" for name in ("og:title", "og:brand", "og:image"))
    state = f"<script id='{html}' type='application/json'>{in_script({text: text})}</script>"
    body = f"<h1>{html}</h1><p class='{html}'>{html}</p><p class=price>{price} €</p><p class=stock>{html}</p>{state}"
    whole = f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"
    return page(whole.encode("utf-8", "surrogatepass"), HTML)


def in_script(value: object) -> str:
    return json.dumps(value).replace("<", "\\u003c")


async def read(shop: Site, watcher: Watcher, texts: list[str]) -> None:
    """Every product is read twice, the second time with another price."""
    site_id = await watcher.site(spread_minutes=0)
    tenant = watcher.access.tenant_id
    for price, result in (("20.00", "first"), ("18.00", "changed")):
        shop.pages |= {f"/p/{n}": product(text, price) for n, text in enumerate(texts)}
        async with watcher.access.transaction() as tx:
            ids = [
                await service.add_product(tx, tenant, site_id, f"{watcher.base}/p/{n}", tags=[])
                for n in range(len(texts))
            ]
            orders = [{"product_id": str(one)} for one in ids]
            asked = await tx.enqueue_many("monitors.check", orders, queue=CRAWL, attempts=1)
        ended = [await watcher.ended(one.job_id) for one in asked]
        assert {texts[n]: job.result for n, job in enumerate(ended) if job.result != result} == {}
    assert len(await watcher.changes(product_id=ids[0])) > 0


async def test_no_text_of_a_page_is_taken_for_another_type(shop: Site, watcher: Watcher) -> None:
    await read(shop, watcher, [*CASTS, *LONG, "a\0b", "\ud800"])


@pytest.mark.long
@needs_corpora
async def test_no_text_of_a_page_ends_a_check(shop: Site, watcher: Watcher) -> None:
    await read(shop, watcher, [text[:10_000] for text in naughty()])
