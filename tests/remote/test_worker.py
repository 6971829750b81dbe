"""The remote worker in this process, against a real server."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from leasehold.database.database import Database
from leasehold.database.wakeups import ready_channel
from leasehold.engine import maintenance
from leasehold.errors import BadInput, NotAllowed
from leasehold.job import Job, State
from leasehold.program.outcomes import Cancel, Fail, Retry, Snooze
from leasehold.redact import MASK
from leasehold.remote import AsyncClient, Context, SyncContext, Worker
from tests.cell import Cell
from tests.remote.conftest import Keys
from tests.waiting import PATIENCE_SECONDS, eventually
from tests.worker.conftest import Lines
from tests.worker.proxy import proxied
from tests.worker.test_loop_watch import Named, named

__all__ = ["named"]


@dataclass
class Order:
    number: int
    note: str = ""


@dataclass
class Receipt:
    order: int


@pytest.fixture
def worker(url: str, key: Keys) -> Worker:
    return Worker(url, key.a.text, slots=5, name="far", lease_s=20.0, grace_s=5.0, cancel_grace_s=0.2)


@asynccontextmanager
async def running(worker: Worker) -> AsyncIterator["asyncio.Task[None]"]:
    task = asyncio.create_task(worker.run())
    try:
        yield task
    finally:
        worker.stop()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await task


async def ended(client: AsyncClient, kind: str, value: Any = None, **options: Any) -> Job:
    made = await client.enqueue(kind, value, **options)
    return await client.wait(made.job_id, timeout=PATIENCE_SECONDS)


async def test_handlers_async_and_sync_with_and_without_a_type(client: AsyncClient, worker: Worker) -> None:
    @worker.handler("shop.refund")
    async def refund(ctx: Context, order: Order) -> Receipt:
        await ctx.progress(40, "asked the bank: password=hunter2hunter2")
        await ctx.log.warning("slow", ms=900, api_key="5f3a9c77aa")
        return Receipt(order.number)

    @worker.handler("shop.count")
    def count(ctx: SyncContext, value: dict[str, int]) -> int:
        ctx.progress(10)
        ctx.log.info("counted")
        child = ctx.enqueue("shop.nothing", key=f"child-{ctx.job_id}")
        assert child.created
        return value["n"] + 1

    @worker.handler("shop.nothing")
    async def nothing(ctx: Context) -> None:
        await ctx.extend(60)

    async with running(worker):
        refunded = await ended(client, "shop.refund", {"number": 7})
        assert (refunded.state, refunded.result, refunded.progress) == (State.SUCCEEDED, {"order": 7}, 40)
        events = [event async for event in client.events(refunded.job_id)]
        assert [event.type for event in events] == ["queued", "started", "progress", "log", "succeeded"]
        assert (events[3].message, events[3].data) == ("slow", {"level": "warning", "ms": 900, "api_key": MASK})
        assert "hunter2" not in str(events)
        counted = await ended(client, "shop.count", {"n": 1})
        assert counted.result == 2
        assert (await ended(client, "shop.nothing")).state is State.SUCCEEDED
        wrong = await ended(client, "shop.refund", {"nonsense": 1})
        assert (wrong.state, wrong.error and wrong.error["type"]) == (State.FAILED, "InvalidPayload")


@pytest.mark.parametrize("blocking", [False, True])
async def test_an_attempt_that_asks_for_more_time_has_it(client: AsyncClient, worker: Worker, blocking: bool) -> None:
    enough = threading.Event()

    async def patient(ctx: Context) -> None:
        await ctx.extend(3600)
        await asyncio.to_thread(enough.wait, PATIENCE_SECONDS)

    def steady(ctx: SyncContext) -> None:
        ctx.extend(3600)
        enough.wait(PATIENCE_SECONDS)

    async def left_s() -> float:
        now = asyncio.get_running_loop().time()
        return sum(max(execution.times_out_at - now - 1000, 0) for execution in worker._running.values())

    worker.handler("t.patient")(steady if blocking else patient)
    async with running(worker):
        made = await client.enqueue("t.patient", timeout=60)
        assert await eventually(left_s, what="more time than the job has") > 2000
        enough.set()
        assert (await client.wait(made.job_id, timeout=PATIENCE_SECONDS)).state is State.SUCCEEDED


async def test_a_retry_may_hold_the_gate(client: AsyncClient, worker: Worker, cell: Cell) -> None:
    @worker.handler("t.told")
    async def told(ctx: Context) -> None:
        raise Retry("too many requests", after=500, gate=True)

    async with running(worker):
        made = await client.enqueue("t.told", gate="host:example.com")

        async def held() -> list[dict[str, Any]]:
            return await cell.look(
                "select held_until - at as for from leasehold.gate_word where held_until is not null"
            )

        assert (await eventually(held))[0]["for"] == "00:08:20"
        assert (await client.get(made.job_id)).state is State.SCHEDULED


async def test_every_way_to_end(client: AsyncClient, worker: Worker, worker_db: Database) -> None:
    @worker.handler("t.end")
    async def end(ctx: Context, how: str) -> Any:
        match how:
            case "retry" if ctx.attempt == 1:
                raise Retry("not yet", after=0.001)
            case "bug":
                raise ValueError("token=abcdef1234567890")
            case "fail":
                raise Fail("bad card")
            case "cancel":
                raise Cancel("gone")
            case "snooze":
                raise Snooze(after=1000)
            case "surrogate":
                return "a\0b"
        return ctx.attempt

    async with running(worker):
        made = {
            how: (await client.enqueue("t.end", how, attempts=1 if how == "bug" else 3)).job_id
            for how in ("fine", "retry", "bug", "fail", "cancel", "snooze", "surrogate", "large")
        }

        async def states() -> bool:
            if await maintenance.dispatch_due_jobs(worker_db):  # as the leader does
                await worker_db.notify(ready_channel("leasehold"), ["default"])
            found = {how: (await client.get(job_id)) for how, job_id in made.items()}
            return {how: str(job.state) for how, job in found.items() if how != "snooze" or job.attempt == 0} == {
                "fine": "succeeded",
                "retry": "succeeded",
                "bug": "dead",
                "fail": "failed",
                "cancel": "canceled",
                "snooze": "scheduled",
                "surrogate": "failed",
                "large": "succeeded",
            }

        await eventually(states)
    bug, retried = await client.get(made["bug"]), await client.get(made["retry"])
    assert bug.error
    assert bug.error["type"] == "ValueError"
    assert "abcdef1234567890" not in str(bug.error)
    assert (retried.result, retried.attempt) == (2, 2)


async def test_a_cancel_is_heard_with_a_beat_and_a_timeout_interrupts(client: AsyncClient, url: str, key: Keys) -> None:
    worker = Worker(url, key.a.text, lease_s=1.5, cancel_grace_s=0.1)

    @worker.handler("t.obey")
    async def obey(ctx: Context) -> str:
        await ctx.progress(1)
        await ctx.wait_cancelled()
        assert ctx.cancelled
        raise Cancel("as asked")

    @worker.handler("t.stubborn")
    async def stubborn(ctx: Context) -> None:
        await ctx.progress(1)
        await asyncio.Event().wait()

    async with running(worker):
        for kind in ("t.obey", "t.stubborn"):
            made = await client.enqueue(kind)
            async for event in client.follow(made.job_id):
                if event.type == "progress":
                    await client.cancel(made.job_id)
            assert (await client.get(made.job_id)).state is State.CANCELED
        late = await ended(client, "t.stubborn", timeout=0.2, attempts=1)
        assert late.state is State.DEAD
        assert late.error
        assert "took longer than 0.2 s" in late.error["message"]


async def test_a_lost_lease_ends_the_attempt_and_nothing_of_it_is_written(
    client: AsyncClient, url: str, key: Keys, cell: Cell, worker_db: Database
) -> None:
    worker = Worker(url, key.a.text, lease_s=1.5)
    started, interrupted = asyncio.Event(), asyncio.Event()

    @worker.handler("t.long")
    async def long(ctx: Context) -> str:
        if ctx.attempt > 1:
            return "the second"
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            interrupted.set()
        return "never"

    async with running(worker):
        made = await client.enqueue("t.long")
        async with asyncio.timeout(PATIENCE_SECONDS):
            await started.wait()
            first = worker.worker_id
            await cell.pass_time(10)
            assert await maintenance.rescue_silent_workers(worker_db) == 1
            await interrupted.wait()  # the next beat tells
        assert (await client.wait(made.job_id, timeout=PATIENCE_SECONDS)).result == "the second"
        assert worker.worker_id != first
    outcomes = [attempt.outcome for attempt in await client.attempts(made.job_id)]
    assert outcomes == ["lost", "succeeded"]


async def test_a_beat_that_hangs_does_not_hide_that_the_lease_is_over_nor_a_claim_that_hangs_keep_from_coming_back(
    client: AsyncClient, url: str, key: Keys, cell: Cell, worker_db: Database
) -> None:
    """The client waits 30 s for an answer, and a claim 20 s longer: neither may be what is waited for here."""
    async with proxied(url) as (proxy, through):
        worker = Worker(through, key.a.text, lease_s=1.5)
        started, interrupted = asyncio.Event(), asyncio.Event()

        @worker.handler("t.long")
        async def long(ctx: Context) -> str:
            if ctx.attempt > 1:
                return "the second"
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                interrupted.set()
            return "never"

        async with running(worker):
            made = await client.enqueue("t.long")
            async with asyncio.timeout(PATIENCE_SECONDS):
                await started.wait()
            first = worker.worker_id
            proxy.swallow()
            async with asyncio.timeout(15):
                await interrupted.wait()
            await cell.pass_time(10)
            assert await maintenance.rescue_silent_workers(worker_db) == 1
            proxy.flow()
            assert (await client.wait(made.job_id, timeout=15)).result == "the second"
            assert worker.worker_id != first


async def test_a_handler_that_blocks_the_loop_does_not_cost_the_lease(
    client: AsyncClient, url: str, key: Keys, worker_db: Database
) -> None:
    worker = Worker(url, key.a.text, lease_s=1.5)

    @worker.handler("t.block")
    async def block(ctx: Context) -> int:
        time.sleep(2.5)  # noqa: ASYNC251
        return ctx.attempt

    # In a thread with a loop of its own: the one of this test has to serve the beats.
    working = asyncio.create_task(asyncio.to_thread(asyncio.run, worker.run()))
    job = await ended(client, "t.block")
    assert await maintenance.rescue_silent_workers(worker_db) == 0
    assert (job.state, job.result) == (State.SUCCEEDED, 1)
    worker._loop.call_soon_threadsafe(worker.stop)
    await working


async def test_an_unknown_kind_goes_back_for_a_while_and_a_later_version_waits(
    client: AsyncClient, worker: Worker
) -> None:
    @worker.handler("t.known", version=1)
    async def known(ctx: Context) -> None:
        pass

    async with running(worker):
        for kind, version in (("t.unknown", 1), ("t.known", 2)):
            # The worker may have said what it knows.
            made = await client.enqueue(kind, version=version, force=True)

            async def is_back(job_id: UUID = made.job_id) -> bool:
                job = await client.get(job_id)
                return (job.state, job.attempt) == (State.SCHEDULED, 0)

            await eventually(is_back)


async def test_a_worker_that_stops_lets_end_what_runs_and_gives_back_the_rest(
    client: AsyncClient, url: str, key: Keys
) -> None:
    worker = Worker(url, key.a.text, slots=2, grace_s=60)
    go, started = asyncio.Event(), asyncio.Semaphore(0)

    @worker.handler("t.wait")
    async def wait(ctx: Context, what: str) -> str:
        started.release()
        if what == "for ever":
            await asyncio.Event().wait()
        await go.wait()
        return what

    task = asyncio.create_task(worker.run())
    async with asyncio.timeout(PATIENCE_SECONDS):
        jobs = [(await client.enqueue("t.wait", what)).job_id for what in ("a while", "for ever")]
        for _ in jobs:
            await started.acquire()
        worker.stop()
        go.set()
        assert (await client.wait(jobs[0])).result == "a while"
        assert not task.done()
        worker.stop()
        await task
    left = await client.get(jobs[1])
    assert (left.state, left.attempt) == (State.QUEUED, 0)


async def test_a_key_that_is_not_for_work_says_so(url: str, key: Keys, worker: Worker) -> None:
    with pytest.raises(NotAllowed):
        await Worker(url, "lh_live_nonsense").run()
    with pytest.raises(BadInput, match="two handlers"):
        for _ in range(2):
            worker.handler("t.twice")(lambda ctx: None)


async def test_a_worker_whose_server_is_away_waits_for_it_with_one_line(
    client: AsyncClient, url: str, key: Keys, log_lines: Lines
) -> None:
    """At its start, and later."""
    async with proxied(url) as (proxy, through):
        proxy.refuses = True
        worker = Worker(through, key.a.text)
        worker.handler("t.quick")(_quick)

        async def says() -> bool:
            return log_lines.count("server unreachable") > 0

        async with running(worker):
            await eventually(says, what="a line about the server")
            await asyncio.sleep(1.0)  # for several tries
            proxy.refuses = False
            assert (await ended(client, "t.quick")).result == "done"
            assert told(log_lines) == ["server unreachable", "server is back"]
            log_lines.lines.clear()

            proxy.refuses = True
            proxy.cut()
            await eventually(says, what="another line about it")
            await asyncio.sleep(1.0)
            proxy.refuses = False
            assert (await ended(client, "t.quick")).result == "done"
            assert told(log_lines) == ["server unreachable", "server is back"]


async def test_a_worker_that_waits_for_its_server_stops_when_it_is_told_to(url: str, key: Keys) -> None:
    async with proxied(url) as (proxy, through), asyncio.timeout(20):
        proxy.swallow()
        async with running(Worker(through, key.a.text)) as task:
            await asyncio.sleep(0.2)  # until it asks to be registered
            assert not task.done()


async def _quick(ctx: Context) -> str:
    return "done"


def told(log_lines: Lines) -> list[str]:
    return [line for line, _ in log_lines.lines if line.startswith("server") or "failed" in line]


async def test_a_handler_that_blocks_the_event_loop_is_named_while_it_does(
    client: AsyncClient, worker: Worker, named: Named
) -> None:
    @worker.handler("shop.block")
    async def block(ctx: Context) -> None:
        named.block()

    async with running(worker):
        job = await ended(client, "shop.block")
    [line] = named.lines
    assert (job.state, line["kind"], line["job_id"]) == (State.SUCCEEDED, "shop.block", job.job_id)
    assert line["at"].endswith("in block")
