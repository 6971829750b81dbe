"""Live events: complete, in order, resumable, and one query for all readers."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.http import stream_poller
from leasehold.http import streams as events
from leasehold.http.app import Services, open_services
from leasehold.http.server import serving
from leasehold.http.subscription import MOST_WAITING, Follower
from leasehold.job import AttemptOutcome, State
from leasehold.settings import Settings
from tests.cell import Cell
from tests.http.conftest import Hand, Keys, bearer, problem, settings_of
from tests.waiting import PATIENCE_SECONDS

LIVE = {"Accept": "text/event-stream"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    event: str
    id: int | str
    data: Any


@asynccontextmanager
async def served(settings: Settings, key: Keys) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(settings) as url:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=url, headers=bearer(key.a), limits=limits, timeout=20) as client:
            yield client


@pytest.fixture
async def live(cell: Cell, key: Keys) -> AsyncIterator[httpx.AsyncClient]:
    """A real server and a client that reads streams as they come."""
    async with served(settings_of(cell, port=0), key) as client:
        yield client


async def ask(client: httpx.AsyncClient, **more: object) -> str:
    return str((await client.post("/v1/jobs", json={"kind": "t.work"} | more)).json()["job_id"])


def number(text: str) -> int | str:
    """The id of a message; that of the end is more than a number."""
    return int(text) if text.isdecimal() else text


async def messages(response: httpx.Response) -> AsyncIterator[Message]:
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        if line == "" and "event" in fields:
            yield Message(event=fields["event"], id=number(fields["id"]), data=json.loads(fields["data"]))
            fields = {}
        elif line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value


@asynccontextmanager
async def following(
    client: httpx.AsyncClient, job: str, last: int | str | None = None
) -> AsyncIterator[AsyncIterator[Message]]:
    """The stream of a job, or that at a path."""
    headers = LIVE | ({} if last is None else {"Last-Event-ID": str(last)})
    path = job if job.startswith("/") else f"/v1/jobs/{job}/events"
    async with client.stream("GET", path, headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["x-accel-buffering"] == "no"
        yield messages(response)


async def rest(found: AsyncIterator[Message]) -> list[Message]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return [message async for message in found]


async def test_a_stream_tells_the_state_then_every_event_then_the_end(live: httpx.AsyncClient, hand: Hand) -> None:
    job = await ask(live, payload={"secret": "of the payload"})
    async with following(live, job) as found:
        first = await anext(found)
        assert (first.event, first.id, first.data["state"]) == ("state", 1, "queued")
        assert "payload" not in first.data
        grant = await hand.claim()
        for percent in (10, 50):
            await hand.say(grant, percent, f"{percent} done")
        await hand.end(grant, result="7")
        told = await rest(found)
    assert [(m.event, m.id) for m in told] == [("patch", 2), ("patch", 3), ("patch", 4), ("patch", 5), ("end", "5-end")]
    assert [m.data["type"] for m in told[:-1]] == ["started", "progress", "progress", "succeeded"]
    assert told[1].data["progress"] == 10
    assert told[-1].data["state"] == "succeeded"


async def test_a_stream_goes_on_after_the_last_event_seen(live: httpx.AsyncClient, hand: Hand) -> None:
    job = await ask(live)
    grant = await hand.claim()
    await hand.say(grant, 10)
    async with following(live, job, last=2) as found:
        assert [(await anext(found)).id] == [3]
        await hand.say(grant, 20)
        await hand.end(grant)
        assert [(m.event, m.id) for m in await rest(found)] == [("patch", 4), ("patch", 5), ("end", "5-end")]


async def test_a_job_that_has_ended_is_told_at_once(live: httpx.AsyncClient, hand: Hand) -> None:
    job = await ask(live)
    await hand.end(await hand.claim())
    async with following(live, job) as found:
        assert [m.event for m in await rest(found)] == ["state", "end"]
    async with following(live, job, last=1) as found:
        assert [(m.event, m.id) for m in await rest(found)] == [("patch", 2), ("patch", 3), ("end", "3-end")]


async def test_whoever_saw_the_end_gets_204_until_there_is_more(live: httpx.AsyncClient, hand: Hand) -> None:
    job = await ask(live)
    await hand.end(await hand.claim(), "failed")
    over = await live.get(f"/v1/jobs/{job}/events", headers=LIVE | {"Last-Event-ID": "3-end"})
    assert (over.status_code, over.content) == (204, b"")
    assert (await live.get(f"/v1/jobs/{job}/events?last_event_id=3-end", headers=LIVE)).status_code == 204
    await live.post(f"/v1/jobs/{job}/retry")
    async with following(live, job, last="3-end") as found:
        assert (await anext(found)).data["type"] == "retried"


async def test_a_stream_that_was_cut_before_its_end_still_tells_it(live: httpx.AsyncClient, hand: Hand) -> None:
    """The last event and the end are two messages, and a connection may break between them."""
    job = await ask(live)
    await hand.end(await hand.claim())
    async with following(live, job, last=1) as found:
        seen = [await anext(found), await anext(found)]
        assert [(m.event, m.id) for m in seen] == [("patch", 2), ("patch", 3)]
    for path in (f"/v1/jobs/{job}/events", f"/v1/jobs/{job}/logs"):
        async with following(live, path, last=3) as found:
            assert [(m.event, m.id, m.data["state"]) for m in await rest(found)] == [("end", "3-end", "succeeded")]


@pytest.mark.parametrize(
    ("last", "first"),
    [(99, "reset"), ("99-end", "reset"), ("3-", "state"), ("3-ends", "state"), ("junk", "state"), ("", "state")],
)
async def test_a_number_that_leads_nowhere_gives_the_whole_state(
    live: httpx.AsyncClient, hand: Hand, last: Any, first: str
) -> None:
    job = await ask(live)
    await hand.end(await hand.claim())
    async with following(live, job, last=last) as found:
        events = [m.event for m in await rest(found)]
    assert events == (["reset", "state", "end"] if first == "reset" else ["state", "end"])


async def test_events_that_are_not_kept_any_more_give_a_reset(live: httpx.AsyncClient, hand: Hand, cell: Cell) -> None:
    job = await ask(live)
    grant = await hand.claim()
    for percent in range(5):
        await hand.say(grant, percent)
    await cell.change("delete from leasehold.event where seq < 6")
    async with following(live, job, last=2) as found:
        assert [(await anext(found)).event, (await anext(found)).event] == ["reset", "state"]


async def test_a_stream_of_another_tenant_is_not_found(live: httpx.AsyncClient, key: Keys) -> None:
    job = await ask(live)
    async with following(live, job):
        refused = await live.get(f"/v1/jobs/{job}/events", headers=LIVE | bearer(key.b))
        problem(refused, 404, "not_found")


async def test_a_quiet_stream_is_pinged_and_says_when_to_come_back(
    live: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leasehold.http.streams.PING_SECONDS", 0.05)
    job = await ask(live)
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        live.stream("GET", f"/v1/jobs/{job}/events", headers=LIVE) as response,
    ):
        lines = response.aiter_lines()
        assert await anext(lines) == "retry: 2000"
        while await anext(lines) != ": ping":
            pass


async def test_a_ticket_opens_one_stream_of_one_job_once(live: httpx.AsyncClient, hand: Hand) -> None:
    job, other = await ask(live), await ask(live)
    await live.post(f"/v1/jobs/{job}/cancel")
    made = await live.post("/v1/tickets", json={"job_id": job})
    assert made.status_code == 201
    ticket = made.json()["ticket"]
    async with httpx.AsyncClient(base_url=live.base_url, headers=LIVE) as browser:
        opened = await browser.get(f"/v1/jobs/{job}/events?ticket={ticket}")
        assert "event: end" in opened.text
        problem(await browser.get(f"/v1/jobs/{job}/events?ticket={ticket}"), 401, "unauthenticated")
        second = (await live.post("/v1/tickets", json={"job_id": job})).json()["ticket"]
        problem(await browser.get(f"/v1/jobs/{other}/events?ticket={second}"), 401, "unauthenticated")
        problem(await browser.get(f"/v1/jobs/{job}?ticket={second}"), 401, "unauthenticated")
        problem(await browser.get(f"/v1/jobs/{job}/events?ticket=junk"), 401, "unauthenticated")


async def test_a_ticket_ends_with_its_minute_and_with_its_key(live: httpx.AsyncClient, cell: Cell, key: Keys) -> None:
    job = await ask(live)
    late, orphan = [(await live.post("/v1/tickets", json={"job_id": job})).json()["ticket"] for _ in range(2)]
    async with httpx.AsyncClient(base_url=live.base_url, headers=LIVE) as browser:
        await cell.pass_time(61)
        problem(await browser.get(f"/v1/jobs/{job}/events?ticket={late}"), 401, "unauthenticated")
        await cell.pass_time(-61)
        await live.delete(f"/v1/keys/{key.a.key_id}")
        problem(await browser.get(f"/v1/jobs/{job}/events?ticket={orphan}"), 401, "unauthenticated")


async def test_a_ticket_is_not_made_for_anothers_job(live: httpx.AsyncClient, key: Keys) -> None:
    job = await ask(live)
    problem(await live.post("/v1/tickets", json={"job_id": job}, headers=bearer(key.b)), 404, "not_found")


async def test_a_tenant_has_so_many_streams_and_the_next_is_told(cell: Cell, key: Keys) -> None:
    async with served(settings_of(cell, port=0, streams_per_tenant=2), key) as live:
        job = await ask(live)
        async with following(live, job) as one, following(live, job) as two:
            await anext(one)
            await anext(two)
            problem(await live.get(f"/v1/jobs/{job}/events", headers=LIVE), 429, "too_many_streams")
            theirs = (await live.post("/v1/jobs", json={"kind": "t.work"}, headers=bearer(key.b))).json()["job_id"]
            async with live.stream("GET", f"/v1/jobs/{theirs}/events", headers=LIVE | bearer(key.b)) as response:
                assert response.status_code == 200
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (await live.get(f"/v1/jobs/{job}/explain", headers=LIVE)).status_code != 200:
                pass
        async with following(live, job) as again:
            assert (await anext(again)).event == "state"


async def test_a_server_that_stops_lets_its_streams_go(cell: Cell, key: Keys) -> None:
    async with httpx.AsyncClient(headers=bearer(key.a)) as client, asyncio.timeout(PATIENCE_SECONDS):
        async with serving(settings_of(cell, port=0)) as url:
            job = (await client.post(f"{url}/v1/jobs", json={"kind": "t.work"})).json()["job_id"]
            request = client.build_request("GET", f"{url}/v1/jobs/{job}/events", headers=LIVE)
            response = await client.send(request, stream=True)
            found = messages(response)
            assert (await anext(found)).event == "state"
        assert [message async for message in found] == []


async def test_queries_do_not_grow_with_readers(
    cell: Cell, key: Keys, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    call = Database.call

    async def counted(db: Database, function: str, *args: object, **more: object) -> object:
        if "-worker" not in db.target.role:
            calls.append(function)
        return await call(db, function, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Database, "call", counted)
    async with open_services(settings_of(cell), loopback=True) as services:
        tenant = cell.tenant_a
        [made] = await services.backend.enqueue(tenant, "t.work", ["{}"], {}, None)
        grant = await hand.claim()
        waiting = [asyncio.create_task(services.hub.wait(tenant, made.job_id, 20)) for _ in range(90)]
        async with asyncio.timeout(PATIENCE_SECONDS):
            while services.hub.streams < 90 or calls.count("job_heads") < 90:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)  # until all have had their first look
        calls.clear()
        await hand.say(grant, 50)
        await asyncio.sleep(1.0)
        looks = calls.count("job_heads")
        assert 1 <= looks <= 3, "one for the news, and one a second"
        assert calls.count("events_since") == 1
        await hand.end(grant)
        ended = await asyncio.gather(*waiting)
        assert {job.state for job in ended if job} == {State.SUCCEEDED}
        assert calls.count("events_since") == 2
        assert calls.count("get_job") == 1, "the end is read once for all"
        assert services.hub.streams == 0
        looks = calls.count("job_heads")
        await asyncio.sleep(0.5)
        assert calls.count("job_heads") <= looks + 1, "nobody follows, nobody asks"


async def test_news_that_nobody_told_is_found_all_the_same(live: httpx.AsyncClient, hand: Hand) -> None:
    job_id = await ask(live)
    async with following(live, job_id) as found:
        await anext(found)
        [grant] = await jobs.claim(hand.db, hand.worker, ["default"], 1)
        assert (await anext(found)).event == "patch"
        assert await jobs.finish(hand.db, [AttemptOutcome(token=grant.token, outcome="succeeded")]) == {grant.token}
        assert [one.event async for one in found][-1] == "end"


async def test_a_job_that_cannot_be_read_does_not_stop_the_others(
    live: httpx.AsyncClient, hand: Hand, cell: Cell
) -> None:
    bad, good = await ask(live), await ask(live)
    async with following(live, bad) as one, following(live, good) as two:
        await anext(one)
        await anext(two)
        grants = [await hand.claim(), await hand.claim()]
        await asyncio.gather(*(anext(found) for found in (one, two)))
        deep = "[" * 4000 + "]" * 4000
        await cell.change(
            "insert into leasehold.event (job_id, seq, tenant_id, type, data, at)"
            f" values ('{bad}', 3, '{cell.tenant_a}', 't', '{{\"x\": {deep}}}', now())"
        )
        await cell.change(f"update leasehold.lease set events = 3 where job_id = '{bad}'")
        assert await rest(one) == []
        await hand.end(grants[1])
        assert [message.event for message in await rest(two)] == ["patch", "end"]


async def test_a_stream_of_a_pack_is_counted_pinged_and_let_go_like_all(
    services: Services, cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leasehold.http.streams.PING_SECONDS", 0.05)
    sent: list[bytes] = []
    begun, closed, pinged = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def told() -> AsyncGenerator[events.Message, None]:
        try:
            yield events.Message(event="state", id=7, data={"n": 1})
            begun.set()
            await asyncio.Event().wait()
        finally:
            closed.set()

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))
        if message.get("body") == events.PING:
            pinged.set()

    stream = events.open_other(services, cell.tenant_a, told())
    assert services.hub.streams == 1, "from its opening on"
    answering = asyncio.create_task(stream({"type": "http"}, receive, send))
    async with asyncio.timeout(PATIENCE_SECONDS):
        await begun.wait()
        await pinged.wait()
        services.hub.close()
        await answering
    assert sent[1:3] == [events.RETRY, b'id: 7\nevent: state\ndata: {"n":1}\n\n']
    assert (services.hub.streams, closed.is_set()) == (0, True)


async def test_a_reader_that_does_not_keep_up_is_dropped() -> None:
    follower: Follower[stream_poller.News] = Follower()
    for seq in range(MOST_WAITING + 1):
        follower.give(stream_poller.News(seq=seq))
    assert await follower.next(1) is None
    assert follower._waiting.qsize() == 0


async def test_streams_are_complete_and_in_order_through_random_reconnects(live: httpx.AsyncClient, hand: Hand) -> None:
    dice = random.Random(7)
    count, said = 12, 15
    asked = [await ask(live) for _ in range(count)]

    async def work() -> None:
        grants = [await hand.claim() for _ in range(count)]
        for percent in range(said):
            for grant in grants:
                await hand.say(grant, percent)
            await asyncio.sleep(0.02)
        for grant in grants:
            await hand.end(grant)

    async def read(job: str) -> list[int]:
        """Leaves after a few messages, and comes back with the last number, until the end."""
        seen: list[int] = []
        last = ""
        while True:
            headers = LIVE | {"Last-Event-ID": last}
            async with live.stream("GET", f"/v1/jobs/{job}/events", headers=headers) as response:
                assert response.status_code == 200, "whoever has not seen the end is told more"
                patience = dice.randrange(1, 6)
                async for message in messages(response):
                    if message.event == "end":
                        return seen
                    position = int(message.id)
                    seen += [position] if message.event == "patch" else range(1, position + 1)
                    last = str(position)
                    patience -= 1
                    if patience == 0:
                        break

    async with asyncio.timeout(PATIENCE_SECONDS):
        working = asyncio.create_task(work())
        histories = await asyncio.gather(*(read(job) for job in asked for _ in range(4)))
        await working
    assert all(history == list(range(1, said + 4)) for history in histories)
    assert len(histories) == count * 4
