"""Streams of a whole tenant: /v1/events and /v1/logs."""

import asyncio
import json
import random
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import asyncpg
import httpx
import pytest

from leasehold.database.database import Role
from leasehold.engine import jobs, maintenance
from leasehold.features.activity.poller import Feed
from leasehold.features.flows import store as flows
from leasehold.http.app import Services
from leasehold.remote.sse import Message, Reader
from tests.cell import Cell
from tests.http.conftest import Hand, Keys, bearer, problem, settings_of
from tests.waiting import PATIENCE_SECONDS, eventually

_TLS = ssl.create_default_context()  # made once: it takes longer than a request, and is not even used


@pytest.fixture
async def url(cell: Cell) -> AsyncIterator[str]:
    from leasehold.http.server import serving

    async with serving(settings_of(cell, port=0, streams_per_tenant=3)) as found:
        yield found


@asynccontextmanager
async def stream(url: str, key: Any, path: str = "/v1/events", last: str | None = None) -> AsyncIterator["Listening"]:
    headers = {"Accept": "text/event-stream"} | ({} if last is None else {"Last-Event-ID": last})
    headers |= {} if key is None else bearer(key)
    client = httpx.AsyncClient(base_url=url, verify=_TLS)
    async with client as http, http.stream("GET", path, headers=headers, timeout=60) as got:
        assert got.status_code == 200, await got.aread()
        yield Listening(got)


class Listening:
    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.aiter_lines()
        self._reader = Reader()

    async def next(self) -> Message:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                if message := self._reader.take(await anext(self._lines)):
                    return message

    async def facts(self, n: int) -> tuple[list[tuple[str, str | None]], str]:
        """Type and message of the next n facts, and the id of the last message."""
        found: list[tuple[str, str | None]] = []
        while len(found) < n:
            message = await self.next()
            assert message.event == "patch", message
            found += [(fact["type"], fact["message"]) for fact in message.data["data"]]
        return found, message.id


async def ask(a: httpx.AsyncClient, kind: str = "t.work") -> str:
    return str((await a.post("/v1/jobs", json={"kind": kind})).json()["job_id"])


async def test_a_tenants_stream_tells_what_happens_to_its_jobs_and_resumes_exactly(
    a: httpx.AsyncClient, b: httpx.AsyncClient, url: str, key: Keys, hand: Hand
) -> None:
    asked = await ask(a)
    async with stream(url, key.a) as listening:
        state = await listening.next()
        assert (state.event, [job["job_id"] for job in state.data["data"]]) == ("state", [asked])
        grant = await hand.claim()
        await hand.say(grant, 40, "half way")
        assert (await listening.facts(2))[0] == [("started", None), ("progress", "half way")]
        await ask(b)
        other = await hand.claim()
        await hand.say(other, 1, "not for a")
        await hand.say(grant, 80, "nearly")
        seen, last = await listening.facts(1)
        assert seen == [("progress", "nearly")]
    await hand.end(grant)
    await hand.end(other)
    async with stream(url, key.a, last=last) as listening:
        message = await listening.next()
        [fact] = message.data["data"]
        assert (message.event, fact["type"], fact["job_id"], fact["kind"]) == ("patch", "succeeded", asked, "t.work")
        last = message.id
    async with stream(url, key.a, last=last) as listening:
        await ask(a)
        await hand.say(await hand.claim(), 5, "another")
        told = (await listening.facts(3))[0]
        assert told == [("queued", None), ("started", None), ("progress", "another")], "nothing comes twice"
    for lost in ("9999999999:9999999999:", "nonsense", "17"):
        async with stream(url, key.a, last=lost) as listening:
            assert [(await listening.next()).event for _ in range(2)] == ["reset", "state"]


