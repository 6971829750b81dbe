"""``/v1/monitors`` and ``leasehold monitors``, as their users call them."""

import csv
import io
import xml.etree.ElementTree as Xml
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from leasehold.dashboard import app as dashboard
from leasehold.errors import BadInput
from leasehold.http.app import create_app, open_services
from leasehold.plugins.discovery import InstalledFeature
from leasehold_packs.monitors import accuracy, feature
from tests.cli.program import leasehold as command
from tests.corpora.data import CORPORA, needs_corpora
from tests.fetch.world import Site, page
from tests.http.conftest import PROBLEM, bearer, make_key, settings_of
from tests.packs.monitors.watching import HTML, Watcher, item
from tests.waiting import eventually

FOUND = InstalledFeature(feature=feature, distribution="leasehold", version="0")
_ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
async def api(watcher: Watcher) -> AsyncIterator[httpx.AsyncClient]:
    headers = bearer(await make_key(watcher.cell, watcher.cell.tenant_a))
    async with open_services(settings_of(watcher.cell), loopback=True) as services:
        app = create_app(services, [FOUND])
        dashboard.mount(app, [FOUND])
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client:
            yield client


def good(response: httpx.Response) -> Any:
    assert response.is_success, response.text
    return response.json() if "json" in response.headers.get("content-type", "") else response.text


async def test_a_preview_says_how_a_page_is_read(shop: Site, watcher: Watcher, api: httpx.AsyncClient) -> None:
    shop.pages["/p/1"] = item("20.00")
    found = good(await api.post("/v1/monitors/preview", json={"url": f"{watcher.base}/p/1"}))
    assert (found["price"], found["currency"], found["availability"]) == ("20.00", "EUR", "in_stock")
    assert found["how"]["price"]["pointer"].startswith("/json-ld")
    assert found["shop_id"] == {"platform": "generic", "value": found["how"]["gtin"]["value"], "method": "gtin-json-ld"}
    refused = await api.post("/v1/monitors/preview", json={"url": f"{watcher.base}/gone"})
    assert (refused.status_code, refused.headers["content-type"]) == (422, PROBLEM)
    assert "answered 404" in refused.text


async def test_a_product_from_its_address_to_its_feeds(shop: Site, watcher: Watcher, api: httpx.AsyncClient) -> None:
    shop.pages["/p/1"] = item("20.00")
    made = good(await api.post("/v1/monitors/products", json={"url": f"{watcher.base}/p/1", "tags": ["a"]}))
    at = f"/v1/monitors/products/{made['product_id']}"
    await watcher.quiet()
    assert good(await api.get(at))["price"] == "20.00"
    rule = {"name": "=cheap", "condition": "target", "value": "19", "currency": "EUR", "direction": "down"}
    good(await api.post("/v1/monitors/rules", json=rule))
    shop.pages["/p/1"] = item("18.00")
    await watcher.ended(good(await api.post(f"{at}/check"))["job_id"])
    crawl = f"/v1/monitors/sites/{made['site_id']}/crawl"
    asked = [good(await api.post(crawl, headers={"Idempotency-Key": "a crawl"}))["job_id"] for _ in range(2)]
    assert asked[0] == asked[1], "whoever asks again after a lost answer begins no second crawl"
    found = good(await api.get("/v1/monitors/changes", params={"kind": "price", "limit": 1}))
    assert [one["after"] for one in found["data"]] == [{"price": "18.00", "currency": "EUR"}]
    assert good(await api.get("/v1/monitors/changes", params={"cursor": found["next"]}))["data"] == []
    assert [one["alerts"] for one in good(await api.get("/v1/monitors/rules"))["data"]] == [1]
    assert [one["price"] for one in good(await api.get(f"{at}/history"))["data"]] == ["18.00", "20.00"]
    assert good(await api.get("/v1/monitors/products", params={"brand": "acme"}))["data"][0]["price"] == "18.00"

    atom = Xml.fromstring(good(await api.get("/v1/monitors/changes.atom")))
    assert [entry.findtext(f"{_ATOM}title") for entry in atom.iter(f"{_ATOM}entry")] == [
        "Large lamp 1: 20.00 EUR → 18.00 EUR (-10.0 %)"
    ]
    [row] = csv.DictReader(io.StringIO(good(await api.get("/v1/monitors/changes.csv"))))
    assert (row["before"], row["after"], row["percent"]) == ("20.00 EUR", "18.00 EUR", "-10.0")
    assert row["variant"] == "", "an empty cell is empty"
    assert good(await api.get("/v1/monitors/changes.json"))["items"][0]["tags"] == ["price"]


