"""Upkeep: what a worker that leads begins with, and when it does what."""

import asyncio
import time
from typing import Any

from leasehold.engine.maintenance import DueWork
from leasehold.job import State
from leasehold.program.app import Leasehold
from leasehold.program.context import Context
from leasehold.settings import Settings
from leasehold.worker.leader import Leadership
from leasehold.worker.maintenance import MaintenanceTask, _stagger, all_tasks
from tests.cell import Cell
from tests.waiting import eventually
from tests.worker.running import Shop, running


def lead_that_saw(*due: str, at: float = 0.0) -> Leadership:
    def nothing(*_: Any) -> None: ...

    db: Any = None
    leadership = Leadership(db, Settings(), lambda: None, wake=nothing, notify=nothing, hears=lambda: True)
    leadership.due_work, leadership.queried_at = DueWork(leads=True, due=frozenset(due)), at
    return leadership


async def nothing(db: Any) -> int:
    return 0


def test_a_busy_worker_comes_to_what_can_wait_one_by_one() -> None:
    todo = [task for task in all_tasks(Settings())[0] if not task.is_urgent]
    now = time.monotonic()
    _stagger(todo, 1.0)
    leadership = lead_that_saw()
    assert [round(task.due_at(leadership) - now) for task in todo] == list(range(len(todo))), "a second apart"
    assert [task.name for task in todo[:3]] == ["make partitions", "count waiting jobs", "drop partitions"]


def test_what_jobs_wait_for_is_done_when_a_look_says_so_and_once_for_each_look() -> None:
    now = time.monotonic()
    todo = {task.name: task for task in all_tasks(Settings())[0] if task.is_urgent}
    leadership = lead_that_saw("dispatch due jobs", at=now)
    assert [name for name, task in todo.items() if task.due_at(leadership) <= now] == [
        "dispatch due jobs",
        "rescue orphaned leases",
    ], "one was never done"
    todo["dispatch due jobs"].done_at = now + 0.001
    assert todo["dispatch due jobs"].due_at(leadership) > now + 1e9, "the look was before"


def test_what_follows_from_what_was_done_is_done_while_something_is_and_now_and_then() -> None:
    now = time.monotonic()
    task = MaintenanceTask(name="count", work=nothing, at_least_s=1.0, every_s=60.0, follows=True, done_at=now)
    leadership = lead_that_saw()
    assert task.due_at(leadership) == now + 60
    leadership.note_activity()
    assert task.due_at(leadership) == now + 1


async def test_a_job_is_dispatched_at_its_time_while_handlers_hold_all_their_connections(
    cell: Cell, shop: Shop
) -> None:
    app, done = Leasehold(), asyncio.Event()

    @app.handler("t.hold")
    async def hold(ctx: Context) -> None:
        async with ctx.transaction():
            await done.wait()

    @app.handler("t.quick")
    async def quick(ctx: Context) -> None: ...

    async with running(cell, app) as worker:
        connections = worker._db.usage().size
        await shop.enqueue_many("t.hold", [None] * (connections + 2))

        async def all_are_held() -> bool:
            return worker._db.usage().waiting == 2

        await eventually(all_are_held, what="handlers that wait for a connection")
        later = await shop.enqueue("t.quick", delay_s=0.5)
        job = await asyncio.wait_for(shop.ended(later), 20)
        assert (job.state, worker._db.usage().used) == (State.SUCCEEDED, connections)
        done.set()
