"""``report.generate``: lines of the tenant's own rows, or handed in, in every format."""

import csv
import io
import json
import re
import zipfile
from functools import partial
from html.parser import HTMLParser
from typing import Any
from uuid import UUID
from xml.etree import ElementTree

import httpx
import pytest

from leasehold import Context, Fail, Leasehold
from leasehold.database.database import Database, Role
from leasehold.engine import jobs, maintenance
from leasehold.features.blobs.store import Bodies
from leasehold.features.reports import handlers as report
from leasehold.features.reports import store as reports
from leasehold.features.reports.chart import bars
from leasehold.http.app import Services
from leasehold.job import Job
from leasehold.sealing import Keys
from tests.cell import Cell
from tests.features.webhooks.hooks import hooks_to, receiving, working
from tests.http.conftest import SECRET_KEY, client_of, make_key, settings_of
from tests.waiting import eventually
from tests.worker.running import FAST, Shop, running

app = Leasehold(FAST)
app.include(report.app)


@app.handler("t.work", attempts=2, retry_base_s=0.01)
async def work(ctx: Context, how: str) -> None:
    if how == "errs":
        raise RuntimeError("=cmd|' /C calc'!A0")
    if how == "fails":
        raise Fail("<script>alert(1)</script>")


async def made(cell: Cell, db: Database, shop: Shop, **order: Any) -> str:
    """The text of the report that this order makes."""
    return (await made_bytes(cell, db, shop, **order)).decode()


async def made_bytes(cell: Cell, db: Database, shop: Shop, **order: Any) -> bytes:
    job = await shop.run("report.generate", order)
    assert job.state == "succeeded", job.error
    return await Bodies(db, cell.tenant_a, days=1).get(job.result["sha256"])


async def test_jobs_as_csv(cell: Cell, worker_db: Database, shop: Shop) -> None:
    async with running(cell, app, FAST):
        ended = [await shop.run("t.work", how) for how in ("works", "errs", "fails")]
        await jobs.enqueue(worker_db, cell.tenant_b, "t.work", ['"works"'], {})
        text = await made(cell, worker_db, shop, report="jobs", format="csv", kind="t.work")
        failed = await made(cell, worker_db, shop, report="jobs", format="csv", state="failed")
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [line["job_id"] for line in lines] == [str(job.job_id) for job in ended], "no other tenant's, oldest first"
    assert [(line["state"], line["attempts"], line["error"]) for line in lines] == [
        ("succeeded", "1", ""),
        ("dead", "2", "'=cmd|' /C calc'!A0"),  # a spreadsheet would run it
        ("failed", "1", "<script>alert(1)</script>"),
    ]
    assert [line["state"] for line in csv.DictReader(io.StringIO(failed))] == ["failed"]


async def test_attempts_as_json(cell: Cell, worker_db: Database, shop: Shop) -> None:
    async with running(cell, app, FAST):
        job = await shop.run("t.work", "errs")
        text = await made(
            cell, worker_db, shop, report="attempts", format="json", kind="t.work", title="Attempts of May"
        )
    read = json.loads(text)
    assert read["title"] == "Attempts of May"
    assert [(line["job_id"], line["attempt"], line["outcome"]) for line in read["lines"]] == [
        (str(job.job_id), 1, "errored"),
        (str(job.job_id), 2, "errored"),
    ]
    assert tuple(read["lines"][0]) == tuple(read["columns"])


async def test_a_report_of_many_pages_is_whole(cell: Cell, worker_db: Database, shop: Shop) -> None:
    ids = await shop.enqueue_many("t.other", ["x"] * 2500, delay_s=3600)
    async with running(cell, app, FAST):
        text = await made(cell, worker_db, shop, report="jobs", format="csv", kind="t.other")
    assert [line["job_id"] for line in csv.DictReader(io.StringIO(text))] == [str(job_id) for job_id in ids]


async def test_the_period_is_kept(cell: Cell, worker_db: Database, shop: Shop) -> None:
    [old] = await shop.enqueue_many("t.other", ["x"])
    await cell.pass_time(3 * 86400)
    await maintenance.make_partitions(worker_db)
    [new] = await shop.enqueue_many("t.other", ["x"])
    async with running(cell, app, FAST):
        recent = await made(cell, worker_db, shop, report="jobs", format="csv", kind="t.other", days=1)
        both = await made(cell, worker_db, shop, report="jobs", format="csv", kind="t.other", days=7)
    assert [line["job_id"] for line in csv.DictReader(io.StringIO(recent))] == [str(new)]
    assert [line["job_id"] for line in csv.DictReader(io.StringIO(both))] == [str(old), str(new)]


