"""Whole audits: a real worker, and a server on loopback."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from leasehold import Leasehold
from leasehold.database.database import Database
from leasehold.errors import BadInput, Conflict, NotFound
from leasehold.features.webhooks import handlers as webhook
from leasehold.plugins.discovery import app_of
from leasehold.program.access import Access
from leasehold.program.client import Backend
from leasehold.settings import Settings
from leasehold_packs.audits import feature, report, service, start_run
from leasehold_packs.audits.model import Options
from leasehold_packs.audits.model_results import AuditReport, SiteAudit
from leasehold_packs.audits.run import RUNS
from leasehold_packs.audits.start_run import RequestedRun
from tests.cell import Cell
from tests.corpora.data import needs_corpora
from tests.features.webhooks.hooks import KEY
from tests.fetch.world import Site, moved, page, serving
from tests.packs.audits import manual
from tests.waiting import eventually
from tests.worker.running import FAST, running

HTML = "Content-Type: text/html; charset=utf-8"
WORDS = "word " * 200


def document(title: str, *links: str, head: str = "", words: str = WORDS) -> bytes:
    body = "".join(f'<p><a href="{link}">to {link}</a></p>' for link in links)
    head = f"<head><title>{title}</title>{head}</head>"
    return page(f"<!doctype html><html>{head}<body><p>{title} {words}</p>{body}</body></html>".encode(), HTML)


class Auditor:
    """Asks for audits of a server, waits for them and looks at what they found."""

    def __init__(self, access: Access, port: int) -> None:
        self.access, self.port = access, port
        self.base = f"http://127.0.0.1:{port}"

    async def ask(self, path: str = "/", *, force: bool = True, **options: Any) -> RequestedRun:
        async with self.access.transaction() as tx:
            return await start_run.request_run(tx, self.base + path, Options(**options), force=force)

    async def run(self, path: str = "/", **options: Any) -> SiteAudit:
        return await self.ended((await self.ask(path, **options)).run_id)

    async def ended(self, run_id: UUID) -> SiteAudit:
        async def look() -> SiteAudit | None:
            async with self.access.transaction() as tx:
                run = await service.get_run(tx, run_id)
            return None if run.is_running else run

        ended = await eventually(look, what="the end of the run", seconds=300)
        assert ended
        return ended

    async def found(self, run: SiteAudit) -> set[tuple[str, str]]:
        async with self.access.transaction() as tx:
            issues = (await service.list_issues(tx, run.run_id)).data
        return {(issue.check_id, issue.url.removeprefix(self.base)) for issue in issues}

    async def findings(self, run: SiteAudit, *states: str) -> set[tuple[str, str]]:
        async with self.access.transaction() as tx:
            found = (await service.list_findings(tx, run.site_id)).data
        return {(one.check_id, one.url.removeprefix(self.base)) for one in found if one.state in states}


Opened = Callable[..., AbstractAsyncContextManager[Auditor]]


@pytest.fixture
async def auditing(cell: Cell, api_db: Database) -> Opened:

    @asynccontextmanager
    async def opened(site: Site, *, allow: str = "", **options: Any) -> AsyncIterator[Auditor]:
        async with serving(site) as port:
            allowed = ",".join(filter(None, (f"127.0.0.1:{port}", allow)))
            given: dict[str, Any] = {
                "lease_seconds": 1e8,
                "fetch_allow": allowed,
                "fetch_gap_seconds": 0.0001,
            } | options
            settings = replace(FAST, secret_keys=KEY, **given)
            app = Leasehold(settings)
            app.include(app_of(feature))
            app.include(webhook.app)
            async with running(cell, app, settings), cell.without_back_offs():
                yield Auditor(Access(Backend(Settings(secret_keys=KEY), api_db), cell.tenant_a, "test"), port)

    return opened


def report_of(run: SiteAudit) -> AuditReport:
    assert run.report, run.reason
    return run.report


def only(found: set[tuple[str, str]], *checks: str) -> set[tuple[str, str]]:
    return {(check, url) for check, url in found if check in checks}


async def test_pages_are_found_by_links_and_sitemaps_each_once(auditing: Opened) -> None:
    site = Site(
        {
            "/": document("Start", "/a", "/b", "/a#x", "/#top"),
            "/a": document("A", "/b?utm_source=x", "/"),
            "/b": document("B"),
        }
    )
    site.pages["/robots.txt"] = page(
        b"User-agent: *\nDisallow: /secret\nSitemap: /map.xml\n", "Content-Type: text/plain"
    )
    async with auditing(site) as auditor:
        listed = "".join(f"<url><loc>{auditor.base}{path}</loc></url>" for path in ("/a", "/alone", "/secret"))
        site.pages["/robots.txt"] = page(
            f"User-agent: *\nDisallow: /secret\nSitemap: {auditor.base}/map.xml\n".encode()
        )
        site.pages["/map.xml"] = page(
            f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{listed}</urlset>".encode()
        )
        site.pages["/alone"] = document("Alone")
        run = await auditor.run()
        found = await auditor.found(run)
    assert (run.state, run.pages, run.urls) == ("succeeded", 4, {"fetched": 4, "blocked": 1})
    assert report_of(run)["depth"] == 1
    assert only(found, "orphan", "robots_blocked", "sitemap_blocked", "fragment_broken") == {
        ("orphan", "/alone"), ("robots_blocked", "/secret"), ("sitemap_blocked", "/secret"), ("fragment_broken", "/"),
    }  # fmt: skip
    asked = [head.split(b" ")[1] for head in site.asked]
    assert asked.count(b"/a") == asked.count(b"/b") == 1
    assert b"/secret" not in asked


async def test_pages_are_compared_with_each_other(auditing: Opened) -> None:
    async with auditing(site := Site()) as auditor:
        base = auditor.base

        def canonical(path: str) -> str:
            return f'<link rel="canonical" href="{base}{path}">'

        def german(path: str) -> str:
            return f'<link rel="alternate" hreflang="de" href="{base}{path}">'

        site.pages = {
            "/": document(
                "Start", "/same-1", "/same-2", "/gone", "/old", "/c1", "/c2", "/c3", "/en", "/hidden", "/round"
            ),
            "/same-1": document("One title for two", words="word " * 201),
            "/same-2": document("One title for two", words="word " * 201),
            "/old": moved(f"{base}/same-1"),
            "/round": moved(f"{base}/and-round"),
            "/and-round": moved(f"{base}/round"),
            "/c1": document("Points to nothing", head=canonical("/gone")),
            "/c2": document("Points to a redirect", head=canonical("/old")),
            "/c3": document("Points to a hidden page", head=canonical("/hidden")),
            "/hidden": document("Hidden", head='<meta name="robots" content="noindex">'),
            "/en": document("English", "/de", head=german("/de")),
            "/de": document("German"),
        }
        run = await auditor.run()
        found = await auditor.found(run)
        diff = {
            ("link_broken", "/"),
            ("link_to_redirect", "/"),
            ("status_client_error", "/gone"),
            ("noindex", "/hidden"),
            ("redirect_loop", "/round"),
        }
        relations = {
            ("title_duplicate", "/same-1"), ("title_duplicate", "/same-2"), ("exact_duplicate", "/same-1"),
            ("exact_duplicate", "/same-2"), ("canonical_to_error", "/c1"), ("canonical_to_redirect", "/c2"),
            ("canonical_to_noindex", "/c3"), ("hreflang_no_return", "/en"),
        }  # fmt: skip
    names = {check for check, _ in diff | relations}
    assert only(found, *names) == diff | relations


async def test_findings_are_new_then_fixed_then_regressed_and_can_be_accepted(auditing: Opened) -> None:
    good = document("A page with a good long title")
    async with auditing(site := Site({"/": document("Start of a site with a title", "/a"), "/a": good})) as auditor:
        first = await auditor.run()
        again = await auditor.run()
        assert await auditor.findings(again, "new", "fixed", "regressed") == set(), "nothing has changed"
        site.pages["/a"] = document("Short")
        broken = await auditor.run()
        assert await auditor.findings(broken, "new", "fixed", "regressed") == {("title_short", "/a")}
        async with auditor.access.transaction() as tx:
            compared = await service.compare(tx, again.run_id, broken.run_id)
            assert ([one.check_id for one in compared.new], compared.fixed) == (["title_short"], [])
        site.pages["/a"] = good
        assert await auditor.findings(await auditor.run(), "fixed") == {("title_short", "/a")}
        site.pages["/a"] = document("Short")
        assert await auditor.findings(await auditor.run(), "regressed") == {("title_short", "/a")}
        async with auditor.access.transaction() as tx:
            [one] = [one for one in (await service.list_findings(tx, first.site_id)).data if one.state == "regressed"]
            await service.accept(tx, one.finding_id, note="by design", until=None)
        assert await auditor.findings(await auditor.run(), "accepted") == {("title_short", "/a")}


async def test_the_same_request_is_the_same_run_unless_it_is_forced(auditing: Opened) -> None:
    async with auditing(Site({"/": document("Start")})) as auditor:
        first = await auditor.ask(force=False)
        assert await auditor.ask(force=False) == RequestedRun(first.run_id, created=False)
        assert (await auditor.ask(force=False, max_pages=7)).run_id != first.run_id
        await auditor.ended(first.run_id)
        assert (await auditor.ask(force=False)).run_id == first.run_id, "it has just ended"
        assert (await auditor.ask(force=True)).run_id != first.run_id
        with pytest.raises(BadInput, match="leave out"):
            await auditor.ask("/a", include=["/b*"])
        with pytest.raises(BadInput, match="whole http"):
            async with auditor.access.transaction() as tx:
                await start_run.request_run(tx, "ftp://site.example/", Options())


async def test_limits_and_patterns_bound_a_crawl(auditing: Opened) -> None:
    many = Site({"/": document("Start", *(f"/p/{n}" for n in range(30)), "/x/1")})
    many.pages |= {f"/p/{n}": document(f"Page {n}", f"/p/{n}/more") for n in range(30)} | {"/x/1": document("X")}
    async with auditing(many) as auditor:
        few = await auditor.run(max_pages=5, exclude=["/x/*"])
        assert (few.pages, few.urls["left"]) == (5, 30)
        shallow = await auditor.run(max_depth=1, exclude=["/x/*"])
        assert shallow.pages == 31
        assert shallow.urls["left"] == 30
        assert await auditor.findings(few, "fixed") == set(), "what was not seen is not fixed"
        listed = await auditor.run(only=[f"{auditor.base}/p/1", f"{auditor.base}/p/2"])
        assert listed.pages == 2


async def test_a_canceled_audit_stops_and_stays_so(auditing: Opened) -> None:
    async with auditing(Site({"/": document("Start", *(f"/{n}" for n in range(200)))})) as auditor:
        asked = await auditor.ask()
        await RUNS.cancel(auditor.access, asked.run_id)
        ended = await auditor.ended(asked.run_id)
        assert (ended.state, ended.reason) == ("canceled", "canceled")
        with pytest.raises(Conflict, match="canceled already"):
            await RUNS.cancel(auditor.access, asked.run_id)


async def test_another_tenant_sees_nothing_of_it(auditing: Opened, cell: Cell, api_db: Database) -> None:
    async with auditing(Site({"/": document("Start")})) as auditor:
        run = await auditor.run()
    other = Access(Backend(Settings(), api_db), cell.tenant_b, "test")
    async with other.transaction() as tx:
        assert (await service.list_runs(tx), await service.list_sites(tx)) == ([], [])
        assert (await service.list_findings(tx, run.site_id)).data == []
        with pytest.raises(NotFound):
            await service.get_run(tx, run.run_id)


async def test_a_report_reads_without_scripts_and_a_table_without_formulas(auditing: Opened) -> None:
    async with auditing(Site({"/": document("<b>=1+1</b>", "/gone")})) as auditor:
        run = await auditor.run()
        async with auditor.access.transaction() as tx:
            issues = (await service.list_issues(tx, run.run_id)).data
            sample = await service.sample_issues(tx, run.run_id, each=1)
    html = report.as_html(run, auditor.base, sample)
    assert "<script" not in html
    assert report_of(run)["arithmetic"] in html
    table = report.as_csv([*issues, replace(issues[0], url="=cmd()", state=None)], left_out=3)
    assert "'=cmd(),," in table, "and an empty cell is empty"
    assert table.endswith(",,3 more issues are left out,,,\r\n")


@pytest.mark.long
@needs_corpora
async def test_the_manual_is_audited_as_it_is_known_although_a_worker_is_killed(cell: Cell) -> None:
    async with manual.crew(cell, Site(manual.answers(manual.manual()))) as workers:
        await manual.known(cell, await workers.audit(kill=True))
