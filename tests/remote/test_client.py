"""The clients against a real server."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from leasehold.errors import BadInput, Conflict, NotAllowed, NotFound, Unreachable
from leasehold.job import Enqueued, Event, Job, State
from leasehold.remote import AsyncClient, Client, Refused
from leasehold.remote.sse import Message, messages
from tests.cell import Cell
from tests.remote.conftest import Hand, Keys

SOON = datetime(2030, 1, 31, tzinfo=UTC)


async def test_a_job_from_its_enqueue_to_its_result(client: AsyncClient, hand: Hand, cell: Cell) -> None:
    made = await client.enqueue("t.work", {"n": 1}, key="k", priority=1, attempts=3, tags=["vip"])
    assert (made.state, made.created) == (State.QUEUED, True)
    assert (await client.enqueue("t.work", {"n": 1}, key="k")) == Enqueued(made.job_id, State.QUEUED, False)
    job = await client.get(made.job_id)
    assert isinstance(job, Job)
    assert (job.job_id, job.tenant_id, job.payload, job.max_attempts) == (made.job_id, cell.tenant_a, {"n": 1}, 3)
    assert (job.state, job.tags, job.created_at.tzinfo is not None, job.finished_at) == (
        State.QUEUED,
        ["vip"],
        True,
        None,
    )
    with pytest.raises(Conflict, match="succeeded"):
        await client.result(made.job_id)
    following = asyncio.create_task(_all(client, made))
    grant = await hand.claim()
    await hand.say(grant, 40, "half way")
    await hand.end(grant, result='{"frames": 240}')
    assert [(event.seq, event.type) for event in await following] == [
        (1, "queued"),
        (2, "started"),
        (3, "progress"),
        (4, "succeeded"),
    ]
    assert (await client.wait(made.job_id, timeout=60)).state is State.SUCCEEDED
    assert await client.result(made.job_id) == {"frames": 240}
    [attempt] = await client.attempts(made.job_id)
    assert (attempt.outcome, attempt.worker) == ("succeeded", "w")
    assert [event.type async for event in client.events(made.job_id, after=3)] == ["succeeded"]


async def _all(client: AsyncClient, made: Enqueued) -> list[Event]:
    return [event async for event in client.follow(made.job_id)]


async def test_moves_schedules_and_refusals(client: AsyncClient, url: str, key: Keys) -> None:
    made = await client.enqueue("t.work", run_at=SOON)
    assert made.state is State.SCHEDULED
    assert await client.reschedule(made.job_id, SOON + timedelta(days=1)) is State.SCHEDULED
    assert "run_at" in [reason.reason for reason in await client.explain(made.job_id)]
    assert await client.cancel(made.job_id, "withdrawn") is State.CANCELED
    assert await client.cancel(made.job_id) is State.CANCELED
    assert await client.retry(made.job_id) is State.SCHEDULED
    schedule = await client.put_schedule("nightly", "t.work", {"n": 1}, cron="0 3 * * *", zone="Europe/Berlin")
    assert (schedule.name, schedule.zone, schedule.payload) == ("nightly", "Europe/Berlin", {"n": 1})
    assert [one.name async for one in client.list_schedules()] == ["nightly"]
    await client.delete_schedule("nightly")
    for wrong in (client.get_schedule("nightly"), client.get(uuid4())):
        with pytest.raises(NotFound):
            await wrong
    with pytest.raises(BadInput, match="time zone"):
        await client.enqueue("t.work", run_at=datetime(2030, 1, 1))  # noqa: DTZ001
    with pytest.raises(BadInput, match="cannot be"):
        await client.enqueue("t.work", priority=9)
    with pytest.raises(NotAllowed):
        await client.queues()
    async with AsyncClient(url, key.operator.text) as operator:
        assert "default" in [queue.queue for queue in await operator.queues()]
    async with AsyncClient(url, "lh_live_nonsense") as stranger:
        with pytest.raises(NotAllowed):
            await stranger.get(made.job_id)


async def test_a_list_is_read_page_by_page(client: AsyncClient, url: str, key: Keys) -> None:
    made = await client.batch([{"kind": "t.work", "payload": n, "tags": ["many"]} for n in range(450)])
    found = [job.job_id async for job in client.list_jobs(tag="many")]
    assert found == [one.job_id for one in reversed(made) if isinstance(one, Enqueued)]

    def read() -> list[Any]:
        with Client(url, key.a.text) as sync:
            return [job.job_id for job in sync.list_jobs(tag="many", limit=100)]

    assert await asyncio.to_thread(read) == found


async def test_a_batch_that_is_not_atomic_makes_what_it_can(client: AsyncClient) -> None:
    await client.enqueue("t.work", {"n": 1}, key="taken")
    bad: list[dict[str, Any]] = [
        {"kind": "t.work", "key": "taken", "payload": {"n": 2}},
        {"kind": "t.work", "queue": "nowhere"},
    ]
    with pytest.raises((Conflict, NotFound)):
        await client.batch([{"kind": "t.work", "key": "good"}, *bad])
    assert [job.key async for job in client.list_jobs()] == ["taken"]
    good, conflict, nowhere = await client.batch([{"kind": "t.work", "key": "good"}, *bad], atomic=False)
    assert isinstance(good, Enqueued)
    assert isinstance(conflict, Refused)
    assert isinstance(nowhere, Refused)
    assert (type(conflict.error), type(nowhere.error)) == (Conflict, NotFound)


class Lossy(httpx2.HTTPTransport):
    """Loses so many answers after the server has given them."""

    def __init__(self, lose: int) -> None:
        super().__init__()
        self.lose = lose
        self.sent: list[httpx2.Request] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append(request)
        response = super().handle_request(request)
        if len(self.sent) <= self.lose:
            response.read()
            raise httpx2.ReadError("the connection broke")
        return response


async def test_a_request_whose_answer_is_lost_is_sent_again_and_done_once(
    client: AsyncClient, url: str, key: Keys
) -> None:
    transport = Lossy(2)

    def ask() -> Enqueued:
        with Client(url, key.a.text, transport=transport) as sync:
            return sync.enqueue("t.work", {"n": 1})

    made = await asyncio.to_thread(ask)
    assert len({request.headers["idempotency-key"] for request in transport.sent}) == 1
    assert len(transport.sent) == 3
    assert [job.job_id async for job in client.list_jobs()] == [made.job_id]

    def give_up() -> None:
        with Client(url, key.a.text, transport=Lossy(9), tries=2) as sync:
            sync.enqueue("t.work", {"n": 1})

    with pytest.raises(Unreachable, match="ReadError"):
        await asyncio.to_thread(give_up)


class Short(httpx2.SyncByteStream):
    """A stream that breaks after its third part."""

    def __init__(self, whole: Any) -> None:
        self._whole = whole

    def __iter__(self) -> Iterator[bytes]:
        for number, part in enumerate(self._whole):
            if number == 3:
                raise httpx2.ReadError("broken")
            yield part

    def close(self) -> None:
        self._whole.close()


async def test_following_goes_on_where_a_stream_broke(
    client: AsyncClient, url: str, key: Keys, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leasehold.remote.client._RECONNECT_SECONDS", 0.01)
    made = await client.enqueue("t.work")
    seen: list[Event] = []

    class Breaking(httpx2.HTTPTransport):
        """Ends every stream after its third message."""

        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            response = super().handle_request(request)
            if request.headers.get("accept") == "text/event-stream":
                response.stream = Short(response.stream)
            return response

    def follow() -> Job:
        with Client(url, key.a.text, transport=Breaking()) as sync:
            seen.extend(sync.follow(made.job_id))
            return sync.wait(made.job_id, timeout=60)

    following = asyncio.create_task(asyncio.to_thread(follow))
    grant = await hand.claim()
    for percent in range(5):
        await hand.say(grant, percent)
    await hand.end(grant)
    assert (await following).state is State.SUCCEEDED
    assert [event.seq for event in seen] == list(range(1, 9))


async def test_waiting_has_an_end(client: AsyncClient, url: str, key: Keys) -> None:
    made = await client.enqueue("t.work", delay=1000)
    with pytest.raises(TimeoutError):
        await client.wait(made.job_id, timeout=0.2)

    def wait() -> None:
        with Client(url, key.a.text) as sync:
            sync.wait(made.job_id, timeout=0.2)

    with pytest.raises(TimeoutError):
        await asyncio.to_thread(wait)


def test_a_stream_is_read_line_by_line() -> None:
    lines = ["retry: 2000", "", ": ping", "", "id: 3", "event: patch", 'data: {"seq": 3}', "", "id: 4", "data: 1", ""]
    assert messages(lines) == [
        Message(event="patch", id="3", data={"seq": 3}),
        Message(event="message", id="4", data=1),
    ]
