"""Soft and hard timeouts; handlers that cannot be stopped."""

import asyncio
import re
import time
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from leasehold.database.database import Database
from leasehold.engine import maintenance
from leasehold.job import State
from leasehold.program.app import Leasehold
from leasehold.program.context import Context, SyncContext
from tests.cell import Cell
from tests.cli.program import started
from tests.waiting import eventually
from tests.worker.running import ENVIRONMENT, FAST, Shop, running

APP = "tests.worker.apps:app"


async def test_the_soft_timeout_warns_and_the_hard_one_ends_the_attempt(cell: Cell, shop: Shop) -> None:
    app = Leasehold()
    seen: list[bool] = []

    @app.handler("t.slow", timeout=1, attempts=1)
    async def slow(ctx: Context) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            seen.append(ctx.timed_out)

    async with running(cell, app):
        job = await shop.run("t.slow")
    assert (job.state, seen) == (State.DEAD, [True])
    assert (await shop.error(job.job_id))["type"] == "TimeoutError"
    [warning] = await shop.events(job.job_id, "warning")
    assert re.search(r"soft timeout after 0\.\d s; the hard one is 1 s", str(warning.message))


async def test_an_extended_attempt_may_take_longer(cell: Cell, shop: Shop) -> None:
    app = Leasehold()

    @app.handler("t.slow", timeout=1, attempts=1)
    async def slow(ctx: Context) -> str:
        await ctx.extend(30)
        await asyncio.sleep(1.2)
        return "in time"

    async with running(cell, app):
        assert (await shop.run("t.slow")).result == "in time"


async def test_a_handlers_own_soft_timeout_lets_it_leave_in_good_order(cell: Cell, shop: Shop) -> None:
    app = Leasehold()

    @app.handler("t.step", timeout=30, soft_timeout=0.1)
    async def step(ctx: Context) -> str:
        while not ctx.timed_out:  # noqa: ASYNC110 – each turn is a step of work
            await asyncio.sleep(0.01)
        return "saved what I had"

    async with running(cell, app):
        assert (await shop.run("t.step")).result == "saved what I had"


async def test_a_sync_handler_that_looks_leaves_at_its_hard_timeout(cell: Cell, shop: Shop) -> None:
    app = Leasehold()

    @app.handler("t.thread", timeout=0.2, attempts=1)
    def work(ctx: SyncContext) -> None:
        assert ctx.wait_cancelled(20)
        raise RuntimeError("told to leave")

    async with running(cell, app, replace(FAST, overrun_seconds=20.0)):
        job = await shop.run("t.thread")
    assert job.state is State.DEAD
    assert (await shop.error(job.job_id))["type"] == "TimeoutError"


async def test_the_wall_clock_of_the_worker_does_not_matter(
    cell: Cell, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An hour ahead, then an hour behind, while an attempt runs: leases go by the database, timeouts by monotonic."""
    app = Leasehold()
    real = time.time

    @app.handler("t.jump", timeout=20)
    async def jump(ctx: Context) -> str:
        for offset in (3600, -3600):
            monkeypatch.setattr(time, "time", lambda offset=offset: real() + offset)
            await asyncio.sleep(0.6)  # a beat
        return "calm"

    async with running(cell, app) as worker:
        before = worker.worker_id
        job = await shop.run("t.jump")
        assert worker.worker_id == before
    assert (job.result, await shop.history(job.job_id)) == ("calm", [(1, "succeeded")])


def environment(cell: Cell, **more: str) -> dict[str, str]:
    return cell.environment() | ENVIRONMENT | more


async def has_begun(shop: Shop, job_id: UUID) -> None:
    async def ask() -> bool:
        return bool(await shop.events(job_id, "progress"))

    await eventually(ask, what="a word from the handler")


async def test_a_handler_that_blocks_the_event_loop_past_the_lease_loses_nobodys_lease(
    cell: Cell, shop: Shop, worker_db: Database
) -> None:
    with started("worker", APP, env=environment(cell)) as program:
        bystander = await shop.enqueue("t.slow")
        await has_begun(shop, bystander)
        job_id = await shop.enqueue("t.block", 2.5)
        await has_begun(shop, job_id)

        async def ended() -> bool:
            assert await maintenance.rescue_silent_workers(worker_db) == 0, "its beats go on"
            return (await shop.get(job_id)).state.is_outcome

        await eventually(ended, what="the end of the blocking attempt")
        assert (await shop.get(bystander)).state is State.RUNNING
        program.kill()
    assert await shop.history(job_id) == [(1, "succeeded")]


@pytest.mark.parametrize(
    ("kind", "value"), [("t.block", 60), ("t.hang", 60), ("t.stubborn", None)], ids=["loop", "thread", "uncancellable"]
)
async def test_a_stuck_handler_ends_the_process_and_nobody_else_pays(
    cell: Cell, shop: Shop, kind: str, value: Any
) -> None:
    with started("worker", APP, env=environment(cell)) as program:
        bystander = await shop.enqueue("t.slow")
        await has_begun(shop, bystander)
        job_id = await shop.enqueue(kind, value, timeout_s=0.5, max_attempts=1)
        said = program.ended()
    assert said.code == 70
    assert "stuck attempt ends the process" in said.err
    job = await shop.get(job_id)
    assert (job.state, await shop.history(job_id)) == (State.DEAD, [(1, "errored")])
    error = await shop.error(job_id)
    assert (error["type"], "the process had to be ended" in error["message"]) == ("TimeoutError", True)
    assert (await shop.get(bystander)).state is State.QUEUED, "at once, without waiting for a lease"
    assert await shop.history(bystander) == [(1, "released")]


@pytest.mark.parametrize(("kind", "value"), [("t.hang", 3600), ("t.stubborn", None)], ids=["thread", "uncancellable"])
async def test_a_stopped_worker_does_not_wait_for_what_cannot_be_stopped(
    cell: Cell, shop: Shop, kind: str, value: Any
) -> None:
    with started("worker", APP, env=environment(cell, LEASEHOLD_GRACE_SECONDS="0.2")) as program:
        job_id = await shop.enqueue(kind, value)
        await has_begun(shop, job_id)
        assert program.stopped().code == 0
    assert await shop.history(job_id) == [(1, "released")]
