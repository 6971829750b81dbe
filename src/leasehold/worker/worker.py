"""The worker: start, drain, stop.

``poller`` claims jobs and reports outcomes, ``attempt`` runs one attempt, ``heartbeat`` keeps the
leases from a thread of its own. Everything else runs in one event loop; only the methods under
"from the heartbeat" are called in another thread.
"""

import asyncio
import logging
import os
import resource
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from leasehold.database.amqp_wakeups import Broker
from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.database.wakeups import NEWS_SECONDS, NO_LEADER, Listener, Notifier, news_channel
from leasehold.errors import LeaseholdError, LoginRefused, Unreachable
from leasehold.job import AttemptOutcome
from leasehold.log import emit
from leasehold.loop_watch import LoopWatch
from leasehold.program.app import Leasehold
from leasehold.program.running_attempt import RunningAttempt, Stop
from leasehold.settings import Settings
from leasehold.worker import queue_selection
from leasehold.worker.attempt import AttemptRunner
from leasehold.worker.heartbeat import Heartbeat
from leasehold.worker.leader import Leadership
from leasehold.worker.poller import EXCHANGES, Poller
from leasehold.worker.registration import Registration
from leasehold.worker.timeouts import wait_for

if TYPE_CHECKING:
    from leasehold.metrics import LoopLag, Sample
    from leasehold.worker.metrics import WorkerMetrics

#: For wake-ups and the work of a leader, some of which takes long.
_UPKEEP_CONNECTIONS = 2


