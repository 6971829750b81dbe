"""Upkeep that the leader does for all. Two doing the same at once harm nothing: the functions see to that."""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from leasehold.database.database import Database
from leasehold.engine import maintenance
from leasehold.errors import LeaseholdError
from leasehold.feature import load_all
from leasehold.log import emit
from leasehold.settings import Settings
from leasehold.worker.leader import Leadership
from leasehold.worker.timeouts import wait_for

#: What is slow may take this share of the time at most, or a large backlog would be counted all the time.
_SLOW_SHARE = 0.05


@dataclass(slots=True, kw_only=True)
class MaintenanceTask:
    """Something to be done when a look says that it is due, and every so often whatever is said (None: only then).

    ``follows``: it is also due when anything was done since the last time.
    """

    name: str
    work: Callable[[Database], Awaitable[int]]
    is_urgent: bool = False  # jobs wait for it
    at_least_s: float = 0.0  # between two times
    every_s: float | None = None
    follows: bool = False
    wakes: bool = False  # what it returns is work that appeared
    share: float = _SLOW_SHARE  # of the time that it may take
    done_at: float = -math.inf
    not_before: float = -math.inf

    def due_at(self, leadership: Leadership) -> float:
        """When it is to be done next by what is known now; in the past: at once."""
        is_said = self.name in leadership.due_work.due and leadership.queried_at > self.done_at
        if is_said or (self.follows and leadership.active_at > self.done_at):
            return max(self.done_at + self.at_least_s, self.not_before)
        return math.inf if self.every_s is None else max(self.done_at + self.every_s, self.not_before)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderLoop:
    """Work of a leader with a clock of its own; it runs as long as the worker does."""

    name: str
    run: Callable[[Database, Leadership], Coroutine[Any, Any, None]]


def own_tasks(settings: Settings) -> list[MaintenanceTask]:
    """The kernel's tasks, the urgent ones first."""
    pause = min(settings.poll_seconds, 0.25)
    history, results = settings.history_days, settings.result_days

    async def drop(db: Database) -> int:
        return await maintenance.drop_partitions(db, history)

    async def purge(db: Database) -> int:
        return await maintenance.purge(db, history_days=history, result_days=results)

    return [
        MaintenanceTask(
            name="dispatch due jobs",
            work=maintenance.dispatch_due_jobs,
            is_urgent=True,
            share=1,
            wakes=True,
        ),
        MaintenanceTask(
            name="rescue silent workers",
            work=maintenance.rescue_silent_workers,
            is_urgent=True,
            at_least_s=pause,
            share=0.5,
            wakes=True,
        ),
        MaintenanceTask(
            name="rescue orphaned leases",
            work=maintenance.rescue_orphaned_leases,
            is_urgent=True,
            at_least_s=15.0,
            every_s=30.0,
            follows=True,
            wakes=True,
        ),
        MaintenanceTask(name="make partitions", work=maintenance.make_partitions, every_s=600.0),
        MaintenanceTask(
            name="count waiting jobs",
            work=maintenance.refresh_waiting_counts,
            at_least_s=1.0,
            every_s=60.0,
            follows=True,
        ),
        MaintenanceTask(name="drop partitions", work=drop, every_s=3600.0),
        MaintenanceTask(name="purge", work=purge, every_s=60.0),
        MaintenanceTask(name="count jobs by minute", work=maintenance.roll_up_job_counts, every_s=60.0),
    ]


def all_tasks(settings: Settings) -> tuple[list[MaintenanceTask], list[LeaderLoop]]:
    """The kernel's tasks, then those of the features in their order; and the loops of features."""
    parts = [own_tasks(settings), *(tasks(settings) for tasks in load_all("maintenance"))]
    tasks = [one for part in parts for one in part if isinstance(one, MaintenanceTask)]
    loops = [one for part in parts for one in part if isinstance(one, LeaderLoop)]
    return tasks, loops


async def maintain(
    db: Database, settings: Settings, leadership: Leadership, wake: Callable[[], None], *, busy: bool
) -> None:
    """Do each task when it is due, as long as we lead; call ``wake`` when work appeared. A ``busy`` worker does not
    begin with all."""
    tasks, loops = all_tasks(settings)
    urgent = [task for task in tasks if task.is_urgent]
    slow = [task for task in tasks if not task.is_urgent]
    if busy:
        _stagger(slow, 1.0)
    async with asyncio.TaskGroup() as group:
        for todo in (urgent, slow):  # what takes long must not hold up what jobs wait for
            group.create_task(_run_when_due(db, todo, leadership, wake))
        for loop in loops:
            group.create_task(loop.run(db, leadership))


def _stagger(todo: Sequence[MaintenanceTask], seconds: float) -> None:
    """They begin one after the other: together they would hold a good part of a second's jobs up."""
    for number, task in enumerate(todo):
        task.not_before = time.monotonic() + number * seconds


async def _run_when_due(
    db: Database, todo: Sequence[MaintenanceTask], leadership: Leadership, wake: Callable[[], None]
) -> None:
    looked = asyncio.Event()
    leadership.query_events.append(looked)
    while True:
        looked.clear()
        pause: float | None = None
        if leadership.leads:
            for task in todo:
                if task.due_at(leadership) <= time.monotonic() and not await _run_task(db, task, leadership, wake):
                    pause = db.outage.pause_seconds()
                    break
            else:
                pause = min(task.due_at(leadership) for task in todo) - time.monotonic()
        if pause is None or pause > 0:
            await wait_for(looked, None if pause == math.inf else pause)


async def _run_task(db: Database, task: MaintenanceTask, leadership: Leadership, wake: Callable[[], None]) -> bool:
    """Do it; False when the database is away, and the others may wait too."""
    began = time.monotonic()
    try:
        done = await task.work(db)
    except LeaseholdError as problem:
        if db.outage.covers(problem):
            return False
        emit("maintenance failed", level=logging.WARNING, task=task.name, problem=problem)
        done = 0
    task.done_at, took = began, time.monotonic() - began
    task.not_before = began + took / task.share
    if done and task.wakes:
        wake()
        leadership.query_again()
    return True
