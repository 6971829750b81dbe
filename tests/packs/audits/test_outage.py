"""A site that cannot be read, as a whole or in part: what is known of it stays as it was."""

from collections.abc import Iterable
from typing import Any

import pytest

from leasehold_packs.audits import service, start_run
from leasehold_packs.audits.model_results import SiteAudit
from tests.fetch.world import Site, moved, page
from tests.packs.audits.test_runs import Auditor, Opened, auditing, document, only, report_of

__all__ = ["auditing"]

DOWN = page(b"busy", status="503 Service Unavailable")
#: Every page that answers like this was not read: it says nothing about its faults.
UNREAD = ["503 Service Unavailable", "500 Oops", "429 Too Many Requests", "403 Forbidden", "401 Unauthorized"]


def site() -> Site:
    """Some faults of every sort: of one page, between pages, and of what is not there."""
    return Site(
        {
            "/": document("The start of a site of some pages", "/a", "/b", "/c", "/old", "/gone"),
            "/a": document("Short", "/b#nowhere"),
            "/b": document("One title that two pages have", "/deep"),
            "/c": document("One title that two pages have", words="few"),
            "/deep": document("A page that only one page leads to"),
            "/old": moved("/a"),
        }
    )


def down(site: Site, paths: Iterable[str], status: str = "503 Service Unavailable") -> dict[str, bytes]:
    """What the site was before these pages stopped answering."""
    before = dict(site.pages)
    site.pages |= {path: page(b"no", status=status) for path in paths}
    return before


async def states(auditor: Auditor, run: SiteAudit) -> dict[tuple[str, str], tuple[str, str | None]]:
    """What became of each finding so far, and the note of those that were accepted."""
    async with auditor.access.transaction() as tx:
        found = (await service.list_findings(tx, run.site_id, limit=10_000)).data
    return {
        (one.check_id, one.url.removeprefix(auditor.base)): (one.state, one.note)
        for one in found
        if one.check_id not in ("slow_first_byte", "status_server_error", "fetch_failed")
    }


async def accepted(auditor: Auditor, run: SiteAudit) -> None:
    async with auditor.access.transaction() as tx:
        for one in (await service.list_findings(tx, run.site_id, limit=10_000)).data:
            if one.check_id == "title_short":
                await service.accept(tx, one.finding_id, note="by design", until=None)


@pytest.mark.parametrize("status", UNREAD)
async def test_a_site_that_cannot_be_read_fails_the_run_and_changes_no_finding(auditing: Opened, status: str) -> None:
    async with auditing(made := site()) as auditor:
        first = await auditor.run()
        await accepted(auditor, first)
        await auditor.run()
        before = await states(auditor, first)
        assert ("accepted", "by design") in before.values()
        pages = down(made, [*made.pages, "/gone", "/robots.txt", "/sitemap.xml"], status)
        run = await auditor.run()
        assert (run.state, run.score) == ("failed", None)
        assert str(run.reason).startswith(f"the site could not be reached: {auditor.base}/")
        assert await states(auditor, first) == before
        made.pages = pages
        again = await auditor.run()
        assert again.state == "succeeded"
        assert await states(auditor, first) == before, "nothing was fixed, and nothing came back"


async def test_a_site_that_nobody_serves_fails_the_run(auditing: Opened) -> None:
    async with auditing(Site({"/": document("Start")})) as auditor:
        auditor.base = "http://127.0.0.1:9"
        refused = await auditor.run()
        auditor.base = "http://nobody.invalid"
        unknown = await auditor.run()
    for run, base in ((refused, "http://127.0.0.1:9/"), (unknown, "http://nobody.invalid/")):
        assert (run.state, run.score, run.report) == ("failed", None, None)
        assert str(run.reason).startswith(f"the site could not be reached: {base}: ")


@pytest.mark.parametrize("status", UNREAD)
async def test_where_half_of_the_pages_cannot_be_read_the_others_alone_say_something(
    auditing: Opened, status: str
) -> None:
    async with auditing(made := site()) as auditor:
        first = await auditor.run()
        await accepted(auditor, first)
        before = await states(auditor, await auditor.run())
        pages = down(made, ["/a", "/b", "/gone"], status)
        made.pages["/c"] = document("A title that no other page has, and many words")
        run = await auditor.run()
        found = await auditor.found(run)
        assert (run.state, report_of(run)["unread"]) == ("succeeded", 4), "/old leads to /a"
        fixed = {("thin", "/c"), ("title_duplicate", "/c")}
        expected = {one: ("fixed", note) if one in fixed else (state, note) for one, (state, note) in before.items()}
        assert {one: told for one, told in (await states(auditor, first)).items() if one in before} == expected
        assert only(found, "orphan", "deep", "link_broken", "fragment_broken") == set(), "nobody knows"
        made.pages = pages
        after = await states(auditor, await auditor.run())
    assert {one: state for one, (state, _) in after.items() if one in before} == {
        one: state for one, (state, _) in before.items()
    } | dict.fromkeys(fixed, "regressed")