async def test_a_transaction_that_commits_late_is_told_when_it_does(
    a: httpx.AsyncClient, url: str, key: Keys, hand: Hand, cell: Cell
) -> None:
    for _ in range(2):
        await ask(a)
    early, late = await hand.claim(), await hand.claim()
    connection = await asyncpg.connect(cell.url(Role.WORKER))
    try:
        async with stream(url, key.a) as listening:
            assert (await listening.next()).event == "state"
            transaction = connection.transaction()
            await transaction.start()
            await connection.execute("select leasehold.append_event($1, 'progress', 'began first')", late.token)
            await hand.say(early, 1, "ended first")
            seen, last = await listening.facts(1)
            assert seen == [("progress", "ended first")]
        await transaction.commit()
        async with stream(url, key.a, last=last) as listening:
            assert (await listening.facts(1))[0] == [("progress", "began first")]
    finally:
        await connection.close()


async def test_a_tenants_stream_tells_each_event_of_each_job_and_flow_once_in_order_through_reconnects(
    a: httpx.AsyncClient, url: str, key: Keys, hand: Hand, cell: Cell
) -> None:
    """The events of each job and flow, by their own numbers, are what the stream has to tell."""

    told: list[tuple[str, int, str]] = []

    async def is_told(job_id: str, kind: str) -> bool:
        return (job_id, kind) in [(one, kind) for one, _, kind in told]

    async def work() -> list[str]:
        steps = [{"kind": "t.work", "name": "one"}, {"kind": "t.work", "after": ["one"]}]
        flow_id = (await a.post("/v1/flows", json={"name": "f", "steps": steps})).json()["flow_id"]
        for outcome in ("errored", "released", "failed", "succeeded"):
            await ask(a)
            grant = await hand.claim()
            await asyncio.sleep(random.choice([0, 0.2]))  # a look comes in between, or does not
            await hand.end(grant, outcome)
        waiting = await ask(a)
        for what in ("cancel", "retry", "cancel"):
            assert (await a.post(f"/v1/jobs/{waiting}/{what}")).status_code == 200
            await eventually(partial(is_told, waiting, {"cancel": "canceled", "retry": "retried"}[what]))
        later = (await a.post("/v1/jobs", json={"kind": "t.work", "delay_s": 3600})).json()["job_id"]
        assert (await a.post(f"/v1/jobs/{later}/cancel")).status_code == 200
        await eventually(partial(_is_over, a, hand, flow_id))
        return [f"/v1/flows/{flow_id}"]

    async with stream(url, key.a) as listening:
        first = await listening.next()
    assert first.data == {"data": [], "flows": []}

    async def read(last: str) -> None:
        while True:
            async with stream(url, key.a, last=last) as listening:  # and leaves after each message
                message = await listening.next()
            assert message.event == "patch"
            last = message.id
            told.extend((fact["job_id"] or fact["flow_id"], fact["seq"], fact["type"]) for fact in message.data["data"])

    reading = asyncio.create_task(read(first.id))
    try:
        expected = await _expected(a, await work())

        async def all_told() -> bool:
            return reading.done() or len(told) >= len(expected)

        await eventually(all_told)
    finally:
        reading.cancel()
    assert sorted(told) == sorted(expected), "all, and each once"
    by_subject = {subject: [seq for one, seq, _ in told if one == subject] for subject, _, _ in told}
    assert all(numbers == sorted(numbers) for numbers in by_subject.values())
    assert {kind for _, _, kind in told} >= {
        "scheduled",
        "queued",
        "started",
        "errored",
        "released",
        "retried",
        "canceled",
    }


async def _is_over(a: httpx.AsyncClient, hand: Hand, flow_id: str) -> bool:
    await maintenance.dispatch_due_jobs(hand.db)
    for grant in await jobs.claim(hand.db, hand.worker, ["default"], 1):
        await hand.end(grant)
    await flows.tend_flows(hand.db)
    events = (await a.get(f"/v1/flows/{flow_id}/events")).json()["data"]
    states = [job["state"] for job in (await a.get("/v1/jobs", params={"limit": 200})).json()["data"]]
    is_idle = not {"queued", "running", "scheduled", "blocked"} & set(states)
    return bool(events) and events[-1]["type"] in ("succeeded", "failed") and is_idle


