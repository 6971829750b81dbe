"""What is shown of products whose addresses carry secrets: everything but these."""

import json

import httpx

from leasehold_packs.monitors import service
from leasehold_packs.monitors.model import Search
from tests.fetch.world import Site, moved, page
from tests.packs.kept import KEPT_BY_THE_ENGINE
from tests.packs.monitors.test_api import api
from tests.packs.monitors.test_checks import CAPTCHA
from tests.packs.monitors.watching import HTML, Watcher, item

__all__ = ["api"]

KEY = "s3cr3tk3y0f0ur5h0p1234"
#: Where a job's order is, what became of it, and whatever was told of it.
KEPT = (
    f"{KEPT_BY_THE_ENGINE} union all"
    " select 'visit', problem from leasehold_monitors.visit union all"
    " select 'reason', reason from leasehold_monitors.product union all"
    " select 'site', concat(tested, health) from leasehold_monitors.site"
)


async def test_no_secret_of_an_address_is_shown_anywhere(shop: Site, watcher: Watcher, api: httpx.AsyncClient) -> None:
    site_id = await watcher.site(requests_per_minute=600)
    secret = f"/p/1?api_key={KEY}"
    shop.pages |= {
        secret: item("20.00"),
        f"/p/2?token={KEY}": item("30.00", n=2),
        f"/p/3?sig={KEY}": item("40.00", n=3),
        f"/old?secret={KEY}": moved(f"/p/3?sig={KEY}"),
        f"/list?access_token={KEY}": page(
            f"<title>All</title><a href='/p/2?token={KEY}'>Two</a><a href='/lost?secret={KEY}'>Lost</a>".encode(), HTML
        ),
        "/robots.txt": page(b"User-agent: *\nDisallow: /closed\n"),
    }
    made = (await api.post("/v1/monitors/products", json={"url": watcher.base + secret})).json()
    await watcher.quiet()
    await api.post("/monitors", data={"url": f"{watcher.base}/old?secret={KEY}"})
    await watcher.watch(f"/closed?secret={KEY}")
    shop.pages[secret] = item("18.00")
    await watcher.check(made["product_id"])
    shop.pages[f"/old?secret={KEY}"] = moved(f"/p/2?token={KEY}")
    for one in await watcher.ask(service.list_products):
        await watcher.check(one.product_id)
    options = Search(seeds=[f"{watcher.base}/list?access_token={KEY}"], sitemaps=False)
    await watcher.ask(service.search, watcher.access.tenant_id, site_id, options)
    await watcher.quiet()
    shop.pages[secret] = CAPTCHA
    await watcher.check(made["product_id"])
    products = await watcher.ask(service.list_products)
    assert len(products) == 3
    assert {one.state for one in products} == {"active", "needs_attention"}
    [proposed] = await watcher.ask(service.list_candidates, site_id)
    assert proposed.url == f"{watcher.base}/p/2?token=[redacted]"

    at = f"/v1/monitors/sites/{site_id}"
    asked = [
        "/monitors", "/monitors/products", "/monitors/changes", "/monitors/approvals", "/monitors/rules",
        "/monitors/groups", f"/monitors/sites/{site_id}",
        *(f"/monitors/products/{one.product_id}" for one in products),
        "/v1/monitors/sites", at, f"{at}/candidates", f"{at}/runs", f"{at}/searches", "/v1/monitors/products",
        *(f"/v1/monitors/products/{one.product_id}" for one in products),
        *(f"/v1/monitors/products/{one.product_id}/history" for one in products),
        *(f"/v1/monitors/changes{form}" for form in ("", ".atom", ".json", ".csv")),
    ]  # fmt: skip
    for address in asked:
        found = await api.get(address)
        assert found.status_code == 200, (address, found.text)
        assert KEY not in found.text, address
    assert f"{watcher.base}/p/1?api_key=[redacted]" in (await api.get("/v1/monitors/products")).text
    kept = await watcher.cell.look(KEPT)
    assert len(kept) > 20
    assert [row for row in kept if KEY in (row["text"] or "")] == []
    assert KEY in json.dumps(await watcher.cell.look("select url from leasehold_monitors.product")), "it is asked for"
