"""Beats, from a thread with an event loop and a connection of its own: a handler that blocks the worker's loop must not
cost everybody's leases.

The same thread is the watchdog. It names a handler that blocks the loop, while it does. An attempt that is still there
after its hard timeout and a margin hangs in a thread or blocks the loop; nothing in the process can end it but the end
of the process.
"""

import asyncio
import logging
import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol
from uuid import UUID

from leasehold.database.database import Database
from leasehold.engine import jobs, leases
from leasehold.errors import LeaseholdError, WorkerLost
from leasehold.job import AttemptOutcome
from leasehold.log import emit
from leasehold.loop_watch import LOOK_SECONDS
from leasehold.program.running_attempt import RunningAttempt, timeout_error
from leasehold.settings import Settings

#: Exit code of a process that had to be ended because of a stuck handler (EX_SOFTWARE).
STUCK = 70
#: Stop before the database would take the leases: the rest is for telling the handlers.
_SAFE = 0.9


class LeaseHolder(Protocol):
    """What the heartbeat needs of the worker; every method may be called in the heartbeat's thread."""

    def note_vacancy(self) -> None: ...

    def cancels_requested(self, tokens: set[int]) -> None: ...

    def leases_lost(self, worker_id: UUID, why: str) -> None: ...

    def running_attempts(self) -> Sequence[RunningAttempt]: ...

    def unreported(self) -> Sequence[AttemptOutcome]: ...

    def check_loop(self) -> None: ...


class Heartbeat:
    """Beats for one worker until closed. ``follow`` tells it the id under which the worker is registered now."""

    def __init__(self, db: Database, settings: Settings, holder: LeaseHolder) -> None:
        self._settings = settings
        self._holder = holder
        # A beat that hangs must leave time for another, over another connection.
        own = db.target.within(settings.lease_seconds / 3)
        self._calls = Database(own, connections=1, outage=db.outage)
        self._worker_id: UUID | None = None
        self._heard_at = 0.0  # when the newest beat that got through was sent: the lease counts from there
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: asyncio.Event | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="leasehold-heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._started.wait()

    def follow(self, worker_id: UUID, *, since: float) -> None:
        """Beat for this id, registered at the moment ``since`` of the monotonic clock."""
        self._heard_at = since
        self._worker_id = worker_id

    def pause(self) -> None:
        """No beats until the next ``follow``."""
        self._worker_id = None

    @property
    def silent_seconds(self) -> float:
        """Since the newest beat that got through was sent."""
        return time.monotonic() - self._heard_at if self._heard_at else 0.0

    async def close(self) -> None:
        assert self._loop is not None
        assert self._closing is not None
        self._loop.call_soon_threadsafe(self._closing.set)
        await asyncio.to_thread(self._thread.join)

    # -- in the thread ------------------------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.run(self._live())

    async def _live(self) -> None:
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        self._started.set()
        async with self._calls:
            tasks = [asyncio.create_task(self._beat_forever()), asyncio.create_task(self._watch_forever())]
            await self._closing.wait()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _beat_forever(self) -> None:
        await asyncio.sleep(self._settings.beat_seconds)  # to register was to beat
        while True:
            answered = await self._beat()
            await asyncio.sleep(self._settings.beat_seconds if answered else self._retry_seconds())

    async def _beat(self) -> bool:
        """One beat; False when it did not get through."""
        worker_id, sent_at = self._worker_id, time.monotonic()
        if worker_id is None:
            return False
        left = self._heard_at + self._settings.lease_seconds * _SAFE - sent_at
        if left <= 0:
            self._lose(worker_id, f"no heartbeat got through for {self._settings.lease_seconds:g} s")
            return False
        try:
            async with asyncio.timeout(left):
                tokens, is_led = await leases.heartbeat_and_check_leader(self._calls, worker_id)
        except TimeoutError:
            return False  # the next look says that the leases are lost
        except WorkerLost as problem:
            self._lose(worker_id, str(problem))
            return False
        except LeaseholdError as problem:
            if not self._calls.outage.covers(problem):
                emit("beat failed", level=logging.WARNING, problem=problem)
            return False
        if self._worker_id == worker_id:
            self._heard_at = sent_at
        if not is_led:
            self._holder.note_vacancy()
        if tokens:
            self._holder.cancels_requested(tokens)
        return True

    def _lose(self, worker_id: UUID, why: str) -> None:
        if self._worker_id == worker_id:
            self._worker_id = None
        self._holder.leases_lost(worker_id, why)

    def _retry_seconds(self) -> float:
        """A pause before another try, but not beyond the moment at which the attempts must be stopped."""
        left = self._heard_at + self._settings.lease_seconds * _SAFE - time.monotonic()
        pause = min(self._settings.beat_seconds, 1.0) * random.uniform(0.1, 1.0)
        return pause if self._worker_id is None else max(0.0, min(pause, left))

    # -- the watchdog -------------------------------------------------------------------------------------------

    async def _watch_forever(self) -> None:
        margin = self._settings.overrun_seconds
        while True:
            await asyncio.sleep(min(LOOK_SECONDS, margin))
            self._holder.check_loop()
            now = time.monotonic()
            if stuck := [one for one in self._holder.running_attempts() if now > one.hard_at + margin]:
                await self._end_process(stuck)

    async def _end_process(self, stuck: Sequence[RunningAttempt]) -> None:
        """Record what hangs, give the rest back, and end: what runs in a thread cannot be stopped otherwise."""
        for one in stuck:
            emit("stuck attempt ends the process", level=logging.ERROR, kind=one.job.kind, job_id=one.job.job_id)
        errors = [
            AttemptOutcome(
                token=one.job.token,
                outcome="errored",
                error=timeout_error(one.job, more=" and could not be stopped: the process had to be ended"),
            )
            for one in stuck
        ]
        try:
            await jobs.finish(self._calls, [*self._holder.unreported(), *errors])
            if self._worker_id is not None:
                await leases.end_worker(self._calls, self._worker_id)
        except LeaseholdError as problem:  # then the leases expire
            emit("ended without goodbye", level=logging.ERROR, problem=problem)
        finally:
            end_process(STUCK)


end_process: Callable[[int], None] = os._exit
