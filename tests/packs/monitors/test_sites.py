"""Whole sites: found, approved, crawled, kept and forgotten."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from leasehold.errors import BadInput
from leasehold_packs.monitors import service, service_rules, site_setup
from leasehold_packs.monitors.demo.server import answer
from leasehold_packs.monitors.demo.shop import Shop
from leasehold_packs.monitors.model import Search
from tests.fetch.world import Site, page
from tests.packs.monitors.watching import DAY, HTML, Watcher, item, known
from tests.waiting import eventually


def open_shop(shop: Site, base: str, *, day: int = 0, sitemap: bool = True) -> Shop:
    """Twelve products behind their categories."""
    sells = Shop(items=12)
    paths = ["/", *(f"/p/{n}" for n in range(12)), *(f"/c/{name}" for name in CATEGORIES)]
    paths += ["/robots.txt", "/sitemap.xml"] if sitemap else []
    shop.pages = {path: answer(sells, path, day=day, base=base) for path in paths}
    shop.pages = {path: text.replace(b"Connection: close\r\n", b"") for path, text in shop.pages.items()}
    return sells


CATEGORIES = ("kettle", "lamp", "chair", "kite", "drum", "clock", "tent", "spade", "globe", "harp", "cap", "sled")


async def searched(watcher: Watcher, site_id: UUID, **options: Any) -> Mapping[str, int]:
    search_id = await watcher.ask(service.search, watcher.access.tenant_id, site_id, Search(**options))

    async def look() -> Mapping[str, int]:
        found = await watcher.ask(service.list_searches, site_id)
        return next(one.counts or {} for one in found if one.search_id == search_id)

    return await eventually(look, what="the end of the search")


async def test_products_are_found_proposed_approved_and_get_a_baseline(shop: Site, watcher: Watcher) -> None:
    open_shop(shop, watcher.base, sitemap=False)
    site_id = await watcher.site(requests_per_minute=600)
    assert await searched(watcher, site_id, sitemaps=False) == {"product": 12, "other": 13}
    candidates = await watcher.ask(service.list_candidates, site_id)
    assert len(candidates) == 12
    assert all(one.confidence >= 0.4 and one.guess["price"] and one.guess["name"] for one in candidates)
    assert await watcher.ask(service.list_products) == [], "nobody has approved them"
    [doubted, *_] = [one for one in candidates if one.url.endswith("/p/7")]
    tenant = watcher.access.tenant_id
    await watcher.ask(service.decide, tenant, site_id, approve=False, by="me", candidates=[doubted.candidate_id])
    assert await watcher.ask(service.decide, tenant, site_id, approve=True, by="me", tags=["new"]) == 11

    async def look() -> bool:
        return bool((await watcher.ask(service.get_site, site_id)).state == "active")

    await eventually(look, what="the end of the baseline")
    products = await watcher.ask(service.list_products, tag="new")
    assert len(products) == 11
    assert all(one.price and one.currency == "EUR" for one in products)
    assert await watcher.changes() == []
    assert (await searched(watcher, site_id, sitemaps=False))["product"] == 12
    assert await watcher.ask(service.list_candidates, site_id) == [], "what was decided stays decided"


async def test_a_search_reads_sitemaps_and_keeps_to_its_limits(shop: Site, watcher: Watcher) -> None:
    open_shop(shop, watcher.base)
    site_id = await watcher.site()
    found = await searched(watcher, site_id, include=["/p/*"], exclude=["/p/1*"], seeds=[f"{watcher.base}/p/0"])
    assert found == {"product": 9}
    assert await searched(watcher, site_id, include=["/p/*"], max_pages=3) == {"product": 3, "left": 9}


async def test_a_site_is_tested_when_it_is_registered(shop: Site, watcher: Watcher) -> None:
    scripted = b"<html><title>Shop</title><body><div id=root></div><noscript>Please enable JavaScript</noscript>"
    shop.pages["/"] = page(scripted + b"<script src=/app.js></script></body></html>", HTML)
    site_id = await watcher.site()
    await watcher.quiet()
    tested = known((await watcher.ask(service.get_site, site_id)).tested)
    assert (tested["needs_script"], tested["readable"]) == (True, False)
    assert "script" in tested["warnings"][0]


async def test_days_and_months_stay_when_history_is_forgotten(shop: Site, watcher: Watcher) -> None:
    await watcher.site(retention_days=30, doubt_percent=200)
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    shop.pages["/p/2"] = item("9.00", n=2)
    other = await watcher.watch("/p/2")
    for price in ("22.00", "18.00"):
        await watcher.pass_time(DAY)
        shop.pages["/p/1"] = item(price)
        await watcher.check(product_id)
    await upkept(watcher)
    days = await watcher.ask(service.list_days, product_id)
    assert [(one.opened, one.closed, one.low, one.changes) for one in days] == [
        ("22.00", "18.00", "18.00", 1), ("20.00", "22.00", "20.00", 1), ("20.00", "20.00", "20.00", 0),
    ]  # fmt: skip
    await watcher.pass_time(200 * DAY)
    await watcher.check(product_id)
    told = await upkept(watcher)
    assert told["forgotten"] > 0
    seen = await watcher.ask(service.list_observations, product_id)
    assert [row.price for row in seen] == ["18.00"], "it still holds"
    assert len(await watcher.ask(service.list_observations, other)) == 1
    months = await watcher.ask(service.list_months, product_id)
    assert (months[-1].low, months[-1].high, months[-1].changes) == ("18.00", "22.00", 2)
    assert (await watcher.product(product_id)).low == "18.00"
    assert await watcher.changes() == [], "their days are over"


async def test_each_run_reads_robots_txt_anew(shop: Site, watcher: Watcher) -> None:
    site_id = await watcher.site(spread_minutes=0, requests_per_minute=600)
    shop.pages = {"/p/1": item("20.00"), "/robots.txt": page(b"User-agent: *\nDisallow:\n")}
    shop.pages["/"] = page(b'<a href="/p/1">one</a> <a href="/p/2">two</a>', HTML)
    await watcher.watch()
    shop.pages["/robots.txt"] = page(b"User-agent: *\nDisallow: /p/\n")
    shop.pages["/p/1"] = item("18.00")
    asked = len(shop.asked)
    assert known((await watcher.crawl(site_id)).counts)["results"] == {"blocked": 1}
    await watcher.ask(service.search, watcher.access.tenant_id, site_id, Search(sitemaps=False))
    await watcher.quiet()
    assert [path for path in paths(shop, asked) if path.startswith("/p/")] == []
    assert paths(shop, asked).count("/robots.txt") == 2, "once for the run, once for the search"
    shop.pages["/robots.txt"] = page(b"User-agent: *\nDisallow:\n")
    assert known((await watcher.crawl(site_id)).counts)["results"] == {"changed": 1}


async def test_a_single_look_obeys_the_robots_txt_of_the_last_minutes(shop: Site, watcher: Watcher) -> None:
    shop.pages = {"/p/1": item("20.00"), "/robots.txt": page(b"User-agent: *\nDisallow:\n")}
    product_id = await watcher.watch()
    shop.pages["/robots.txt"] = page(b"User-agent: *\nDisallow: /p/\n")
    asked = len(shop.asked)
    assert await watcher.check(product_id) == "unchanged", "read some seconds ago, it is not read again"
    assert paths(shop, asked) == ["/p/1"]
    await watcher.pass_time(11 * 60)
    assert await watcher.check(product_id) == "blocked"
    shop.pages["/robots.txt"] = page(b"User-agent: *\nDisallow:\n")
    await watcher.pass_time(11 * 60)
    asked = len(shop.asked)
    made = await watcher.access.client.enqueue("monitors.preview", {"url": f"{watcher.base}/p/1"})
    assert (await watcher.ended(made.job_id)).result["price"] == "20.00"
    assert paths(shop, asked) == ["/robots.txt", "/p/1"]


async def test_a_search_says_why_a_page_could_not_be_read(shop: Site, watcher: Watcher) -> None:
    site_id = await watcher.site(spread_minutes=0, requests_per_minute=600)
    shop.pages["/"] = page(b'<a href="/busy">one</a> <a href="/closed">two</a> <a href="/list.pdf">three</a>', HTML)
    shop.pages |= {
        "/busy": page(b"no", status="403 Forbidden"),
        "/list.pdf": page(b"%PDF", "Content-Type: application/pdf"),
        "/robots.txt": page(b"User-agent: *\nDisallow: /closed\n"),
    }
    await watcher.ask(service.search, watcher.access.tenant_id, site_id, Search(sitemaps=False))
    await watcher.quiet()
    rows = await watcher.cell.look("select message from leasehold.event where type = 'log' order by message")
    assert [row["message"].replace(watcher.base, "") for row in rows] == [
        "/busy could not be read: it answered 403",
        "/closed could not be read: /robots.txt forbids it to LeaseholdMonitor (Disallow: /closed)",
        "/list.pdf could not be read: it is application/pdf",
    ]


def paths(shop: Site, since: int) -> list[str]:
    return [head.split(b" ")[1].decode() for head in shop.asked[since:]]


async def test_days_are_right_before_the_night_has_rolled_them_up(shop: Site, watcher: Watcher) -> None:
    await watcher.site(doubt_percent=200)
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()

    async def days() -> list[tuple[str, str, str, int]]:
        rows = await watcher.ask(service.list_days, product_id)
        return [(row.opened, row.closed, row.low, row.changes) for row in rows]

    assert await days() == [("20.00", "20.00", "20.00", 0)], "on the first day"
    for price in ("22.00", "18.00"):
        await watcher.pass_time(DAY)
        shop.pages["/p/1"] = item(price)
        await watcher.check(product_id)
    expected = [("22.00", "18.00", "18.00", 1), ("20.00", "22.00", "20.00", 1), ("20.00", "20.00", "20.00", 0)]
    assert await days() == expected
    await upkept(watcher)
    assert await days() == expected
    shop.pages["/p/1"] = item("19.00")
    await watcher.check(product_id)
    expected[0] = ("22.00", "19.00", "18.00", 2)
    assert await days() == expected, "a day that was rolled up before it was over"
    await watcher.pass_time(DAY)
    await watcher.check(product_id)
    assert await days() == [("19.00", "19.00", "19.00", 0), *expected]
    months = await watcher.ask(service.list_months, product_id)
    assert (min(one.low for one in months), sum(one.changes for one in months)) == ("18.00", 3)


async def upkept(watcher: Watcher) -> dict[str, int]:
    asked = await watcher.access.client.enqueue("monitors.upkeep", queue="monitors.maintenance")
    return (await watcher.ended(asked.job_id)).result  # type: ignore[no-any-return]


async def test_one_tenants_upkeep_leaves_the_rows_of_others(shop: Site, watcher: Watcher) -> None:
    shop.pages["/p/1"] = item("20.00")
    await watcher.site(retention_days=1)
    product_id = await watcher.watch()
    shop.pages["/p/1"] = item("19.00")
    await watcher.check(product_id)
    [before] = await watcher.cell.look("select count(*) as n from leasehold_monitors.observation")
    await watcher.cell.pass_time(60 * DAY)
    others = type(watcher.access)(watcher.access._backend, watcher.cell.tenant_b, "test")
    asked = await others.client.enqueue("monitors.upkeep", queue="monitors.maintenance")
    await eventually(lambda: _succeeded(others, asked.job_id), what="the upkeep of the other tenant")
    [after] = await watcher.cell.look("select count(*) as n from leasehold_monitors.observation")
    assert before == after == {"n": 2}
    assert (await upkept(watcher))["forgotten"] > 0


async def _succeeded(access: object, job_id: UUID) -> bool:
    return (await access.client.get(job_id)).state == "succeeded"  # type: ignore[attr-defined,no-any-return]


async def partitions(watcher: Watcher) -> set[str]:
    rows = await watcher.cell.look(
        "select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on"
        " p.oid = i.inhparent where p.relkind = 'p' and p.relnamespace = 'leasehold_monitors'::regnamespace"
    )
    return {row["name"] for row in rows}


async def test_partitions_are_made_ahead_and_late_rows_are_moved(shop: Site, watcher: Watcher) -> None:
    shop.pages["/p/1"] = item("20.00")
    await watcher.watch()
    await watcher.pass_time(400 * DAY)
    shop.pages["/p/2"] = item("20.00", n=2)
    await watcher.watch("/p/2")
    late = "select count(*) as n from leasehold_monitors.observation_default"
    assert await watcher.cell.look(late) == [{"n": 1}], "kept where no month was made in time"
    before = await partitions(watcher)
    await upkept(watcher)  # its worker may be declared lost after such a leap, and another attempt finds all done
    after = await partitions(watcher)
    assert len(after - before) == 8
    assert before - after, "months that nobody has rows in"
    assert await watcher.cell.look(late) == [{"n": 0}]
    assert await watcher.cell.look("select count(*) as n from leasehold_monitors.observation") == [{"n": 2}]


async def test_a_site_in_trouble_is_told_once(shop: Site, watcher: Watcher) -> None:
    shop.pages |= {f"/p/{n}": item("20.00", n=n) for n in range(3)}
    ids = [await watcher.watch(f"/p/{n}") for n in range(3)]
    await watcher.cell.pass_time(2 * DAY)
    shop.pages = {f"/p/{n}": page(b"no", status="403 Forbidden") for n in range(3)}
    for product_id in ids:
        assert await watcher.check(product_id) == "blocked"
    for _ in range(2):
        asked = await watcher.access.client.enqueue("monitors.health", queue="monitors.maintenance")
        await watcher.ended(asked.job_id)
    [site] = await watcher.ask(service.list_sites)
    health = known(site.health)
    assert (health["blocked"], health["trouble"]) == (3, "blocked: 3 of 3 checks")
    assert len(await watcher.events("site_in_trouble")) == 1


async def test_schedules_and_rates_follow_the_settings(watcher: Watcher) -> None:
    site_id = await watcher.site(cron="30 4 * * *", zone="Europe/Berlin", requests_per_minute=6)
    client = watcher.access.client
    await site_setup.arrange(watcher.access, await watcher.ask(service.get_site, site_id))
    names = {one.name: one for one in await client.schedules.list()}
    mine = names[f"monitors.site.{site_id}"]
    assert (mine.cron, mine.zone, mine.paused) == ("30 4 * * *", "Europe/Berlin", False)
    assert {"monitors.health", "monitors.upkeep"} <= set(names)
    site = await watcher.ask(service.change_site, site_id, settings={"cron": "0 5 * * *"}, paused=True)
    await site_setup.arrange(watcher.access, site)
    assert (await client.schedules.get(mine.name)).paused
    await watcher.ask(service.remove_site, site_id)
    await site_setup.clear(watcher.access, site_id)
    assert mine.name not in {one.name for one in await client.schedules.list()}


async def test_the_same_thing_at_two_sites_is_compared(shop: Site, watcher: Watcher) -> None:
    shop.pages |= {"/p/1": item("20.00"), "/q/1": item("25.00"), "/p/2": item("9.00", n=2)}
    for path in ("/p/1", "/q/1", "/p/2"):
        await watcher.watch(path)
    [group] = await watcher.ask(service_rules.list_groups)
    compared = await watcher.ask(service_rules.compare_group, group.group_id)
    assert [(one.price, one.percent_above_cheapest) for one in compared.products] == [
        ("20.00", 0),
        ("25.00", 25),
    ]
    assert compared.match.startswith("gtin:")


async def test_a_rule_tells_when_others_of_a_group_undercut_ones_own_product(shop: Site, watcher: Watcher) -> None:
    shop.pages |= {"/p/1": item("20.00"), "/q/1": item("25.00")}
    mine, theirs = await watcher.watch("/p/1", tags=["mine"]), await watcher.watch("/q/1")
    tenant = watcher.access.tenant_id
    with pytest.raises(BadInput, match="what is yours"):
        await watcher.ask(service_rules.put_rule, tenant, name="undercut", condition="undercut")
    await watcher.ask(service_rules.put_rule, tenant, name="undercut", condition="undercut", tag="mine")
    for path, price, alerts in (
        ("/q/1", "21.00", 0),  # still dearer
        ("/q/1", "19.00", 1),
        ("/q/1", "18.00", 1),  # it is already
        ("/p/1", "17.00", 1),  # one does not undercut oneself
        ("/q/1", "17.00", 1),  # as dear
        ("/q/1", "16.50", 2),
    ):
        shop.pages[path] = item(price)
        await watcher.check(mine if path == "/p/1" else theirs)
        assert len(await watcher.events("alert")) == alerts, (path, price)
    told = (await watcher.events("alert"))[-1]["data"]
    assert (told["product_id"], told["rule"]["condition"]) == (str(theirs), "undercut")
    assert [(one["product_id"], one["price"]) for one in told["undercut"]] == [(str(mine), "17.00")]


async def test_a_selector_is_tried_on_the_page_that_was_kept(shop: Site, watcher: Watcher) -> None:
    shop.pages["/p/1"] = item("20.00", layout="plain")
    product_id = await watcher.watch()
    asked = len(shop.asked)
    tried = await watcher.ended(await watcher.ask(service.try_selector, product_id, ".related .price"))
    assert tried.result["how"]["price"]["source"] == "selector"
    assert tried.result["price"] != "20.00"
    assert len(shop.asked) == asked, "nobody was asked"
    await watcher.ask(service.change_product, product_id, selector="main .price")
    assert await watcher.check(product_id) == "unchanged"
    found = known((await watcher.product(product_id)).facts)["found"]["price"]
    assert (found["source"], found["method"]) == ("selector", "main .price")


async def test_pages_that_were_kept_are_read_again_and_compared(shop: Site, watcher: Watcher) -> None:
    shop.pages |= {"/p/1": item("20.00"), "/p/2": item("30.00", n=2)}
    for path in ("/p/1", "/p/2"):
        await watcher.watch(path)
    await watcher.cell.change(
        "update leasehold_monitors.product set facts_digest = 'other',"
        " facts = jsonb_set(facts, '{found,price,value,amount}', '\"29.00\"') where url like '%/p/2'"
    )
    [site] = await watcher.ask(service.list_sites)
    result = (await watcher.ended(await watcher.ask(service.reread, site.site_id))).result
    assert (result["same"], result["differ"], result["lost"]) == (1, 1, 0)
    [one] = result["products"]
    assert [one[when]["price"]["value"]["amount"] for when in ("before", "after")] == ["29.00", "30.00"]


async def test_products_are_filtered_paused_and_tagged(shop: Site, watcher: Watcher) -> None:
    shop.pages |= {f"/p/{n}": item("20.00", n=n) for n in (1, 2)}
    first, second = [await watcher.watch(f"/p/{n}", tags=[f"t{n}"]) for n in (1, 2)]
    assert len(await watcher.ask(service.list_products, brand="ACME")) == 2
    assert await watcher.ask(service.list_products, brand="Other") == []
    assert [one.product_id for one in await watcher.ask(service.list_products, tag="t2")] == [second]
    assert [one.product_id for one in await watcher.ask(service.list_products, query="s-00001")] == [first]
    await watcher.ask(service.change_product, first, paused=True)
    job_id = await watcher.ask(service.check, first)
    assert await eventually(lambda: _state(watcher, job_id), what="the end") == "canceled"
    assert await watcher.ask(service.list_products, changed_since=datetime.now(UTC)) == []


async def _state(watcher: Watcher, job_id: UUID) -> str:
    job = await watcher.access.client.get(job_id)
    return str(job.state) if job.state.is_outcome else ""
