"""Upkeep that the leader does for all. Two doing the same at once harm nothing: the functions see to that."""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from leasehold.engine import bodies, flows, politeness, schedules, upkeep, webhooks
from leasehold.engine.database import Database
from leasehold.errors import LeaseholdError
from leasehold.log import emit
from leasehold.settings import Settings
from leasehold.worker.leader import Lead

#: What is slow may take this share of the time at most, or a large backlog would be counted all the time.
_SLOW_SHARE = 0.05


@dataclass(slots=True, kw_only=True)
class Chore:
    """Something to be done when a look says that it is due, and every so often whatever is said (None: only then).

    ``follows``: it is also due when anything was done since the last time.
    """

    name: str
    work: Callable[[Database], Awaitable[int]]
    at_least_s: float = 0.0  # between two times
    every_s: float | None = None
    follows: bool = False
    wakes: bool = False  # what it returns is work that appeared
    share: float = _SLOW_SHARE  # of the time that it may take
    done_at: float = -math.inf
    not_before: float = -math.inf

    def due_at(self, lead: Lead) -> float:
        """When it is to be done next by what is known now; in the past: at once."""
        is_said = self.name in lead.look.due and lead.looked_at > self.done_at
        if is_said or (self.follows and lead.stirred_at > self.done_at):
            return max(self.done_at + self.at_least_s, self.not_before)
        return math.inf if self.every_s is None else max(self.done_at + self.every_s, self.not_before)


def prompt_chores(settings: Settings) -> list[Chore]:
    """What jobs wait for, in the order of their haste."""
    pause = min(settings.poll_seconds, 0.25)
    return [
        Chore(name="promote", work=upkeep.promote, share=1, wakes=True),
        Chore(name="fire schedules", work=schedules.fire_due, share=1, wakes=True),
        Chore(name="tend flows", work=flows.tend_flows, at_least_s=pause / 2, share=0.5, wakes=True),
        Chore(name="unpark", work=upkeep.unpark, at_least_s=pause, share=0.5, wakes=True),
        Chore(name="reap", work=upkeep.reap, at_least_s=pause, share=0.5, wakes=True),
        Chore(name="reap strays", work=upkeep.reap_strays, at_least_s=15.0, every_s=30.0, follows=True, wakes=True),
    ]


def slow_chores(settings: Settings) -> list[Chore]:
    """What can wait, and what may take long."""
    history, results = settings.history_days, settings.result_days

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

    collect = webhooks.collect_job_events
    return [
        Chore(name="make partitions", work=upkeep.make_partitions, every_s=600.0),
        Chore(name="collect", work=collect, at_least_s=1.0, every_s=60.0, follows=True, wakes=True),
        Chore(name="count waiting", work=upkeep.count_waiting, at_least_s=1.0, every_s=60.0, follows=True),
        Chore(name="drop partitions", work=drop, every_s=3600.0),
        Chore(name="purge", work=purge, every_s=60.0),
        Chore(name="purge events", work=purge_events, every_s=60.0),
        Chore(name="purge flows", work=purge_flows, every_s=60.0),
        Chore(name="purge outside", work=politeness.purge_outside, every_s=60.0),
        *([Chore(name="remove objects", work=remove_objects, every_s=60.0)] if settings.objects_url else []),
        Chore(name="roll up", work=upkeep.roll_up, every_s=60.0),
    ]


async def maintain(db: Database, settings: Settings, lead: Lead, wake: Callable[[], None], *, busy: bool) -> None:
    """Do each chore when it is due, as long as we lead; call ``wake`` when work appeared. A ``busy`` worker does not
    begin with all."""
    slow = slow_chores(settings)
    if busy:
        _begin_apart(slow, 1.0)
    async with asyncio.TaskGroup() as group:
        for todo in (prompt_chores(settings), slow):  # what takes long must not hold up what jobs wait for
            group.create_task(_keep(db, todo, lead, wake))


def _begin_apart(todo: Sequence[Chore], seconds: float) -> None:
    """They begin one after the other: together they would hold a good part of a second's jobs up."""
    for number, chore in enumerate(todo):
        chore.not_before = time.monotonic() + number * seconds


async def _keep(db: Database, todo: Sequence[Chore], lead: Lead, wake: Callable[[], None]) -> None:
    looked = asyncio.Event()
    lead.looks.append(looked)
    while True:
        looked.clear()
        pause: float | None = None
        if lead.leads:
            for chore in todo:
                if chore.due_at(lead) <= time.monotonic() and not await _do(db, chore, lead, wake):
                    pause = db.outage.pause_seconds()
                    break
            else:
                pause = min(chore.due_at(lead) for chore in todo) - time.monotonic()
        if pause is None or pause > 0:
            try:
                async with asyncio.timeout(None if pause == math.inf else pause):
                    await looked.wait()
            except TimeoutError:
                pass


async def _do(db: Database, chore: Chore, lead: Lead, wake: Callable[[], None]) -> bool:
    """Do it; False when the database is away, and the others may wait too."""
    began = time.monotonic()
    try:
        done = await chore.work(db)
    except LeaseholdError as problem:
        if db.outage.covers(problem):
            return False
        emit("upkeep failed", level=logging.WARNING, chore=chore.name, problem=problem)
        done = 0
    chore.done_at, took = began, time.monotonic() - began
    chore.not_before = began + took / chore.share
    if done and chore.wakes:
        wake()
        lead.look_again()
    return True