async def test_what_has_failed_for_long_does_not_keep_the_rest_from_being_judged(auditing: Opened) -> None:
    async with auditing(made := site()) as auditor:
        made.pages["/c"] = DOWN
        made.pages["/alone"] = document("A page that only the sitemap names")
        made.pages["/sitemap.xml"] = sitemap(auditor, "/alone")
        first = await auditor.run()
        assert only(await auditor.found(first), "orphan") == set(), "the page that fails might link to it"
        made.pages["/b"] = document("Another title", "/deep")
        second = await auditor.run()
        assert only(await auditor.found(second), "orphan") == {("orphan", "/alone")}
        made.pages["/a"] = document("Short", "/b")
        after = await states(auditor, await auditor.run())
        assert after[("fragment_broken", "/a")][0] == "fixed"


async def test_pages_that_robots_txt_closes_are_unknown(auditing: Opened) -> None:
    async with auditing(made := site()) as auditor:
        made.pages["/robots.txt"] = page(b"User-agent: *\nDisallow:\n")
        first = await auditor.run()
        before = await states(auditor, first)
        made.pages["/robots.txt"] = page(b"User-agent: *\nDisallow: /b\n")
        asked = len(made.asked)
        run = await auditor.run()
        assert b"/b" not in {head.split(b" ")[1] for head in made.asked[asked:]}
        after = await states(auditor, run)
    assert (run.state, run.urls["blocked"]) == ("succeeded", 1)
    closed = {one for one in before if one[1] in ("/b", "/deep")}
    assert len(closed) > 4
    assert {one: after[one] for one in closed} == dict.fromkeys(closed, ("new", None))


@pytest.mark.parametrize("answer", [DOWN, page(b"slow down", status="429 Too Many Requests")])
async def test_a_robots_txt_that_cannot_be_read_closes_the_site(auditing: Opened, answer: bytes) -> None:
    async with auditing(made := site()) as auditor:
        before = await states(auditor, first := await auditor.run())
        made.pages["/robots.txt"] = answer
        run = await auditor.run()
        assert run.state == "failed"
        assert "/robots.txt cannot be read" in str(run.reason)
        assert await states(auditor, first) == before


async def test_pages_of_a_sitemap_that_cannot_be_read_are_unknown(auditing: Opened) -> None:
    async with auditing(made := site()) as auditor:
        made.pages["/alone"] = document("Alone")
        made.pages["/sitemap.xml"] = sitemap(auditor, "/alone")
        first = await auditor.run()
        before = await states(auditor, first)
        made.pages["/sitemap.xml"] = DOWN
        run = await auditor.run()
        assert run.state == "succeeded"
        after = await states(auditor, run)
        assert after[("title_short", "/alone")] == before[("title_short", "/alone")] == ("new", None)
        del made.pages["/sitemap.xml"]
        gone = await states(auditor, await auditor.run())
        assert gone[("title_short", "/alone")][0] == "fixed", "nothing names it any more"


@pytest.mark.parametrize("options", [{"exclude": ["/a*"]}, {"max_depth": 0}, {"sitemaps": False}, {"only": True}])
async def test_a_run_says_nothing_of_pages_that_it_was_not_to_look_at(
    auditing: Opened, options: dict[str, Any]
) -> None:
    async with auditing(made := site()) as auditor:
        made.pages["/alone"] = document("Alone")
        made.pages["/sitemap.xml"] = sitemap(auditor, "/alone")
        await auditor.run()
        if options.get("only"):
            options = {"only": [f"{auditor.base}/c"]}
        run = await auditor.run(**options)
        assert run.state == "succeeded"
        assert await auditor.findings(run, "fixed") == set()


async def test_a_run_that_failed_goes_on_when_its_site_is_back(auditing: Opened) -> None:
    async with auditing(made := site()) as auditor:
        pages = down(made, made.pages)
        run = await auditor.run()
        assert run.state == "failed"
        made.pages = pages
        async with auditor.access.transaction() as tx:
            await start_run.resume(tx, run.run_id)
        ended = await auditor.ended(run.run_id)
        assert (ended.state, ended.pages) == ("succeeded", 5)
        assert only(await auditor.found(ended), "status_server_error", "fetch_failed") == set()


def sitemap(auditor: Auditor, *paths: str) -> bytes:
    listed = "".join(f"<url><loc>{auditor.base}{path}</loc></url>" for path in paths)
    return page(f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{listed}</urlset>".encode())
