"""What is shown of boards whose addresses carry secrets: everything but these."""

import json

from leasehold_packs.postings import store_runs
from tests.cell import Cell
from tests.fetch.world import page
from tests.packs.kept import KEPT_BY_THE_ENGINE
from tests.packs.postings.conftest import Opened
from tests.packs.postings.replay import Boards
from tests.packs.postings.test_routes import Api, a, http, key

__all__ = ["a", "http", "key"]

KEY = "s3cr3tk3y0f0ur5h0p1234"
#: Where a job's order is, what became of it, and whatever was told of it.
KEPT = f"{KEPT_BY_THE_ENGINE} union all select 'run log', message from leasehold_postings.run_log"


def careers() -> bytes:
    links = (
        f"<a href='/jobs/rust-engineer?token={KEY}'>Rust Engineer</a> <a href='/jobs/lost-cook?token={KEY}'>Cook</a>"
    )
    return page(f"<title>Jobs</title><h1>Jobs</h1>{links}".encode(), "Content-Type: text/html")


def posting(base: str) -> bytes:
    told = {"@type": "JobPosting", "title": "Rust Engineer", "url": f"{base}/jobs/rust-engineer?token={KEY}"}
    told |= {"@context": "https://schema.org", "description": "Write Rust, every day, with others."}
    head = f"<script type='application/ld+json'>{json.dumps(told)}</script>"
    return page(f"<title>Rust Engineer</title>{head}<h1>Rust Engineer</h1>".encode(), "Content-Type: text/html")


async def test_no_secret_of_an_address_is_shown_anywhere(cell: Cell, tracking: Opened, a: Api) -> None:
    async with tracking(boards := Boards([])) as tracker:
        boards.pages = {"/jobs": careers(), "/jobs/rust-engineer": posting(tracker.base)}
        new = {"url": f"{tracker.base}/jobs?api_key={KEY}", "company": "Acme"}
        source = await a("POST", "/sources", new, status=201)
        broken = await a("POST", "/sources", {"url": f"{tracker.base}/gone?api_key={KEY}", "company": "B"}, status=201)
        again = await a("POST", "/sources", new, status=409)
        assert KEY not in json.dumps([source, broken, again])
        assert source["url"].endswith("/jobs?api_key=[redacted]")
        saved = await a("POST", "/searches", {"name": "Rust", "query": {"q": "rust"}}, status=201)
        run = await a.run()
        found = (await a("GET", ""))["data"]
        assert [one["title"] for one in found] == ["Rust Engineer"]
        at = f"/{found[0]['posting_id']}"
        for path in (
            "", at, f"{at}/versions", "/export.csv", "/export.json", "/runs", f"/runs/{run['run_id']}",
            f"/runs/{run['run_id']}/logs", f"/searches/{saved['search_id']}/feed.atom", "/sources",
            *(f"/sources/{one['source_id']}" for one in (source, broken)),
        ):  # fmt: skip
            assert KEY not in json.dumps(await a("GET", path)), path
        async with tracker.access.transaction() as tx:
            assert KEY not in str(await store_runs.run_changes(tx, run["run_id"]))
    kept = await cell.look(KEPT)
    assert len(kept) > 10
    assert [row for row in kept if KEY in (row["text"] or "")] == []
    assert KEY in json.dumps(await cell.look("select base from leasehold_postings.source")), "it has to be asked for"
