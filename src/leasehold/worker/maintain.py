"""Upkeep that any worker does for all. Two doing the same at once harm nothing: the functions see to that."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from leasehold.engine import bodies, flows, politeness, schedules, upkeep, webhooks
from leasehold.engine.database import Database
from leasehold.errors import LeaseholdError
from leasehold.log import emit
from leasehold.settings import Settings

#: Counting what waits may take this share of the time at most.
_COUNT_SHARE = 0.05


@dataclass(slots=True, kw_only=True)
class Chore:
    """Something to be done every so often, by whoever has the duty (None: by every worker)."""

    name: str
    every_s: float
    work: Callable[[Database], Awaitable[int]]
    duty: str | None = None
    wakes: bool = False  # what it returns is work that appeared
    urgent: bool = False  # done as often however long it takes
    due_at: float = 0.0


def chores(settings: Settings) -> list[Chore]:
    """All of it, in the order of their haste."""
    beat, history, results = settings.beat_seconds, settings.history_days, settings.result_days

    async def drop(db: Database) -> int:
        return await upkeep.drop_partitions(db, history)

    async def purge(db: Database) -> int:
        return await upkeep.purge(db, history_days=history, result_days=results)

    async def purge_events(db: Database) -> int:
        return await webhooks.purge_events(db, history_days=history)

    async def purge_flows(db: Database) -> int:
        return await flows.purge_flows(db, history_days=history)

    async def remove_objects(db: Database) -> int:
        from leasehold.net.objects import ObjectStore  # here: only where there is one

        async with ObjectStore(settings) as objects:
            return await bodies.remove_loose(db, objects)

    objects = Chore(name="remove objects", every_s=60.0, work=remove_objects, duty="housekeeping")
    return [
        Chore(name="promote", every_s=settings.poll_seconds, work=upkeep.promote, wakes=True),
        Chore(name="fire schedules", every_s=settings.poll_seconds, work=schedules.fire_due, wakes=True, urgent=True),
        Chore(name="tend flows", every_s=settings.poll_seconds, work=flows.tend_flows, wakes=True),
        Chore(name="unpark", every_s=settings.poll_seconds, work=upkeep.unpark, wakes=True),
        Chore(name="reap", every_s=beat, work=upkeep.reap, wakes=True),
        Chore(name="reap strays", every_s=15.0, work=upkeep.reap_strays, wakes=True),
        Chore(name="make partitions", every_s=600.0, work=upkeep.make_partitions, duty="housekeeping"),
        Chore(name="collect", every_s=1.0, work=webhooks.collect_job_events, duty="housekeeping", wakes=True),
        Chore(name="count waiting", every_s=1.0, work=upkeep.count_waiting, duty="housekeeping"),
        Chore(name="drop partitions", every_s=3600.0, work=drop, duty="housekeeping"),
        Chore(name="purge", every_s=60.0, work=purge, duty="housekeeping"),
        Chore(name="purge events", every_s=60.0, work=purge_events, duty="housekeeping"),
        Chore(name="purge flows", every_s=60.0, work=purge_flows, duty="housekeeping"),
        Chore(name="purge outside", every_s=60.0, work=politeness.purge_outside, duty="housekeeping"),
        *([objects] if settings.objects_url else []),
        Chore(name="roll up", every_s=60.0, work=upkeep.roll_up, duty="housekeeping"),
    ]


async def maintain(
    db: Database, settings: Settings, worker_id: Callable[[], UUID | None], wake: Callable[[], None], *, busy: bool
) -> None:
    """Do each chore when it is due; call ``wake`` when work appeared. A ``busy`` worker does not begin with all."""
    todo = chores(settings)
    if busy:
        _begin_apart(todo, min(settings.poll_seconds, 1.0))
    while True:
        pause = settings.poll_seconds * random.uniform(0.8, 1.2)
        for chore in todo:
            if time.monotonic() >= chore.due_at and not await _do(db, chore, worker_id, wake):
                pause = max(pause, db.outage.pause_seconds())
                break
        await asyncio.sleep(pause)


def _begin_apart(todo: Sequence[Chore], seconds: float) -> None:
    """What one does for all begins one after the other: together it would hold a good part of a second's jobs up."""
    for number, chore in enumerate(chore for chore in todo if chore.duty):
        chore.due_at = time.monotonic() + number * seconds


async def _do(db: Database, chore: Chore, worker_id: Callable[[], UUID | None], wake: Callable[[], None]) -> bool:
    """Do it if it is ours; False when the database is away, and the others may wait too."""
    began = time.monotonic()
    try:
        if chore.duty is None or await _has_duty(db, chore, worker_id()):
            done = await chore.work(db)
            if done and chore.wakes:
                wake()
    except LeaseholdError as problem:
        if db.outage.covers(problem):
            return False
        emit("upkeep failed", level=logging.WARNING, chore=chore.name, problem=problem)
    # What takes long is done less often, or a large backlog would be counted all the time.
    rest = 0.0 if chore.urgent else (time.monotonic() - began) / _COUNT_SHARE
    chore.due_at = time.monotonic() + max(chore.every_s * random.uniform(0.8, 1.0), rest)
    return True


async def _has_duty(db: Database, chore: Chore, worker_id: UUID | None) -> bool:
    assert chore.duty is not None
    return worker_id is not None and await upkeep.take_duty(db, chore.duty, worker_id, 30.0)
