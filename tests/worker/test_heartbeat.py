"""Beats, silence, cancel: who may run what, and who is told to stop."""

import asyncio
import time
from dataclasses import replace

from leasehold.database.database import Role
from leasehold.job import State
from leasehold.program.app import Leasehold
from leasehold.program.context import Context, SyncContext
from tests.cell import Cell
from tests.waiting import eventually
from tests.worker.conftest import Lines
from tests.worker.proxy import proxied
from tests.worker.running import FAST, SHORT_LEASE, Shop, running


async def test_a_worker_that_hears_nothing_for_a_lease_stops_its_attempts_and_comes_back(
    cell: Cell, shop: Shop, log_lines: Lines
) -> None:
    """The black hole: connections stay open, nothing arrives."""
    app = Leasehold()
    started, stopped_after = asyncio.Event(), 0.0

    @app.handler("t.long")
    async def long(ctx: Context) -> str:
        nonlocal stopped_after
        if ctx.attempt > 1 or started.is_set():
            return "second"
        started.set()
        began = time.monotonic()
        try:
            await asyncio.sleep(60)
        finally:
            stopped_after = time.monotonic() - began
        return "first"

    async with proxied(cell.url(Role.WORKER)) as (proxy, url), running(cell, app, SHORT_LEASE, url=url) as worker:
        first_id = worker.worker_id
        job_id = await shop.enqueue("t.long")
        await started.wait()
        proxy.swallow()

        async def fenced() -> bool:
            return stopped_after > 0

        await eventually(fenced, what="the attempt stopped by its own worker")
        proxy.cut()
        proxy.flow()
        job = await shop.ended(job_id)
        assert job.result == "second", "what the first attempt would have said was dropped"
        assert worker.worker_id != first_id
    assert (await shop.history(job_id))[-1] == (job.attempt, "succeeded")
    assert log_lines.count("worker declared lost") >= 1  # again, where the machine starves it for a lease


async def test_a_worker_that_was_declared_lost_drops_its_attempts_and_works_on_under_a_new_id(
    cell: Cell, shop: Shop, log_lines: Lines
) -> None:
    app = Leasehold()
    running_now, finally_cancelled = asyncio.Event(), asyncio.Event()

    @app.handler("t.long")
    async def long(ctx: Context) -> str:
        if ctx.attempt == 1:
            running_now.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                finally_cancelled.set()
                return "what a lost attempt says is not even sent"
        return f"attempt {ctx.attempt}"

    async with running(cell, app) as worker:
        old = worker.worker_id
        job_id = await shop.enqueue("t.long")
        await running_now.wait()
        await cell.change("update leasehold.worker set beat_at = beat_at - interval '1 hour'")
        await cell.change("select leasehold.rescue_silent_workers()")
        await finally_cancelled.wait()
        assert (await shop.ended(job_id)).result == "attempt 2"
        assert worker.worker_id not in (old, None)
    assert await shop.history(job_id) == [(1, "lost"), (2, "succeeded")]
    assert log_lines.count("finish refused") == 0


async def test_a_cancel_reaches_the_handler_which_may_leave_by_itself(cell: Cell, shop: Shop) -> None:
    app = Leasehold()
    started = asyncio.Event()

    @app.handler("t.polite")
    async def polite(ctx: Context) -> None:
        started.set()
        assert not ctx.cancelled
        await ctx.wait_cancelled()
        assert ctx.cancelled
        raise asyncio.CancelledError

    async with running(cell, app, replace(FAST, cancel_grace_seconds=60.0)):
        job_id = await shop.enqueue("t.polite")
        await started.wait()
        await shop.cancel(job_id)
        assert (await shop.ended(job_id)).state is State.CANCELED
    assert await shop.history(job_id) == [(1, "canceled")]


async def test_a_handler_that_ignores_the_cancel_is_cancelled_after_the_grace(cell: Cell, shop: Shop) -> None:
    app = Leasehold()
    started, cleaned = asyncio.Event(), asyncio.Event()

    @app.handler("t.deaf")
    async def deaf(ctx: Context) -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.set()

    async with running(cell, app):
        job_id = await shop.enqueue("t.deaf")
        await started.wait()
        await shop.cancel(job_id)
        assert (await shop.ended(job_id)).state is State.CANCELED
        assert cleaned.is_set()
    assert await shop.history(job_id) == [(1, "canceled")]


async def test_a_handler_that_succeeds_in_spite_of_the_cancel_has_succeeded(cell: Cell, shop: Shop) -> None:
    app = Leasehold()
    started = asyncio.Event()

    @app.handler("t.done")
    async def done(ctx: Context) -> str:
        started.set()
        await ctx.wait_cancelled()
        return "done anyway"

    async with running(cell, app):
        job_id = await shop.enqueue("t.done")
        await started.wait()
        await shop.cancel(job_id)
        job = await shop.ended(job_id)
    assert (job.state, job.result) == (State.SUCCEEDED, "done anyway")


async def test_a_sync_handler_sees_the_cancel(cell: Cell, shop: Shop) -> None:
    app = Leasehold()
    started = asyncio.Event()
    loop = asyncio.get_running_loop()

    @app.handler("t.thread")
    def work(ctx: SyncContext) -> None:
        loop.call_soon_threadsafe(started.set)
        assert ctx.wait_cancelled(20)
        raise RuntimeError("left early")

    async with running(cell, app):
        job_id = await shop.enqueue("t.thread")
        await started.wait()
        await shop.cancel(job_id)
        assert (await shop.ended(job_id)).state is State.CANCELED
