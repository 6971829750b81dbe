"""``ctx.fetch(polite=True)``: what robots.txt says, and a gap between requests to one host, whoever makes them."""

import asyncio
from datetime import datetime

import pytest

from leasehold import Context, Leasehold
from leasehold.database.database import Database
from leasehold.features.fetching.store import wait_for_host
from leasehold.features.limits.store import Gates
from leasehold.fetch.connect import _share
from leasehold.fetch.fetcher import Fetcher
from leasehold.fetch.robots import KEPT_SECONDS, RETRY_SECONDS
from leasehold.settings import Settings
from tests.cell import Cell
from tests.fetch.world import Site, moved, page, serving
from tests.program.test_fetch import allowing
from tests.worker.running import Shop, running

RULES = b"User-agent: *\nDisallow: /private\n\nUser-agent: AuditBot\nDisallow: /\nAllow: /open\n"
BRIEF = 0.01  # the gap of these tests: none of them is about its length but those that say so


def app_with(settings: Settings) -> Leasehold:
    app = Leasehold(settings)

    @app.handler("t.get", attempts=2, retry_base_s=0.01)
    async def get(ctx: Context, url: str) -> str:
        return (await ctx.fetch(url, polite=True)).text

    @app.handler("t.fresh", attempts=1)
    async def fresh(ctx: Context, order: dict[str, str]) -> str:
        since = datetime.fromisoformat(order["since"])
        return (await ctx.fetch(order["url"], polite=True, rules_since=since)).text

    @app.handler("t.plain", attempts=1)
    async def plain(ctx: Context, how: str) -> str:
        if how == "fails":
            raise RuntimeError("the host does not answer")
        return how

    @app.handler("t.audit", attempts=1)
    async def audit(ctx: Context, url: str) -> str:
        return (await ctx.fetch(url, polite=True, agent="AuditBot/1.0 (+https://example.com)")).text

    return app


apart = Leasehold()


@apart.handler("t.get_apart", isolate=True, attempts=1)
async def get_apart(ctx: Context, url: str) -> str:
    return (await ctx.fetch(url, polite=True)).text


@apart.handler("t.fresh_apart", isolate=True, attempts=1)
async def fresh_apart(ctx: Context, order: dict[str, str]) -> str:
    since = datetime.fromisoformat(order["since"])
    return (await ctx.fetch(order["url"], polite=True, rules_since=since)).text


def polite(port: int, gap: float = BRIEF) -> Settings:
    return allowing(port, fetch_gap_seconds=gap)


def paths(site: Site) -> list[str]:
    return [request.split(b" ")[1].decode() for request in site.asked]


