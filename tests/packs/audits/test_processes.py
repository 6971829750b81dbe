"""Audits by a real ``leasehold worker``, asked for by the real command, of a site on loopback."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from leasehold.database.database import Role
from leasehold.program.access import Access
from leasehold.program.client import Backend
from leasehold.settings import Settings
from leasehold_packs.audits import feature, service, start_run
from leasehold_packs.audits.model import Options
from leasehold_packs.audits.model_results import SiteAudit
from leasehold_packs.audits.start_run import QUEUE
from tests.cell import Cell
from tests.cli.program import Said, leasehold, started
from tests.fetch.world import Site, page, serving
from tests.packs.audits.test_runs import document
from tests.packs.killer import prepare
from tests.waiting import eventually
from tests.worker.running import ENVIRONMENT

pytestmark = pytest.mark.long

MANY = 2000


class Office:
    """A tenant whose audits one worker process does."""

    def __init__(self, access: Access, env: dict[str, str], base: str) -> None:
        self.access, self.env, self.base = access, env, base

    async def command(self, *arguments: str) -> Said:
        return await asyncio.to_thread(leasehold, "audits", *arguments, env=self.env)

    async def run(self, path: str = "/") -> dict[str, Any]:
        said = await self.command("run", self.base + path, "--json")
        return dict(said.json) | {"code": said.code, "err": said.err}

    async def ask(self, path: str) -> Any:
        async with self.access.transaction() as tx:
            options = Options(max_pages=MANY + 10)
            return await start_run.request_run(tx, self.base + path, options, force=True)

    async def state(self, run_id: Any) -> SiteAudit:
        async with self.access.transaction() as tx:
            return await service.get_run(tx, run_id)

    async def findings(self, run: dict[str, Any]) -> dict[tuple[str, str], tuple[str, str | None]]:
        async with self.access.transaction() as tx:
            found = (await service.list_findings(tx, run["site_id"], limit=10_000)).data
        return {
            (one.check_id, one.url.removeprefix(self.base)): (one.state, one.note)
            for one in found
            if one.check_id != "slow_first_byte"
        }

    async def accept(self, run: dict[str, Any], check: str) -> None:
        async with self.access.transaction() as tx:
            for one in (await service.list_findings(tx, run["site_id"], limit=10_000)).data:
                if one.check_id == check:
                    await service.accept(tx, one.finding_id, note="by design", until=None)


@asynccontextmanager
async def office(cell: Cell, site: Site, **more: str) -> AsyncIterator[Office]:
    await prepare(cell, feature, QUEUE)
    async with serving(site) as port, cell.database(Role.API) as db:
        env = cell.environment() | ENVIRONMENT | {"LEASEHOLD_PACKS": "audits"} | more
        env |= {"LEASEHOLD_LEASE_SECONDS": "10", "LEASEHOLD_FETCH_ALLOW": f"127.0.0.1:{port}"}
        env |= {"LEASEHOLD_FETCH_GAP_SECONDS": "0.0001"}
        access = Access(Backend(Settings(), db), cell.tenant_a, "test")
        with started("worker", env=env):
            yield Office(access, env, f"http://127.0.0.1:{port}")


def magazine() -> Site:
    titles = ("Start", "Gardens", "Rivers", "Rivers", "Kitchens", "Harbours")
    links = [f"/{n}" for n in range(1, len(titles))]
    site = Site({"/": document(titles[0], *links, "/gone")})
    site.pages |= {f"/{n}": document(title, "/") for n, title in enumerate(titles) if n}
    return site


async def test_an_outage_changes_no_finding(cell: Cell) -> None:
    site = magazine()
    async with office(cell, site) as our:
        first = await our.run()
        await our.accept(first, "title_short")
        assert (await our.run())["state"] == "succeeded"
        before = await our.findings(first)
        assert ("accepted", "by design") in before.values()
        pages, down = dict(site.pages), page(b"no", status="503 Service Unavailable")
        site.pages = dict.fromkeys((*pages, "/gone", "/robots.txt", "/sitemap.xml"), down)
        run = await our.run()
        assert (run["code"], run["state"], run["score"]) == (1, "failed", None)
        assert "could not be reached" in run["reason"]
        assert "could not be reached" in run["err"]
        assert await our.findings(first) == before
        half = [path for n, path in enumerate(pages) if n % 2]
        site.pages = pages | dict.fromkeys(half, down)
        partly = await our.run()
        assert (partly["state"], partly["report"]["unread"]) == ("succeeded", len(half))
        now = await our.findings(first)
        assert {one: now[one] for one in before} == before
        site.pages = pages
        back = await our.run()
        assert back["state"] == "succeeded"
        now = await our.findings(first)
        assert {one: now[one] for one in before} == before, "nothing was fixed, and nothing came back"


async def test_a_robots_txt_that_has_changed_is_obeyed_at_once(cell: Cell) -> None:
    site = magazine()
    site.pages["/robots.txt"] = page(b"User-agent: *\nDisallow:\n")
    async with office(cell, site) as our:
        await our.run()
        site.pages["/robots.txt"] = page(b"User-agent: *\nDisallow: /2\n")
        asked = len(site.asked)
        run = await our.run()
        fetched = [head.split(b" ")[1] for head in site.asked[asked:]]
        assert b"/2" not in fetched
        assert b"/3" in fetched
        rule = f"{our.base}/robots.txt forbids it to LeaseholdAudit (Disallow: /2)"
        assert run["report"]["forbidden"] == {rule: 1}
        assert rule in run["err"]
        site.pages["/robots.txt"] = page(b"User-agent: *\nDisallow: /\n")
        closed = await our.run()
        assert (closed["state"], closed["report"]["blocked"]) == ("succeeded", 1)
        site.pages["/robots.txt"] = page(b"User-agent: *\nDisallow:\n")
        assert (await our.run())["urls"] == {"fetched": 7}


async def test_a_build_fails_by_faults_that_nobody_has_accepted_and_has_all_of_them(cell: Cell) -> None:
    site = Site({f"/{n}": document(f"Page {n}") for n in range(100)})
    site.pages["/"] = document("Start", *site.pages)
    async with office(cell, site) as our:
        first = await our.run()
        assert len(first["issues"]) == sum(first["report"]["checks"].values()) > 1000
        assert first["issues_left_out"] == 0
        asked = ("run", our.base, "--fail-on", "high")
        assert (await our.command(*asked)).code == 1
        for check in {one["check_id"] for one in first["issues"] if one["severity"] in ("critical", "high")}:
            await our.accept(first, check)
        assert (await our.command(*asked)).code == 0
        assert (await our.command("run", our.base, "--fail-on", "medium")).code == 1
        reported = (await our.command("report", str(first["run_id"]), "--format", "json")).json
        assert len(reported["issues"]) == len(first["issues"])


async def test_a_large_audit_leaves_its_turns_to_a_small_one(cell: Cell) -> None:
    site = magazine()
    site.pages["/many/"] = document("Many", *(f"/many/{n}" for n in range(MANY)))
    site.pages |= {f"/many/{n}": document(f"Page {n}") for n in range(MANY)}
    async with office(cell, site, LEASEHOLD_SLOTS="20") as our:
        await our.run()

        async def known() -> bool:
            return sum((await our.state(large.run_id)).urls.values()) > MANY

        large = await our.ask("/many/")
        await eventually(known, what="all pages of the large audit")
        before = len(site.asked)
        small = await our.ask("/")

        async def over() -> bool:
            return (await our.state(small.run_id)).state != "running"

        await eventually(over, what="the end of the small audit", seconds=600)
        between = sum(b" /many/" in head for head in site.asked[before:])
        now = await our.state(large.run_id)
    print(f"{between} of {MANY} pages of the large audit were read before the small one had ended")
    assert now.state == "running"
    assert between < MANY / 5
