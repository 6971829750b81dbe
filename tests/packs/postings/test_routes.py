"""``/v1/postings`` over HTTP: a real worker behind it, and boards on loopback."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4
from xml.etree import ElementTree

import httpx
import pytest

from leasehold.http.app import create_app, open_services
from leasehold.plugins.discovery import InstalledFeature
from leasehold_packs.postings import feature, stream
from tests.cell import Cell
from tests.fetch.world import page
from tests.http.conftest import Keys, bearer, key, settings_of
from tests.packs.postings.conftest import Opened
from tests.packs.postings.replay import Board, Boards
from tests.packs.postings.test_runs import board, job
from tests.waiting import eventually

__all__ = ["key"]  # a fixture

FOUND = InstalledFeature(feature=feature, distribution="leasehold", version="0")


class Api:
    """Somebody who calls with a key."""

    def __init__(self, http: httpx.AsyncClient, headers: dict[str, str]) -> None:
        self.http, self.headers = http, headers

    async def __call__(self, method: str, path: str, body: Any = None, *, status: int = 200, **params: Any) -> Any:
        answer = await self.http.request(
            method, f"/v1/postings{path}", json=body, params=params or None, headers=self.headers
        )
        assert answer.status_code == status, answer.text
        return answer.json() if "json" in answer.headers.get("content-type", "") else answer.text

    async def ended(self, run_id: str) -> dict[str, Any]:
        async def look() -> dict[str, Any]:
            run: dict[str, Any] = await self("GET", f"/runs/{run_id}")
            return {} if run["state"] == "running" else run

        return await eventually(look, what="the end of the run")

    async def run(self, **body: Any) -> dict[str, Any]:
        return await self.ended((await self("POST", "/runs", body, status=202))["run_id"])


@pytest.fixture
async def http(cell: Cell, tracking: Opened) -> AsyncIterator[httpx.AsyncClient]:
    async with open_services(settings_of(cell), loopback=True) as services:
        transport = httpx.ASGITransport(create_app(services, [FOUND]))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client


@pytest.fixture
def a(http: httpx.AsyncClient, key: Keys) -> Api:
    return Api(http, bearer(key.a))


@pytest.fixture
def b(http: httpx.AsyncClient, key: Keys) -> Api:
    return Api(http, bearer(key.b))


def lever() -> Board:
    return board("lever", job(1, "Rust Engineer"), job(2, "Cook"), job(3, "Clerk"))


async def test_a_board_is_followed_searched_and_exported(tracking: Opened, a: Api, b: Api) -> None:
    async with tracking(Boards([jobs := lever()])) as tracker:
        new = {"board": "lever", "slug": jobs.slug, "base": tracker.base, "company": "Acme"}
        source = await a("POST", "/sources", new, status=201)
        path = f"/sources/{source['source_id']}"
        assert (await a("POST", "/sources", new, status=409))["code"] == "conflict"
        assert (await a("POST", "/sources", {"board": "lever"}, status=422))["code"] == "invalid"
        saved = await a("POST", "/searches", {"name": "<Rust>", "query": {"q": "rust"}}, status=201)
        run = await a.ended((await a("POST", f"{path}/sync", status=202))["run_id"])
        assert (run["state"], run["counts"]["opened"]) == ("succeeded", 3)
        assert (await a("GET", path))["breaker"]["state"] == "closed"
        logs = (await a("GET", f"/runs/{run['run_id']}/logs"))["data"]
        assert [line["source"] for line in logs] == ["postings.list", "postings.settle", "postings.finish"]
        assert len((await a("GET", f"/runs/{run['run_id']}/logs", group="settle"))["data"]) == 1
        both = (await a("GET", f"/runs/{run['run_id']}/logs", group=["list", "finish"]))["data"]
        assert [line["source"] for line in both] == ["postings.list", "postings.finish"]
        await a("GET", f"/runs/{run['run_id']}/logs", group="all", status=400)

        found = await a("GET", "", q="engneer rsut", facets="true")
        assert found["corrected"] == {"q": "engineer rust", "instead_of": "engneer rsut"}
        assert ([one["title"] for one in found["data"]], found["total"]) == (["Rust Engineer"], 1)
        first = await a("GET", "", limit=2)
        rest = await a("GET", "", limit=2, cursor=first["next_cursor"])
        assert ([len(one["data"]) for one in (first, rest)], rest["has_more"]) == ([2, 1], False)
        await a("GET", "", cursor="nonsense", status=422)
        await a("GET", "", salary_min=5, status=422)
        posting = found["data"][0]["posting_id"]
        assert [event["kind"] for event in (await a("GET", f"/{posting}"))["events"]] == ["opened"]

        jobs.change(1, title="Senior Rust Engineer")
        await a.run()
        diff = await a("GET", f"/{posting}/diff", **{"from": 1, "to": 2})
        assert diff["fields"]["title"] == ["Rust Engineer", "Senior Rust Engineer"]
        assert len((await a("GET", f"/{posting}/versions"))["data"]) == 2
        feed = ElementTree.fromstring(await a("GET", f"/searches/{saved['search_id']}/feed.atom"))
        names = [one.text for one in feed.iter("{http://www.w3.org/2005/Atom}title")]
        assert names == ["<Rust>", "Senior Rust Engineer at Acme", "Senior Rust Engineer at Acme"]
        assert (await a("GET", "/export.csv")).count("\n") == 4
        assert len((await a("GET", "/export.json"))["data"]) == 3
        [company] = (await a("GET", "/companies"))["data"]
        assert company["open"] == 3
        weeks = (await a("GET", "/trends", company=company["company_id"], weeks=4))["data"]
        assert (len(weeks), sum(one["opened"] for one in weeks), weeks[-1]["open"]) == (4, 3, 3)
        assert {one["company"] for one in (await a("GET", "/ghosts"))["data"]} == {"Acme"}
        likely = await a("GET", "", q="rustengineer")
        assert ([one["title"] for one in likely["data"]], likely["alike"]) == (["Senior Rust Engineer"], True)

        for look in ("", "/sources", "/runs", "/searches", "/companies", "/ghosts"):
            assert (await b("GET", look))["data"] == []
        for look in (path, f"/runs/{run['run_id']}", f"/runs/{run['run_id']}/events", f"/runs/{run['run_id']}/logs",
                     f"/{posting}", f"/{posting}/versions", f"/searches/{saved['search_id']}"):  # fmt: skip
            await b("GET", look, status=404)
        await b("POST", f"/runs/{run['run_id']}/cancel", status=404)
        await b("PUT", f"/{posting}/application", {}, status=404)
        await a("DELETE", path, status=204)
        assert (await a("GET", ""))["data"] == []


async def test_a_person_has_settings_and_a_board_of_applications(tracking: Opened, a: Api) -> None:
    async with tracking(Boards([jobs := lever()])) as tracker:
        await tracker.add(jobs)
        assert await a("GET", "/settings") == {"companies": None, "title_include": [], "title_exclude": []}
        await tracker.run()
        assert len((await a("GET", "", mine="true"))["data"]) == 3
        await a("PUT", "/settings", {"title_exclude": ["cook", "c++ ("]})
        [rust, clerk] = sorted(
            (await a("GET", "", mine="true"))["data"], key=lambda one: str(one["title"]), reverse=True
        )
        await a("PUT", "/settings", {"companies": [str(uuid4())]})
        assert (await a("GET", "", mine="true"))["data"] == []
        assert (await a("POST", "/runs", {}, status=409))["code"] == "conflict", "no company of theirs has a source"

        for stage in ("saved", "applied", "applied", "interview"):
            await a("PUT", f"/{rust['posting_id']}/application", {"stage": stage, "note": f"now {stage}"})
        await a("PUT", f"/{clerk['posting_id']}/application", {"stage": "rejected", "due": "2026-12-01"})
        await a("PUT", f"/{clerk['posting_id']}/application", {"stage": "hired"}, status=422)
        told = await a("GET", "/applications")
        mine = next(one for one in told["data"] if one["posting_id"] == rust["posting_id"])
        assert [stage["stage"] for stage in mine["stages"]] == ["saved", "applied", "interview"]
        assert (mine["note"], all(stage["days"] >= 0 for stage in mine["stages"])) == ("now interview", True)
        [company] = told["companies"]
        assert company == {"company": "Acme", "saved": 2, "applied": 1, "interviews": 1, "offers": 0, "rejected": 1}
        await a("DELETE", f"/applications/{mine['application_id']}", status=204)
        await a("DELETE", f"/applications/{mine['application_id']}", status=404)


async def test_an_address_is_recognised_and_shown_before_anything_is_kept(tracking: Opened, a: Api) -> None:
    telling = {
        "@context": "https://schema.org", "@type": "JobPosting", "title": "Gardener", "description": "<p>Trees.</p>",
        "hiringOrganization": {"@type": "Organization", "name": "Green Ltd"},
        "jobLocation": {"@type": "Place", "address": {"addressLocality": "Graz", "addressCountry": "AT"}},
        "baseSalary": {"currency": "EUR", "value": {"minValue": 2500, "maxValue": 3000, "unitText": "MONTH"}},
    }  # fmt: skip
    boards = Boards([])
    async with tracking(boards) as tracker:
        boards.pages = {
            "/described": page(f'<script type="application/ld+json">{json.dumps(telling)}</script>'.encode()),
            "/linking": page(
                b'<a href="/jobs/baker-1234">Baker</a> <a href="/jobs/cook-99887">Cook</a> <a href="/about">Us</a>'
            ),
            "/known": page(b'<a href="https://ats.rippling.com/acme/jobs">Jobs</a>'),
            "/nothing": page(b"", status="500 Internal Server Error"),
        }
        told = await a("POST", "/detect", {"url": f"{tracker.base}/described"})
        assert (told["board"], told["company"], told["listed"]) == ("page", "Green Ltd", 1)
        assert told["postings"][0]["locations"] == ["Graz, AT"]
        assert told["postings"][0]["salary"]["interval"] == "month"
        told = await a("POST", "/detect", {"url": f"{tracker.base}/linking"})
        assert [one["title"] for one in told["postings"]] == ["Baker", "Cook"]
        told = await a("POST", "/detect", {"url": f"{tracker.base}/known"})
        assert (told["supported"], told["board"]) == (False, "Rippling")
        told = await a("POST", "/detect", {"url": "https://jobs.jobvite.com/acme"})
        assert (told["supported"], told["board"]) == (False, "Jobvite")
        await a("POST", "/detect", {"url": f"{tracker.base}/missing"}, status=422)
        await a("POST", "/detect", {"url": "ftp://acme.example"}, status=422)
        assert (await a("GET", "/sources"))["data"] == []

        source = await a("POST", "/sources", {"url": f"{tracker.base}/linking", "company": "Bread"}, status=201)
        boards.pages |= {
            "/jobs/baker-1234": page(b"<title>x</title><h1>Master Baker</h1><p>Bread from five in the morning.</p>"),
            "/jobs/cook-99887": page(f'<script type="application/ld+json">{json.dumps(telling)}</script>'.encode()),
        }
        run = await a.run(sources=[source["source_id"]])
        assert run["counts"]["opened"] == 2
        assert {one["title"] for one in (await a("GET", ""))["data"]} == {"Master Baker", "Gardener"}


async def test_a_run_is_told_as_it_goes_and_goes_on_where_a_reader_was(
    tracking: Opened, a: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "LOOK_SECONDS", 0.02)
    async with tracking(Boards([jobs := board("workday", *(job(n) for n in range(25)))])) as tracker:
        await tracker.add(jobs)
        run_id = str(await tracker.start())
        whole = messages(await a("GET", f"/runs/{run_id}/events"))
        assert (whole[0]["event"], whole[-1]["event"]) == ("state", "end")
        assert {one["event"] for one in whole[1:-1]} == {"patch"}
        numbers = [int(one["id"]) for one in whole[:-1]]
        assert numbers == sorted(numbers)
        assert whole[-1]["id"] == f"{numbers[-1]}-end"
        assert applied(whole) == {f"JR{n}": "ready opened" for n in range(25)}
        assert whole[-1]["data"] == {"state": "succeeded", "reason": None}

        again = Api(a.http, a.headers | {"Last-Event-ID": str(numbers[1])})
        rest = messages(await again("GET", f"/runs/{run_id}/events"))
        assert applied([*whole[:2], *rest]) == applied(whole)
        assert rest[0]["event"] == "patch"
        beyond = Api(a.http, a.headers | {"Last-Event-ID": "999999"})
        assert [one["event"] for one in messages(await beyond("GET", f"/runs/{run_id}/events"))] == [
            "reset",
            "state",
            "end",
        ]
        nonsense = Api(a.http, a.headers | {"Last-Event-ID": "x"})
        assert messages(await nonsense("GET", f"/runs/{run_id}/events"))[1]["event"] == "state"
        cut = Api(a.http, a.headers | {"Last-Event-ID": str(numbers[-1])})
        assert messages(await cut("GET", f"/runs/{run_id}/events")) == whole[-1:]
        seen = Api(a.http, a.headers | {"Last-Event-ID": whole[-1]["id"]})
        await seen("GET", f"/runs/{run_id}/events", status=204)
        assert (await a("POST", f"/runs/{run_id}/cancel", status=409))["code"] == "conflict"


def messages(text: str) -> list[dict[str, Any]]:
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in fields:
            found.append(fields | {"data": json.loads(fields["data"])})
    return found


def applied(told: list[dict[str, Any]]) -> dict[str, str]:
    """What a reader knows after these messages."""
    known: dict[str, str] = {}
    for one in told:
        for item in one["data"].get("items", []):
            known[item["external_id"]] = f"{item['state']} {item['outcome']}"
    return known