@pytest.mark.parametrize("isolated", [False, True])
async def test_lookups_of_robots_txt_are_on_the_share_of_the_tenant(
    cell: Cell, shop: Shop, isolated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = []

    async def resolver(host: str) -> list[str]:
        shares.append(_share.get())
        return ["127.0.0.1"]

    app, kind = (apart, "t.get_apart") if isolated else (app_with(Settings()), "t.get")
    async with serving(Site({"/robots.txt": page(RULES), "/open": page(b"hello")})) as port:
        monkeypatch.setenv("LEASEHOLD_FETCH_ALLOW", f"localhost:{port}")  # a process of its own reads it
        monkeypatch.setattr(app, "_fetcher", Fetcher(polite(port), resolver=resolver))
        async with running(cell, app, polite(port)):
            assert (await shop.run(kind, f"http://localhost:{port}/open")).result == "hello"
    assert set(shares) == {str(cell.tenant_a)}


async def test_a_page_that_robots_txt_forbids_is_not_fetched_and_the_rule_is_told(cell: Cell, shop: Shop) -> None:
    site = Site({"/robots.txt": page(RULES), "/private/x": page(b"no"), "/open": page(b"hello")})
    async with serving(site) as port, running(cell, app_with(polite(port)), polite(port)):
        at = f"http://127.0.0.1:{port}"
        refused = await shop.run("t.get", f"{at}/private/x")
        assert (await shop.run("t.get", f"{at}/open")).result == "hello"
    assert refused.state == "failed", "asking again would not help"
    error = await shop.error(refused.job_id)
    assert (error["type"], error["message"]) == (
        "FetchDisallowed",
        f"{at}/private/x is refused: {at}/robots.txt forbids it to leasehold (Disallow: /private)",
    )
    assert paths(site) == ["/robots.txt", "/open"]


async def test_the_rules_are_those_for_the_agent_that_the_site_sees(cell: Cell, shop: Shop) -> None:
    site = Site({"/robots.txt": page(RULES), "/": page(b"home"), "/open": page(b"hello")})
    async with serving(site) as port, running(cell, app_with(polite(port)), polite(port)):
        at = f"http://127.0.0.1:{port}"
        assert (await shop.run("t.audit", f"{at}/")).state == "failed"
        assert (await shop.run("t.audit", f"{at}/open")).result == "hello"
        assert (await shop.run("t.get", f"{at}/")).result == "home"
    assert b"AuditBot/1.0" in site.asked[1]
    assert paths(site) == ["/robots.txt", "/open", "/"], "one file serves all agents"


async def test_a_redirect_has_to_be_allowed_too(cell: Cell, shop: Shop) -> None:
    site = Site({"/robots.txt": page(RULES), "/old": moved("/private/new"), "/private/new": page(b"no")})
    async with serving(site) as port, running(cell, app_with(polite(port)), polite(port)):
        job = await shop.run("t.get", f"http://127.0.0.1:{port}/old")
    assert job.state == "failed"
    error = await shop.error(job.job_id)
    assert error["type"] == "FetchDisallowed"
    assert error["message"].startswith(f"the redirect of http://127.0.0.1:{port} is refused: ")
    assert paths(site) == ["/robots.txt", "/old"]


async def test_workers_share_what_a_site_has_said(cell: Cell, shop: Shop) -> None:
    site = Site({"/robots.txt": page(RULES), "/": page(b"home")})
    async with serving(site) as port:
        for _ in range(2):  # two workers, one after the other: nothing is left in memory
            async with running(cell, app_with(polite(port)), polite(port)):
                assert (await shop.run("t.get", f"http://127.0.0.1:{port}/")).result == "home"
        assert paths(site) == ["/robots.txt", "/", "/"]
        await cell.pass_time(KEPT_SECONDS + 1)
        async with running(cell, app_with(polite(port)), polite(port)):
            await shop.run("t.get", f"http://127.0.0.1:{port}/")
    assert paths(site)[3:] == ["/robots.txt", "/"]


@pytest.mark.parametrize("kind", ["t.fresh", "t.fresh_apart"])
async def test_rules_from_before_a_moment_are_read_again_by_all_workers_together(
    cell: Cell, shop: Shop, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    site = Site({"/robots.txt": page(b""), "/open": page(b"home"), "/closed": page(b"secret")})
    async with serving(site) as port:
        monkeypatch.setenv("LEASEHOLD_FETCH_ALLOW", f"127.0.0.1:{port}")
        app = app_with(polite(port))
        app.include(apart)
        at = f"http://127.0.0.1:{port}"
        async with running(cell, app, polite(port)):
            assert (await shop.run("t.get", f"{at}/closed")).result == "secret"
            site.pages["/robots.txt"] = page(b"User-agent: *\nDisallow: /closed")
            await cell.pass_time(1)
            [row] = await cell.look("select leasehold.now() as now")
            order = {"since": row["now"]}
            assert (await shop.run(kind, order | {"url": f"{at}/closed"})).state == "failed"
        async with running(cell, app, polite(port)):  # another worker: nothing is in memory
            assert (await shop.run(kind, order | {"url": f"{at}/closed"})).state == "failed"
            assert (await shop.run(kind, order | {"url": f"{at}/open"})).result == "home"
    assert paths(site) == ["/robots.txt", "/closed", "/robots.txt", "/open"]


@pytest.mark.parametrize("status", ["404 Not Found", "403 Forbidden"])
async def test_no_file_allows_everything(cell: Cell, shop: Shop, status: str) -> None:
    site = Site({"/robots.txt": page(b"User-agent: *\nDisallow: /", status=status), "/": page(b"home")})
    async with serving(site) as port, running(cell, app_with(polite(port)), polite(port)):
        assert (await shop.run("t.get", f"http://127.0.0.1:{port}/")).result == "home"


async def test_a_site_in_trouble_is_tried_again_later(cell: Cell, shop: Shop) -> None:
    site = Site({"/robots.txt": page(b"", status="503 Busy"), "/": page(b"home")})
    async with serving(site) as port:
        async with running(cell, app_with(polite(port)), polite(port)):
            job = await shop.run("t.get", f"http://127.0.0.1:{port}/")
        assert (job.state, await shop.history(job.job_id)) == ("dead", [(1, "errored"), (2, "errored")])
        assert paths(site) == ["/robots.txt"], "and is left alone until then"
        site.pages["/robots.txt"] = page(RULES)
        await cell.pass_time(RETRY_SECONDS + 1)
        async with running(cell, app_with(polite(port)), polite(port)):
            assert (await shop.run("t.get", f"http://127.0.0.1:{port}/")).result == "home"


async def test_a_turn_that_is_far_away_snoozes_the_job_and_nothing_is_counted(cell: Cell, shop: Shop) -> None:
    site = Site({"/robots.txt": page(b"User-agent: *\nCrawl-delay: 50"), "/": page(b"home")})
    async with serving(site) as port, running(cell, app_with(polite(port)), polite(port)):
        url = f"http://127.0.0.1:{port}/"
        assert (await shop.run("t.get", url)).result == "home"
        job_id = await shop.enqueue("t.get", url)
        assert await shop.attempted(job_id) == [(1, "snoozed")]
        await cell.pass_time(101)
        assert (await shop.ended(job_id)).result == "home"
    assert paths(site) == ["/robots.txt", "/", "/"]


async def test_who_waits_for_a_host_keeps_no_gate_from_others(cell: Cell, shop: Shop, api_db: Database) -> None:
    site = Site({"/robots.txt": page(b"User-agent: *\nCrawl-delay: 50"), "/": page(b"home")})
    await Gates(api_db, cell.tenant_a).set("shop", rate=1, per_s=10)
    async with serving(site) as port, running(cell, app_with(polite(port)), polite(port)):
        url = f"http://127.0.0.1:{port}/"
        assert (await shop.run("t.get", url)).result == "home"
        waits = await shop.enqueue("t.get", url, gate="shop")
        assert await shop.attempted(waits) == [(1, "snoozed")]
        other = await shop.enqueue("t.plain", "passes", gate="shop")
        await cell.pass_time(11)
        assert (await shop.ended(other)).result == "passes"
        assert (await shop.get(waits)).state == "scheduled"
        await cell.pass_time(101)
        assert (await shop.ended(waits)).result == "home"


async def test_a_probe_that_waits_for_a_host_leaves_its_place_to_another(
    cell: Cell, shop: Shop, api_db: Database
) -> None:
    site = Site({"/robots.txt": page(b"User-agent: *\nCrawl-delay: 200"), "/": page(b"home")})
    gates = Gates(api_db, cell.tenant_a)
    await gates.set("shop", rate=100, per_s=1, failures=1, ratio=0.1, cooldown_s=30, probes=1)
    async with serving(site) as port, running(cell, app_with(polite(port)), polite(port)):
        url = f"http://127.0.0.1:{port}/"
        assert (await shop.run("t.get", url)).result == "home"
        assert (await shop.run("t.plain", "fails", gate="shop")).state == "dead"
        assert (await gates.get("shop")).state == "open"
        await cell.pass_time(37)
        probe = await shop.enqueue("t.get", url, gate="shop")
        assert await shop.attempted(probe) == [(1, "snoozed")]
        assert (await gates.get("shop")).state == "half-open", "nothing was learnt"
        other = await shop.enqueue("t.plain", "passes", gate="shop")
        await cell.pass_time(31)
        assert (await shop.ended(other)).result == "passes"
        assert (await gates.get("shop")).state == "closed"
        await cell.pass_time(401)
        assert (await shop.ended(probe)).result == "home"


async def test_an_isolated_attempt_is_polite_too(cell: Cell, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site({"/robots.txt": page(RULES), "/private": page(b"no"), "/": page(b"home")})
    async with serving(site) as port:
        monkeypatch.setenv("LEASEHOLD_FETCH_ALLOW", f"127.0.0.1:{port}")
        app = Leasehold(polite(port))
        app.include(apart)
        async with running(cell, app, polite(port)):
            assert (await shop.run("t.get_apart", f"http://127.0.0.1:{port}/")).result == "home"
            refused = await shop.run("t.get_apart", f"http://127.0.0.1:{port}/private")
    assert (refused.state, (await shop.error(refused.job_id))["type"]) == ("failed", "FetchDisallowed")


# -- turns ----------------------------------------------------------------------------------------------------------


async def test_turns_at_a_host_are_one_gap_apart_whoever_asks(worker_db: Database) -> None:
    waits = [await wait_for_host(worker_db, "shop.test", 2.0, patience_s=10.0) for _ in range(4)]
    assert [round(wait) for wait in waits] == [0, 2, 4, 6]
    assert await wait_for_host(worker_db, "other.test", 2.0, patience_s=10.0) == 0


async def test_those_who_ask_at_once_get_different_turns(worker_db: Database) -> None:
    waits = await asyncio.gather(*(wait_for_host(worker_db, "shop.test", 100.0, patience_s=1e6) for _ in range(20)))
    assert sorted(round(wait / 100) for wait in waits) == list(range(20))


async def test_who_is_sent_away_takes_no_turn_and_comes_back_alone(cell: Cell, worker_db: Database) -> None:
    async def ask() -> float:
        return await wait_for_host(worker_db, "shop.test", 20.0, patience_s=10.0)

    assert await ask() == 0
    assert [round(await ask()) for _ in range(3)] == [40, 60, 80], "one after the other"
    await cell.pass_time(40)
    assert await ask() == 0, "the turn was not taken by those who left"


async def test_what_is_over_is_forgotten(cell: Cell, worker_db: Database) -> None:
    await worker_db.call("put_robots", "http://shop.test", 200, b"", 60.0)
    await wait_for_host(worker_db, "shop.test", 2.0, patience_s=10.0)
    assert await worker_db.value("purge_fetch_cache") == 0
    await cell.pass_time(3700)
    assert await worker_db.value("purge_fetch_cache") == 2