class Worker:
    """Runs attempts of one app until ``stop()``: in good order at the first call, at once at the second."""

    def __init__(self, db: Database, app: Leasehold, settings: Settings, *, name: str | None = None) -> None:
        self.name = name or f"{socket.gethostname()}-{os.getpid()}"
        self.port: int | None = None  # where it answers about its health and metrics
        self.left_behind = 0  # attempts that did not let themselves be stopped at the end
        self._db = db
        self._app = app
        self._settings = settings
        self._forced = asyncio.Event()
        db.log_outages()
        queues = _queues_of(app, settings)
        # Connections of its own: handlers may hold all of ``db``'s in their transactions.
        own = db.target.within(settings.lease_seconds)
        self._calls = Database(own, connections=EXCHANGES, outage=db.outage)
        self._upkeep = Database(db.target, connections=_UPKEEP_CONNECTIONS, outage=db.outage)
        self._notifier = Notifier(self._upkeep)
        changes = news_channel(db.target.schema)
        self._changes = Notifier(self._upkeep, channel=changes, every_s=NEWS_SECONDS)
        self._listener = Listener(db.target, self._heard, database=db.outage)
        self._heartbeat = Heartbeat(db, settings, self)
        self._registration = Registration(self._calls, app, settings, self._heartbeat, name=self.name, queues=queues)
        self._metrics = None if settings.worker_port is None else self._new_metrics()
        self._runner = AttemptRunner(
            db,
            app,
            settings,
            wake_ups=self._notifier,
            changes=self._changes,
            metrics=self._metrics,
        )
        self._poller = Poller(
            self._calls,
            settings,
            queues,
            self._runner,
            self._registration,
            self._listener,
            wake_ups=self._notifier,
            changes=self._changes,
            metrics=self._metrics,
            lost=self._expire_leases,
            exchanged=self._retire_if_worn,
        )
        self._runner.ended = self._poller.collect
        self._leadership = Leadership(
            self._upkeep,
            settings,
            lambda: self.worker_id,
            wake=self._poller.wake,
            notify=self._notifier.notify,
            hears=self._listener.listening.is_set,
        )
        self._leadership.changed = self._follow_changes

    def _new_metrics(self) -> "WorkerMetrics":
        from leasehold.worker.metrics import WorkerMetrics  # here: without a port it has no reader

        return WorkerMetrics(self._db, self._app.handlers.keys())

    @staticmethod
    def database(settings: Settings) -> Database:
        """The connections that handlers share: for what they report, and for their transactions."""
        connections = min(settings.slots, 20) + 2
        return Database(target(settings, Role.WORKER), connections=connections, patient=True)

    @property
    def worker_id(self) -> UUID | None:
        """None while the worker is not registered, or was declared lost."""
        return self._registration.worker_id

    def wake(self) -> None:
        """Look for work now, not at the next poll."""
        self._poller.wake()

    # -- start ------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Work until stopped; leaves no lease behind."""
        self._loop = asyncio.get_running_loop()
        self._loop_watch = LoopWatch(self.running_attempts)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._calls)
            await stack.enter_async_context(self._upkeep)
            stack.push_async_callback(self._notifier.close)
            stack.push_async_callback(self._changes.close)
            if self._settings.worker_port is not None:
                from leasehold.worker.health_port import answering

                port = answering(self._settings.worker_host, self._settings.worker_port, self)
                self.port = await stack.enter_async_context(port)
            if not await self._start():
                await self._leave()
                return
            self._runner.resources = await stack.enter_async_context(self._app.open_resources())
            self._heartbeat.start()
            stack.push_async_callback(self._heartbeat.close)
            stack.push_async_callback(self._runner.close)
            if self._settings.amqp_url:
                broker = Broker(self._settings, partial(self._heard, ""))
                await stack.enter_async_context(broker)
            for background in (
                self._leadership.run(),
                self._in_a_lull(self._listen),
                self._in_a_lull(self._maintain),
            ):
                stack.push_async_callback(_end, asyncio.create_task(background))
            stack.push_async_callback(self._leave)
            stack.push_async_callback(self._release_attempts)
            await self._poller.run()
            await self._drain()

    async def _start(self) -> bool:
        """Register, and declare the app's schedules, once the database answers; false if stopped
        before."""
        while not self._poller.stopping.is_set():
            try:
                if self.worker_id is None:
                    await self._registration.register()
                if self._app.schedules:
                    await self._app.sync_schedules(self._db, tenant=self._settings.tenant)
                return True
            except LoginRefused:  # at the start it is a mistake; later a server may be replaced
                raise
            except Unreachable as problem:
                self._poller.log_failure("registration failed", problem)
                await self._poller.pause()
        return False

    async def _in_a_lull(self, background: Callable[[], Awaitable[None]]) -> None:
        """Where much waits, a new worker begins with that: the rest opens connections, and can wait."""
        await wait_for(self._poller.lull, self._settings.poll_seconds)
        await background()

    async def _listen(self) -> None:
        async with self._listener:
            await asyncio.Event().wait()

    async def _maintain(self) -> None:
        from leasehold.worker.maintenance import maintain  # its imports come after the first jobs

        busy = not self._poller.lull.is_set()
        wake = self._poller.wake
        await maintain(self._upkeep, self._settings, self._leadership, wake, busy=busy)

    # -- while it runs ----------------------------------------------------------------------------

    def _heard(self, queue: str) -> None:
        if queue == NO_LEADER:
            self._leadership.note_vacancy()
        elif self._leadership.leads:
            self._leadership.note_activity()
        self._poller.heard(queue)

    def _follow_changes(self) -> None:
        """The leader hears of everything that happens to jobs."""
        channel = news_channel(self._db.target.schema)
        if self._leadership.leads:
            self._listener.hear(channel, self._leadership.note_activity)
        else:
            self._listener.ignore(channel)

    def _expire_leases(self, worker_id: UUID, why: str) -> None:
        """The leases may be another worker's by now: stop all attempts and forget their outcomes.

        The next exchange registers the worker under a new id.
        """
        if worker_id != self.worker_id:
            return
        if self._metrics:
            self._metrics.lost()
        fields = {"worker": self.name, "worker_id": worker_id, "why": why}
        emit("worker declared lost", level=logging.WARNING, **fields)
        self._registration.drop()
        self._poller.drop()
        self._runner.interrupt(Stop.LOST)

    def why_not_ready(self) -> str | None:
        """Why no work is taken now; None when it is."""
        if self._poller.stopping.is_set():
            return "stopping"
        if self.worker_id is None:
            return "not registered: is the database there?"
        silent = self._heartbeat.silent_seconds
        if silent > self._settings.lease_seconds:
            return f"no heartbeat got through for {silent:.0f} s"
        return None

    def samples(self, lag: "LoopLag") -> "Iterator[Sample]":
        """The numbers of this process."""
        from leasehold.engine.metrics import process_metrics
        from leasehold.metrics import Sample

        assert self._metrics is not None
        yield Sample("slots", {}, self._settings.slots)
        yield Sample("leases", {}, len(self._runner.running))
        yield Sample("beat_age_seconds", {}, self._heartbeat.silent_seconds)
        yield from self._metrics.counts.samples()
        pools = {"handlers": self._db, "exchange": self._calls, "upkeep": self._upkeep}
        yield from process_metrics(lag, pools)

    # -- from the heartbeat: called in its thread -------------------------------------------------

    def note_vacancy(self) -> None:
        self._loop.call_soon_threadsafe(self._leadership.note_vacancy)

    def cancels_requested(self, tokens: set[int]) -> None:
        self._loop.call_soon_threadsafe(self._runner.cancel, tokens)

    def leases_lost(self, worker_id: UUID, why: str) -> None:
        self._loop.call_soon_threadsafe(self._expire_leases, worker_id, why)

    def running_attempts(self) -> Sequence[RunningAttempt]:
        return self._runner.attempts()

    def check_loop(self) -> None:
        self._loop_watch.look()

    def unreported(self) -> Sequence[AttemptOutcome]:
        return self._poller.unreported()

    # -- drain and stop ---------------------------------------------------------------------------

    def stop(self) -> None:
        if self._poller.stopping.is_set():
            self._forced.set()
        self._poller.stopping.set()
        self._poller.wake()

    def _retire_if_worn(self) -> None:
        """Stop after ``max_jobs`` attempts, or above ``max_memory_mb``: a supervisor restarts it."""
        settings, started = self._settings, self._runner.started
        if settings.max_jobs is not None and started >= settings.max_jobs:
            self._retire(f"ran {started} jobs")
        elif settings.max_memory_mb is not None and (used := resident_mb()) > settings.max_memory_mb:
            self._retire(f"uses {used} MB")

    def _retire(self, why: str) -> None:
        if not self._poller.stopping.is_set():
            emit("worker retires", worker=self.name, why=why)
            self.stop()

    async def _drain(self) -> None:
        """Claim no more; give what runs its grace, and report what ends."""
        try:
            async with asyncio.timeout(self._settings.grace_seconds):
                while self._runner.running and not self._forced.is_set():
                    self._poller.woken.clear()
                    await self._finish_or_pause()
                    await self._poller.woken.wait()
        except TimeoutError:
            pass

    async def _finish_or_pause(self) -> None:
        try:
            await self._poller.finish()
        except LeaseholdError as problem:
            self._poller.log_failure("report failed", problem)
            await asyncio.sleep(self._db.outage.pause_seconds())
            self._poller.wake()

    async def _release_attempts(self) -> None:
        self.left_behind = await self._runner.release()

    async def _leave(self) -> None:
        try:
            await self._poller.finish()
            if released := await self._registration.end():
                self._notifier.notify()
            emit("worker stopped", worker=self.name, released=released)
        except LeaseholdError as problem:
            fields = {"worker": self.name, "problem": problem}
            emit("worker stopped without goodbye", level=logging.WARNING, **fields)


def _queues_of(app: Leasehold, settings: Settings) -> dict[str, int | None]:
    """The queues to claim from, each with its limit of attempts at once."""
    if settings.queues:
        return queue_selection.parse_queues(settings.queues)
    return dict.fromkeys(app.queues)


def resident_mb() -> int:
    """Memory of this process: its use now, or its peak where the system does not tell more."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize() >> 20
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak >> 20 if sys.platform == "darwin" else peak >> 10


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait([task])