async def test_activity_as_a_page_with_a_chart(cell: Cell, worker_db: Database, shop: Shop) -> None:
    async with running(cell, app, FAST):
        for how in ("works", "works", "fails"):
            await shop.run("t.work", how)
        await cell.pass_time(120)
        await maintenance.roll_up_job_counts(worker_db)
        text = await made(cell, worker_db, shop, report="activity", kind="t.work")
    [svg] = re.findall(r"<svg.*?</svg>", text)
    ElementTree.fromstring(svg)
    assert "succeeded 2</title>" in svg
    assert "failed 1</title>" in svg
    cells = re.findall(r"<td[^>]*>(.*?)</td>", text)
    assert [cells[n : n + 4][1:] for n in range(0, len(cells), 6)] == [
        ["t.work", "failed", "1"],
        ["t.work", "succeeded", "2"],
    ]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)


async def test_data_that_is_handed_in_and_nothing_of_it_is_markup(cell: Cell, worker_db: Database, shop: Shop) -> None:
    bad = "</td><script>alert(1)</script>"
    data = [{"day": f"2026-11-{n:02}", "sold": n, bad: bad} for n in range(1, 31)]
    async with running(cell, app, FAST):
        text = await made(cell, worker_db, shop, data=data, title=bad, chart={"x": "day", "y": ["sold"]})
    tags = Tags()
    tags.feed(text)
    assert "script" not in tags.seen
    assert {"svg", "table", "thead"} <= tags.seen
    assert '<td class="n">30</td>' in text
    assert "http:" not in text.replace("http://www.w3.org/2000/svg", ""), "it asks nobody for anything"


async def test_data_as_a_workbook(cell: Cell, worker_db: Database, shop: Shop) -> None:
    data = [{"name": "=1+1", "n": 2.5, "more": None}, {"name": "<b>", "n": -7, "more": [1, 2]}]
    async with running(cell, app, FAST):
        raw = await made_bytes(cell, worker_db, shop, data=data, columns=["name", "n", "more"], format="xlsx")
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            ElementTree.fromstring(archive.read(name))
        sheet = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    rows = [["".join(cell.itertext()) for cell in row] for row in sheet[0]]
    assert rows == [["name", "n", "more"], ["=1+1", "2.5", ""], ["<b>", "-7", "[1, 2]"]]
    assert not list(sheet.iter("{*}f")), "a text is no formula"


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ({}, "either the name of a report or data"),
        ({"report": "jobs", "data": []}, "either the name of a report or data"),
        ({"report": "select * from secret"}, "Input should be"),
        ({"report": "activity", "state": "dead"}, "activity has no filter state"),
        ({"report": "jobs", "since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}, "since is not before"),
    ],
)
async def test_what_cannot_be_made_fails_and_says_why(
    cell: Cell, shop: Shop, order: dict[str, Any], words: str
) -> None:
    async with running(cell, app, FAST):
        job = await shop.run("report.generate", order)
    assert job.state == "failed"
    assert words in json.dumps(job.error)


async def test_endpoints_are_told_when_it_is_ready(cell: Cell, shop: Shop) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        await hooks.add(receiver, "report.ready")
        async with working(cell, hooks.settings, report.app):
            job = await shop.run("report.generate", {"report": "jobs", "format": "csv"})
            await hooks.settled(hurry=True)
    [event] = receiver.events
    assert event["subject_id"] == event["data"]["report_id"] == str(job.job_id)


async def test_a_report_goes_when_its_days_are_over(cell: Cell, worker_db: Database, shop: Shop) -> None:
    async with running(cell, app, FAST):
        await shop.run("report.generate", {"report": "jobs", "keep_days": 2})
    assert len(await cell.look("select * from leasehold.report")) == 1
    await cell.pass_time(3 * 86400)
    await worker_db.call("purge_reports")
    await maintenance.purge(worker_db, history_days=90, result_days=7)
    assert await cell.look("select * from leasehold.report") == []
    assert await cell.look("select * from leasehold.body") == []


@pytest.mark.parametrize("highest", [0, 0.004, 1, 3, 7, 99, 12_345, 10**12])
def test_every_bar_fits_into_its_chart(highest: float) -> None:
    drawn = ElementTree.fromstring(bars(["a", "b<"], {"n": [highest, highest / 2]}, title="t"))
    for rect in drawn.iter("{http://www.w3.org/2000/svg}rect"):
        assert 0 <= float(rect.attrib["y"]) <= 260
        assert float(rect.attrib["height"]) >= 0


# -- over HTTP ------------------------------------------------------------------------------------------------------


@pytest.fixture
async def services(cell: Cell) -> Any:
    from leasehold.http.app import open_services

    async with open_services(settings_of(cell, public_url="https://jobs.example.com/"), loopback=True) as opened:
        yield opened


async def ready(cell: Cell, shop: Shop, a: httpx.AsyncClient, **order: Any) -> tuple[str, Job]:
    """The id of a report that was asked for over HTTP, and its job."""
    asked = await a.post("/v1/reports", json=order)
    assert asked.status_code == 202, asked.text
    report_id = asked.json()["report_id"]
    assert asked.headers["location"] == f"/v1/reports/{report_id}"
    async with running(cell, app, FAST):
        return report_id, await shop.ended(UUID(report_id))


