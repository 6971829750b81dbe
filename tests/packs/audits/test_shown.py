"""What is shown of an audit: all of it, or how much is left out, and no secret of an address."""

import json
from typing import Any

from leasehold_packs.audits import service
from leasehold_packs.audits.model_results import AuditSummary, Page
from tests.cell import Cell
from tests.fetch.world import Site, moved, page
from tests.packs.audits.test_pages import visiting
from tests.packs.audits.test_runs import HTML, Auditor, Opened, auditing, document, report_of
from tests.packs.kept import KEPT_BY_THE_ENGINE

__all__ = ["auditing"]

KEY = "s3cr3tk3y0f0ur5h0p1234"
HIDDEN = f"/a?api_key={KEY}"


async def test_a_list_says_where_it_goes_on_until_all_of_it_was_seen(auditing: Opened) -> None:
    site = Site({f"/{n}": document(f"Page {n}", "/gone") for n in range(12)})
    site.pages["/"] = document("Start", *site.pages)
    async with auditing(site) as auditor:
        run = await auditor.run()
        every = sum(report_of(run)["checks"].values())
        for name, asked, expected in (
            ("list_issues", run.run_id, every),
            ("list_issues", run.run_id, report_of(run)["checks"]["title_short"]),
            ("list_urls", run.run_id, 14),
            ("list_findings", run.site_id, every),
        ):
            filters = {"check": "title_short"} if expected == report_of(run)["checks"]["title_short"] else {}
            whole = (await part(auditor, name, asked, limit=10_000, **filters)).data
            crawled: list[Any] = []
            cursor: str | None = None
            while True:
                some = await part(auditor, name, asked, limit=5, cursor=cursor, **filters)
                assert len(some.data) == 5 or some.next_cursor is None
                crawled += some.data
                if (cursor := some.next_cursor) is None:
                    break
            assert crawled == whole
            assert len(whole) == expected
        async with auditor.access.transaction() as tx:
            sample = await service.sample_issues(tx, run.run_id, each=2)
    assert {one.check_id: one.pages for one in sample} == report_of(run)["checks"]
    assert max(len(one.issues) for one in sample) == 2


async def part(auditor: Auditor, name: str, *asked: Any, **given: Any) -> Page[Any]:
    async with auditor.access.transaction() as tx:
        found: Page[Any] = await getattr(service, name)(tx, *asked, **given)
        return found


async def test_no_secret_of_an_address_is_shown_anywhere(cell: Cell, auditing: Opened) -> None:
    head = f'<link rel="canonical" href="/a?token={KEY}"><link rel="alternate" hreflang="de" href="/a?token={KEY}">'
    answer = page(
        document("Same title", "/", head=head).partition(b"\r\n\r\n")[2], HTML, f"Set-Cookie: sid={KEY}; Path=/"
    )
    site = Site(
        {
            "/": document("Same title", HIDDEN, f"/gone?key={KEY}AIza", f"/moved?sig={KEY}", f"/down?secret={KEY}"),
            HIDDEN: answer,
            f"/moved?sig={KEY}": moved(f"/moved-again?sig={KEY}"),
            f"/moved-again?sig={KEY}": moved(HIDDEN),
            f"/down?secret={KEY}": page(b"no", status="500 Oops"),
            "/robots.txt": page(b"User-agent: *\nDisallow: /private\n"),
        }
    )
    async with auditing(site) as auditor, visiting(cell) as client:
        start = f"/?access_token={KEY}"
        site.pages[start] = site.pages["/"]
        begun = await client.post("/audits", data={"url": auditor.base + start})
        [first] = [one for one in await part_of_runs(auditor) if begun.headers["location"].endswith(str(one.run_id))]
        run = await auditor.ended(first.run_id)
        assert run.state == "succeeded"
        after = await auditor.run(start)
        at, api = f"/audits/{run.run_id}", f"/v1/audits/{run.run_id}"
        keys = [one.key for one in (await part(auditor, "list_urls", run.run_id, limit=100)).data]
        checks = report_of(run)["checks"]
        asked = [
            "/audits", at, f"{at}/report", f"/audits/sites/{run.site_id}",
            f"/audits/{after.run_id}/compare?before={run.run_id}",
            *(f"{at}/checks/{name}" for name in checks), *(f"{at}/page?key={key}" for key in keys),
            "/v1/audits", "/v1/audits/sites", f"/v1/audits/sites/{run.site_id}/findings", api,
            f"{api}/issues", f"{api}/urls", *(f"{api}/url?key={key}" for key in keys),
            *(f"{api}/report.{form}" for form in ("html", "json", "csv")),
            f"{api}/diff/{after.run_id}", f"{api}/events",
        ]  # fmt: skip
        for address in asked:
            found = await client.get(address)
            assert found.status_code == 200, (address, found.text)
            assert KEY not in found.text, address
    kept = await cell.look(
        f"{KEPT_BY_THE_ENGINE} union all"
        " select 'told', concat(message, data) from leasehold_audits.event union all"
        " select 'run', concat(reason, report) from leasehold_audits.run"
    )
    assert len(kept) > 20
    assert [row["what"] for row in kept if KEY in (row["text"] or "")] == []
    assert KEY in json.dumps(await cell.look("select url from leasehold_audits.url")), "it has to be asked for"


async def part_of_runs(auditor: Auditor) -> list[AuditSummary]:
    async with auditor.access.transaction() as tx:
        return await service.list_runs(tx)