async def _expected(a: httpx.AsyncClient, flow_paths: list[str]) -> list[tuple[str, int, str]]:
    ids = [job["job_id"] for job in (await a.get("/v1/jobs", params={"limit": 200})).json()["data"]]
    found = []
    for path in [*(f"/v1/jobs/{one}" for one in ids), *flow_paths]:
        events = (await a.get(f"{path}/events", params={"limit": 200})).json()["data"]
        found += [(path.rpartition("/")[2], event["seq"], event["type"]) for event in events]
    return found


async def test_too_much_of_one_tenant_is_a_reset_for_it_and_nothing_to_the_others(
    a: httpx.AsyncClient,
    b: httpx.AsyncClient,
    url: str,
    key: Keys,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("leasehold.engine.progress.MOST_FACTS", 10)
    async with stream(url, key.a) as many, stream(url, key.b) as few:
        assert [(await many.next()).event, (await few.next()).event] == ["state", "state"]
        await a.post("/v1/jobs:batch", json={"jobs": [{"kind": "t.work"}] * 20})
        assert [(await many.next()).event for _ in range(2)] == ["reset", "state"]
        await ask(b)
        assert (await few.facts(1))[0] == [("queued", None)]


async def test_looks_do_not_grow_with_the_number_of_readers(services: Services, cell: Cell) -> None:
    looks = 0
    call = services.db.call

    async def counted(function: str, *args: Any, **more: Any) -> Any:
        nonlocal looks
        looks += function == "tenant_changes"
        return await call(function, *args, **more)

    async def grown(before: int) -> bool:
        return looks > before

    services.db.call = counted  # type: ignore[method-assign]
    feed = services.part(Feed)
    async with asyncio.timeout(PATIENCE_SECONDS):
        for readers in (1, 50):
            stack = [feed.follow(tenant) for tenant in (cell.tenant_a, cell.tenant_b) for _ in range(readers)]
            for one in stack:
                await one.__aenter__()
            looks = 0
            for _ in range(3):
                feed.heard()
                await eventually(partial(grown, looks))
            assert looks <= 6
            for one in stack:
                await one.__aexit__(None, None, None)
    looks = 0
    feed.heard()
    await asyncio.sleep(0.3)
    assert looks == 0, "nobody follows, nobody asks"


async def test_log_lines_merged_by_time_and_group_by_group(
    a: httpx.AsyncClient, b: httpx.AsyncClient, url: str, key: Keys, hand: Hand, cell: Cell
) -> None:
    await a.post("/v1/workers", json={"name": "w", "kinds": ["shop.crawl", "shop.parse", "mail.send"]})
    kinds = ["shop.crawl", "shop.parse", "mail.send"]
    for kind in kinds:
        await ask(a, kind)
    await ask(b, "shop.crawl")
    claimed = [await hand.claim() for _ in range(4)]
    grants = sorted((one for one in claimed if one.tenant_id == cell.tenant_a), key=lambda one: kinds.index(one.kind))
    [of_b] = [one for one in claimed if one.tenant_id == cell.tenant_b]
    for n in range(2):
        for grant in grants:
            await hand.log(grant, f"{grant.kind} {n} of a")
        await hand.log(of_b, "of b")

    async def messages(**params: Any) -> list[str]:
        return [line["message"] for line in (await a.get("/v1/logs", params=params)).json()["data"]]

    expected = [f"{kind} {n} of a" for n in (1, 0) for kind in reversed(kinds)]
    assert await messages() == expected
    assert await messages(groups="shop.crawl,mail") == [one for one in expected if "parse" not in one]
    assert await messages(since="2030-01-01T00:00:00Z") == []
    problem(await a.get("/v1/logs", params={"groups": "shop.crwal"}), 404, "not_found")
    problem(await a.get("/v1/logs", params={"cursor": "nonsense"}), 400, "bad_parameter")
    paged, cursor = [], None
    while True:
        page = (await a.get("/v1/logs", params={"limit": 4} | ({"cursor": cursor} if cursor else {}))).json()
        paged += page["data"]
        cursor = page["next_cursor"]
        if not page["has_more"]:
            break
    assert [line["message"] for line in paged] == expected
    assert (paged[0]["level"], paged[0]["fields"], paged[0]["attempt"]) == ("info", {"n": 1}, 1)
    async with stream(url, key.a, "/v1/logs?groups=shop") as listening:
        state = await listening.next()
        assert [line["message"] for line in state.data["data"]] == [one for one in reversed(expected) if "shop" in one]
        await hand.log(grants[2], "not of the shop")
        await hand.log(of_b, "not of a")
        await hand.log(grants[0], "a new line")
        [line] = (await listening.next()).data["data"]
        assert (line["message"], line["kind"]) == ("a new line", "shop.crawl")


async def test_the_lines_of_a_job_attempt_by_attempt_as_a_page_and_until_its_end(
    a: httpx.AsyncClient, b: httpx.AsyncClient, url: str, key: Keys, hand: Hand
) -> None:
    asked = await ask(a)
    first = await hand.claim()
    await hand.log(first, "one")
    await hand.end(first, "released")
    second = await hand.claim()
    await hand.log(second, "two")
    page = (await a.get(f"/v1/jobs/{asked}/logs", params={"limit": 1})).json()
    assert ([line["message"] for line in page["data"]], page["has_more"]) == (["one"], True)
    rest = (await a.get(f"/v1/jobs/{asked}/logs", params={"after": page["next_cursor"]})).json()
    assert [line["message"] for line in rest["data"]] == ["two"]
    problem(await b.get(f"/v1/jobs/{asked}/logs"), 404, "not_found")
    async with stream(url, key.a, f"/v1/jobs/{asked}/logs") as listening:
        assert [(await listening.next()).data["message"] for _ in range(2)] == ["one", "two"]
        await hand.say(second, 50)
        await hand.log(second, "three")
        assert (await listening.next()).data["message"] == "three"
        await hand.end(second)
        assert (await listening.next()).event == "end"


async def test_tickets_open_a_stream_of_the_tenant_and_streams_are_counted(
    a: httpx.AsyncClient, url: str, key: Keys
) -> None:
    ticket = (await a.post("/v1/tickets", json={})).json()
    assert ticket["job_id"] is None
    async with stream(url, None, f"/v1/events?ticket={ticket['ticket']}") as listening:
        assert (await listening.next()).event == "state"
    async with httpx.AsyncClient(base_url=url) as http:
        accept = {"Accept": "text/event-stream"}
        again = await http.get(f"/v1/events?ticket={ticket['ticket']}", headers=accept)
        problem(again, 401, "unauthenticated")
        asked = await ask(a)
        other = (await a.post("/v1/tickets", json={"job_id": asked})).json()["ticket"]
        problem(await http.get(f"/v1/events?ticket={other}", headers=accept), 401, "unauthenticated")
        async with stream(url, key.a), stream(url, key.a), stream(url, key.a, "/v1/logs"):
            problem(await http.get("/v1/events", headers=accept | bearer(key.a)), 429, "too_many_streams")
    overview = (await a.get("/v1/events")).json()
    assert [job["job_id"] for job in overview["data"]] == [asked]
    assert json.dumps(overview)


async def test_what_is_logged_is_bounded_and_says_so(a: httpx.AsyncClient) -> None:
    worker = (await a.post("/v1/workers", json={"name": "w"})).json()["worker_id"]
    asked = await ask(a)
    claimed = await a.post(f"/v1/workers/{worker}/claim", json={"n": 1, "held": []})
    token = claimed.json()["data"][0]["token"]
    line = {"token": token, "type": "log", "message": "x" * 4000, "fields": {"more": "y" * 12_000}}
    for _ in range(2):
        response = await a.post(f"/v1/workers/{worker}/events", json={"said": [line] * 50})
        assert {item["code"] for item in response.json()["data"]} == {"accepted"}
    lines = (await a.get(f"/v1/jobs/{asked}/logs", params={"limit": 200})).json()["data"]
    assert 50 < len(lines) < 70
    assert "not stored" in lines[-1]["message"]
    assert lines[-1]["level"] == "warning"