async def test_a_report_over_http_and_by_a_link_without_a_key(cell: Cell, shop: Shop, services: Services) -> None:
    keys = [await make_key(cell, tenant) for tenant in (cell.tenant_a, cell.tenant_b)]
    async with client_of(services, keys[0]) as a, client_of(services, keys[1]) as b, client_of(services) as stranger:
        report_id, _ = await ready(cell, shop, a, report="jobs", format="html", title="All jobs")
        listed = (await a.get("/v1/reports")).json()["data"]
        assert [(one["report_id"], one["title"], one["format"]) for one in listed] == [(report_id, "All jobs", "html")]
        content = await a.get(f"/v1/reports/{report_id}/content")
        assert content.text.startswith("<!doctype html>")
        assert "script-src" not in content.headers["content-security-policy"]
        assert content.headers["content-type"].startswith("text/html")

        linked = (await a.get(f"/v1/reports/{report_id}", params={"link_hours": 1})).json()
        assert linked["link"].startswith(f"https://jobs.example.com/v1/reports/{report_id}/file?")
        path = linked["link"].removeprefix("https://jobs.example.com")
        opened = await stranger.get(path)
        assert (opened.status_code, opened.content) == (200, content.content)

        assert (await stranger.get(path[:-1] + ("A" if path[-1] != "A" else "B"))).status_code == 403
        later = re.sub(r"expires=(\d+)", lambda found: f"expires={int(found[1]) + 1}", path)
        assert (await stranger.get(later)).status_code == 403
        for address in ("", "/content"):
            assert (await b.get(f"/v1/reports/{report_id}{address}")).status_code == 404
            assert (await stranger.get(f"/v1/reports/{report_id}{address}")).status_code == 401
        assert (await b.delete(f"/v1/reports/{report_id}")).status_code == 404
        assert (await a.delete(f"/v1/reports/{report_id}")).status_code == 204
        assert (await stranger.get(path)).status_code == 404, "a link leads nowhere once the report is removed"


async def test_a_schedule_makes_a_report_each_week_and_its_link_ends(
    cell: Cell, shop: Shop, services: Services
) -> None:
    order = {"report": "jobs", "format": "csv", "title": "The week", "keep_days": 30}
    weekly = {"kind": "report.generate", "payload": order, "cron": "0 6 * * 1", "zone": "Europe/Berlin"}
    key = await make_key(cell, cell.tenant_a)
    async with client_of(services, key) as a, client_of(services) as stranger:

        async def made(n: int) -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = (await a.get("/v1/reports")).json()["data"]
            return found if len(found) >= n else []

        assert (await a.put("/v1/schedules/weekly-report", json=weekly)).status_code in (200, 201)
        for week in (1, 2):
            await cell.pass_time(7 * 86_400)
            async with running(cell, app, FAST):
                done = await shop.run("t.work", "works")
                [newest, *_] = found = await eventually(partial(made, week), what="the report of the week")
            assert (len(found), newest["title"]) == (week, "The week")
        address = f"/v1/reports/{newest['report_id']}"
        linked = (await a.get(address)).json()["link"].removeprefix("https://jobs.example.com")
        opened = await stranger.get(linked)
        assert opened.status_code == 200
        assert "t.work" in opened.text
        brief = (await a.get(address, params={"link_hours": 0.0005})).json()["link"]
        path = brief.removeprefix("https://jobs.example.com")

        async def is_over() -> bool:
            return (await stranger.get(path)).status_code == 403

        await eventually(is_over, what="the end of the link")
        assert (await stranger.get(linked)).status_code == 200, "that of the other is later"
    assert done.state == "succeeded"


async def test_a_link_holds_until_its_moment_and_no_longer(cell: Cell) -> None:
    keys, report_id = Keys([SECRET_KEY]), UUID(int=7)
    assert reports.is_signed(keys, report_id, 2**33, keys.sign(f"report {report_id} until {2**33}"))
    assert not reports.is_signed(keys, report_id, 1, keys.sign(f"report {report_id} until 1")), (
        "it was signed, for 1970"
    )
    assert not reports.is_signed(Keys(["another key of at least 32 characters"]), report_id, 2**33, "ä")


async def test_what_cannot_be_made_is_refused_before_it_is_enqueued(cell: Cell, services: Services) -> None:
    key = await make_key(cell, cell.tenant_a)
    async with client_of(services, key) as a:
        refused = await a.post("/v1/reports", json={"report": "jobs", "sql": "select 1"})
        assert refused.status_code == 422
    async with cell.database(Role.API) as db:
        assert await jobs.list_jobs(db, cell.tenant_a, {}) == []