async def test_a_site_from_its_registration_to_its_end(shop: Site, watcher: Watcher, api: httpx.AsyncClient) -> None:
    shop.pages = {"/": page(b'<a href="/p/1">one</a> <a href="/p/2">two</a>', HTML)}
    shop.pages |= {f"/p/{n}": item("20.00", n=n) for n in (1, 2)}
    settings = {"cron": "0 4 * * *", "zone": "Europe/Rome", "quiet": "22:00-06:00", "requests_per_minute": 600}
    made = good(await api.post("/v1/monitors/sites", json={"url": f"{watcher.base}/x?y", "settings": settings}))
    at = f"/v1/monitors/sites/{made['site_id']}"
    assert (made["url"], made["settings"]["threshold_percent"]) == (f"{watcher.base}/", 1)
    good(await api.post(f"{at}/discover", json={"sitemaps": False}))

    async def proposed() -> Any:
        return len(good(await api.get(f"{at}/candidates"))["data"]) == 2

    await eventually(proposed, what="two candidates")
    assert good(await api.post(f"{at}/candidates/approve", json={"least_confidence": 0.5})) == {"decided": 2}

    async def ended() -> Any:
        return [run for run in good(await api.get(f"{at}/runs"))["data"] if run["finished_at"]]

    [run] = await eventually(ended, what="the baseline", seconds=120)
    assert run["counts"] == {"planned": 2, "results": {"first": 2}}
    changed = good(await api.patch(at, json={"settings": {"retention_days": 7}, "paused": True}))
    assert (changed["settings"]["retention_days"], changed["settings"]["zone"], changed["state"]) == (
        7, "Europe/Rome", "paused",
    )  # fmt: skip
    assert (await api.post(f"{at}/crawl")).status_code == 409
    for wrong in ({"cron": "never"}, {"zone": "Mars/Base"}, {"quiet": "late"}, {"unknown": 1}, {"retention_days": 0}):
        refused = await api.patch(at, json={"settings": wrong})
        assert (refused.status_code, refused.headers["content-type"]) == (422, PROBLEM), wrong
    assert (await api.delete(at)).status_code == 204
    assert (await api.get(at)).status_code == 404


async def test_another_tenants_key_finds_nothing(shop: Site, watcher: Watcher, api: httpx.AsyncClient) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    [site] = good(await api.get("/v1/monitors/sites"))["data"]
    api.headers.update(bearer(await make_key(watcher.cell, watcher.cell.tenant_b)))
    for path in (f"products/{product_id}", f"products/{product_id}/history", f"sites/{site['site_id']}"):
        assert (await api.get(f"/v1/monitors/{path}")).status_code == 404, path
    assert (await api.post(f"/v1/monitors/products/{product_id}/check")).status_code == 404
    assert (await api.delete(f"/v1/monitors/sites/{site['site_id']}")).status_code == 404
    rule = {"name": "x", "condition": "new_low", "product_id": str(product_id)}
    assert (await api.post("/v1/monitors/rules", json=rule)).status_code == 404


async def test_the_dashboard_shows_changes_approvals_and_a_chart(
    shop: Site, watcher: Watcher, api: httpx.AsyncClient
) -> None:
    shop.pages["/"] = page(b'<a href="/p/1">one</a>', HTML)
    shop.pages["/p/1"] = item("20.00")
    site_id = await watcher.site()
    assert (await api.post(f"/monitors/sites/{site_id}/discover")).status_code == 303

    async def proposed() -> bool:
        return "Waiting for approval" in good(await api.get(f"/monitors/sites/{site_id}"))

    await eventually(proposed, what="the queue of approvals")
    [candidate] = good(await api.get(f"/v1/monitors/sites/{site_id}/candidates"))["data"]
    made = await api.post(f"/monitors/sites/{site_id}/approve", data={"candidate": candidate["candidate_id"]})
    assert made.status_code == 303

    async def watched() -> Any:
        return [one for one in good(await api.get("/v1/monitors/products"))["data"] if one["price"]]

    [product] = await eventually(watched, what="the baseline")
    shop.pages["/p/1"] = item("18.00")
    await watcher.check(product["product_id"])
    assert "20.00 EUR → 18.00 EUR (-10.0 %)" in good(await api.get("/monitors"))
    text = good(await api.get(f"/monitors/products/{product['product_id']}"))
    assert "<polyline" in text
    assert "lowest 18.00, highest 20.00 EUR" in text
    assert "style=" not in text.partition("<main")[2], "no inline style: the policy of pages forbids it"
    tried = await api.post(f"/monitors/products/{product['product_id']}/try", data={"selector": ".price"})
    assert tried.headers["location"].startswith("/jobs/")


@needs_corpora
@pytest.mark.long
def test_pages_with_known_answers_are_scored_by_a_command() -> None:
    said = command("monitors", "score", str(CORPORA / "product-extraction"), "--json")
    assert said.code == 0, said.err
    f1 = said.json["f1"]
    assert f1["price"] >= 0.85
    assert f1["sku"] >= 0.6
    assert f1["currency"] >= 0.8
    out, in_ = said.json["out_of_stock"], said.json["in_stock"]
    assert (min(out["precision"], out["recall"]) >= 0.6, in_["recall"] >= 0.9) == (True, True)
    assert {"json-ld", "microdata", "page"} <= set(said.json["by_method"]["price"])


def test_a_folder_without_answers_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="ground-truth"):
        accuracy.read_folder(tmp_path)
