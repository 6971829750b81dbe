"""The worker: finish what ended, claim what fits, run it.

Beats come from another thread (``lease``), one timer serves all timeouts (``timeouts``), and what an attempt does is in
``execute``. Everything here runs in one event loop; only the methods under "from the heart" are called from outside.
"""

import asyncio
import logging
import os
import random
import resource
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from leasehold import tracing
from leasehold.app import Leasehold
from leasehold.blocked import LoopWatch
from leasehold.context import Context
from leasehold.engine import jobs, workers
from leasehold.engine.broker import Broker
from leasehold.engine.connect import target
from leasehold.engine.database import Database, Role, own_version
from leasehold.engine.wakeups import NEWS_SECONDS, NO_LEADER, Listener, Notifier, news_channel
from leasehold.errors import BadInput, LeaseholdError, LoginRefused, TooLarge, Unreachable, WorkerLost
from leasehold.job import Ended, Grant
from leasehold.log import emit, is_logged
from leasehold.outcomes import describe
from leasehold.settings import Settings
from leasehold.worker import queues
from leasehold.worker.execute import Execution, Stop, context, run_attempt, traced
from leasehold.worker.first_step import starter
from leasehold.worker.gates import ring
from leasehold.worker.isolate import Processes
from leasehold.worker.leader import Lead
from leasehold.worker.lease import Heart
from leasehold.worker.link import DirectLink
from leasehold.worker.threads import Threads
from leasehold.worker.timeouts import Timeouts

if TYPE_CHECKING:
    from leasehold.metrics import LoopLag, Sample
    from leasehold.worker.meter import Meter

#: A kind that nobody here knows is given back for about this long.
_UNKNOWN_KIND_SECONDS = 30.0
_LOG_UNKNOWN_KIND_SECONDS = 60.0
#: After a wake-up we look twice: the notification may have come before its commit was visible to us.
_LOOK_AGAIN_SECONDS = 0.01
#: Between two polls of a worker that hears wake-ups: they are told of all work, so this is for what went wrong.
_HEARING_POLL_SECONDS = (15.0, 30.0)
#: Exchanges under way at once: while the database works on one batch, this process works on another.
_EXCHANGES = 2


class Report(NamedTuple):
    """An attempt that has ended, and what is to be said of it."""

    grant: Grant
    ended: Ended


class Flight(NamedTuple):
    """An exchange under way. Its transaction holds what it reports before its commit, and what it claims after it."""

    reports: dict[int, Report]
    queue: str
    asked: int

    @property
    def leases(self) -> int:
        return max(len(self.reports), self.asked)

    def leases_of(self, queue: str) -> int:
        reported = sum(report.grant.queue == queue for report in self.reports.values())
        return max(reported, self.asked if self.queue == queue else 0)


class Worker:
    """Runs attempts of one app until it is told to stop. ``stop()`` is graceful; a second one does not wait."""

    def __init__(
        self,
        db: Database,
        app: Leasehold,
        settings: Settings,
        *,
        name: str | None = None,
    ) -> None:
        self.name = name or f"{socket.gethostname()}-{os.getpid()}"
        self.worker_id: UUID | None = None  # None while we are not registered, or were declared lost
        self._app = app
        self._settings = settings
        self._resources: Mapping[str, Any] = {}
        self._queues = queues.parse_queues(settings.queues) if settings.queues else dict.fromkeys(app.queues)
        self._groups = queues.groups(self._queues)
        self._db = db
        db.log_outages()
        self._notifier = Notifier(db)
        self._listener = Listener(db.target, self._heard, database=db.outage)
        self._lead = Lead(
            db, settings, lambda: self.worker_id, wake=self._wake, tell=self._notifier.notify, hears=lambda: self._hears
        )
        self._lead.changed = self._follow_news
        self._news = Notifier(db, channel=news_channel(db.target.schema), every_s=NEWS_SECONDS)
        # Connections of our own: handlers may hold all of ``db``'s in their transactions.
        own = db.target.within(settings.lease_seconds)
        self._calls = Database(own, connections=_EXCHANGES, outage=db.outage)
        self._heart = Heart(db, settings, self)
        self._meter = None if settings.worker_port is None else self._new_meter()
        self.port: int | None = None  # where health and metrics are asked for
        self._threads = Threads(settings.slots)
        self._processes = Processes()
        self._running: dict[int, Execution] = {}  # by token
        self._timeouts = Timeouts(self._running, self._soft_timeout)
        self._ended: dict[int, Report] = {}  # by token: to be reported
        self._in_doubt: set[int] = set()  # tokens that were reported, and the answer was lost
        self._claims_in_doubt = False  # a claim was sent, and its answer was lost
        self._flying: list[Flight] = []  # exchanges under way
        self._plenty = False  # the newest claim got all it asked for: there may be more
        self._old_ids: list[UUID] = []  # under which we may still hold leases
        self._has_registered = False  # the database knows our kinds
        self._started = 0  # attempts so far
        self.left_behind = 0  # attempts that did not let themselves be stopped at the end
        self._unknown_logged: dict[str, float] = {}
        self._side_tasks: set[asyncio.Task[None]] = set()
        self._wakes = [asyncio.Event() for _ in range(_EXCHANGES)]
        self._lull = asyncio.Event()  # a claim has found less than it asked for
        self._stopping = asyncio.Event()
        self._forced = asyncio.Event()

    def _new_meter(self) -> "Meter":
        from leasehold.worker.meter import Meter  # here: without a port nobody can ask for it

        return Meter(self._app.handlers.keys())

    @staticmethod
    def database(settings: Settings) -> Database:
        """The connections that handlers share: for what they say, and for the transactions they hold open."""
        return Database(target(settings, Role.WORKER), connections=min(settings.slots, 20) + 2, patient=True)

    async def run(self) -> None:
        """Work until stopped; leaves no lease behind."""
        self._loop = asyncio.get_running_loop()
        self._loop_watch = LoopWatch(self.executions)
        self._starter = starter(self._loop)
        async with AsyncExitStack() as stack:
            stack.callback(self._starter.close)
            await stack.enter_async_context(self._calls)
            stack.push_async_callback(self._notifier.close)
            stack.push_async_callback(self._news.close)
            if self._settings.worker_port is not None:
                from leasehold.worker.port import answering

                listening = answering(self._settings.worker_host, self._settings.worker_port, self)
                self.port = await stack.enter_async_context(listening)
            if not await self._begin():
                await self._leave()
                return
            self._resources = await stack.enter_async_context(self._app.open_resources())
            self._heart.start()
            stack.push_async_callback(self._heart.close)
            stack.callback(self._timeouts.close)
            stack.callback(self._threads.close)
            stack.push_async_callback(self._processes.close)
            if self._settings.amqp_url:
                await stack.enter_async_context(Broker(self._settings, partial(self._heard, "")))
            for upkeep in (
                self._lead.run(),
                self._in_a_lull(self._listen),
                self._in_a_lull(self._maintain),
                self._in_a_lull(partial(ring, self._db, self._lead)),
            ):
                stack.push_async_callback(_ended_task, asyncio.create_task(upkeep))
            stack.push_async_callback(self._leave)
            stack.push_async_callback(self._interrupt_all)
            await self._work()
            await self._drain()

    def stop(self) -> None:
        if self._stopping.is_set():
            self._forced.set()
        self._stopping.set()
        self._wake()

    async def _begin(self) -> bool:
        """Register, and declare the app's schedules, once the database answers; False when we are to stop before."""
        while not self._stopping.is_set():
            try:
                if self.worker_id is None:
                    await self._register()
                if self._app.schedules:
                    from leasehold.worker.schedules import declare  # here: most apps have none

                    await declare(self._db, self._app, self._settings)
                return True
            except LoginRefused:  # now is the time to say so; later it may be a server that is being replaced
                raise
            except Unreachable as problem:
                self._log_failure("registration failed", problem)
                await self._pause()
        return False

    async def _register(self) -> None:
        for old in self._old_ids:  # what we let go and nobody has taken yet is free at once
            await workers.end_worker(self._calls, old)
        self._old_ids.clear()
        since = time.monotonic()
        self.worker_id = await workers.register_worker(
            self._calls,
            name=self.name,
            version=own_version(),
            queues=list(self._queues),
            kinds={
                kind: None if self._has_registered else handler.job_options
                for kind, handler in self._app.handlers.items()
            },
            slots=self._settings.slots,
            lease_s=self._settings.lease_seconds,
        )
        self._has_registered = True
        self._heart.follow(self.worker_id, since=since)
        emit("worker started", worker=self.name, worker_id=self.worker_id, slots=self._settings.slots)

    async def _in_a_lull(self, upkeep: Callable[[], Awaitable[None]]) -> None:
        """Where much waits, a new worker begins with that: upkeep makes connections and plans first, and can wait."""
        await _wait_for(self._lull, self._settings.poll_seconds)
        await upkeep()

    async def _listen(self) -> None:
        """Hear of new work until cancelled: while there is plenty, nobody need tell us."""
        async with self._listener:
            await asyncio.Event().wait()

    @property
    def _hears(self) -> bool:
        return self._listener.listening.is_set()

    def _follow_news(self) -> None:
        """Who leads wants to know of everything that happens to jobs."""
        channel = news_channel(self._db.target.schema)
        if self._lead.leads:
            self._listener.hear(channel, self._lead.stir)
        else:
            self._listener.ignore(channel)

    async def _maintain(self) -> None:
        from leasehold.worker.maintain import maintain  # here: it comes after the first jobs, and so do its imports

        await maintain(self._db, self._settings, self._lead, self._wake, busy=not self._lull.is_set())

    # -- work ---------------------------------------------------------------------------------------------------

    async def _work(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number, wake in enumerate(self._wakes):
                group.create_task(self._exchange_forever(wake, helps=number > 0))

    async def _exchange_forever(self, wake: asyncio.Event, *, helps: bool) -> None:
        """One exchange after another. One of us polls; the others help as long as there is plenty of work."""
        was_woken = True
        while not self._stopping.is_set():
            wake.clear()
            started = self._started
            if helps and not (self._plenty and self.worker_id):
                await wake.wait()
                continue
            try:
                more = await self._exchange()
            except WorkerLost as problem:
                if self.worker_id is not None:
                    self._lose(self.worker_id, str(problem))
            except Unreachable as problem:
                self._count_failure()
                self._log_failure("exchange failed", problem)
                await self._pause()
            except LeaseholdError as problem:  # a deadlock, a function that a migration changes: it may be over soon
                self._count_failure()
                emit("exchange failed", level=logging.ERROR, problem=problem)
                await self._pause()
            else:
                self._retire_if_worn()
                if self._started > started and not was_woken:
                    self._listener.check()  # we were not told of this work: perhaps nothing reaches us any more
                if not more:
                    self._lull.set()
                    was_woken = await _wait_for(wake, self._poll_seconds())

    async def _exchange(self) -> bool:
        """Finish what ended and claim into the free slots, in one call; start it. True when there may be more.

        What ends while an exchange is under way is collected and goes with the next: one by one when the worker is
        idle, in batches when it is busy. Never more is claimed than can start at once.
        """
        if self.worker_id is None:
            await self._register()
        if self._claims_in_doubt:
            if self._flying:  # what the other one is granted looks like what we never saw
                return False
            await self._give_back_unseen()
        more = False
        for names, limit in random.sample(self._groups, len(self._groups)):
            asked = self._room(names[0], limit)
            if (asked or self._ended) and self.worker_id is not None:
                more = await self._finish_and_claim(self.worker_id, names, asked) or more
        return more

    async def _finish_and_claim(self, worker_id: UUID, names: Sequence[str], n: int) -> bool:
        reports, self._ended = self._ended, {}
        flight = Flight(reports, names[0], n)
        self._flying.append(flight)
        began = time.monotonic()
        try:
            refused, grants = await self._exchanged(worker_id, names, n, [report.ended for report in reports.values()])
        except BaseException as problem:
            self._claims_in_doubt, self._plenty = True, False
            if not isinstance(problem, WorkerLost):
                self._doubt(reports)
            raise
        finally:
            self._flying.remove(flight)
        if reports or grants:
            self._news.notify()
        if self._meter:
            self._measure(self._meter, reports, refused, grants, seconds=time.monotonic() - began)
        if worker_id == self.worker_id:  # else we were declared lost meanwhile, and so are these
            for grant in grants:
                self._start(grant)
        if n > 0:
            self._plenty = len(grants) == n
        if self._plenty:
            self._wake()  # for the one that helps
        if refused or self._in_doubt:
            await self._settle(reports, refused)  # last: it may ask the database, and fail
        return n > 0 and self._plenty

    async def _exchanged(
        self, worker_id: UUID, names: Sequence[str], n: int, ended: Sequence[Ended]
    ) -> tuple[set[int], list[Grant]]:
        try:
            return await jobs.exchange(self._calls, worker_id, names, n, ended)
        except (BadInput, TooLarge):  # one of the ends cannot be stored: find out which
            accepted = await self._accepted(ended)
            _, grants = await jobs.exchange(self._calls, worker_id, names, n, [])
            return {end.token for end in ended} - accepted, grants

    async def _give_back_unseen(self) -> None:
        """A claim's answer was lost: what it granted is ours by the database, and nobody runs it."""
        assert self.worker_id is not None
        flight = Flight({}, "", 0)
        self._flying.append(flight)
        try:
            unseen = await jobs.list_leases(self._calls, self.worker_id) - {*self._running, *self._ended}
            if unseen:
                await jobs.finish(self._calls, [Ended(token=token, outcome="released") for token in unseen])
            self._claims_in_doubt = False
        finally:
            self._flying.remove(flight)

    def _room(self, queue: str, limit: int | None) -> int:
        """How many to claim: into free slots, and at most so many that another exchange may carry as many.

        Never does the database hold more leases of ours than we have slots: a tenant's limit counts on it.
        """
        flying = sum(flight.leases for flight in self._flying)
        free = self._settings.slots - len(self._running) - flying
        if self._settings.max_jobs is not None:
            free = min(free, self._settings.max_jobs - self._started - flying)
        if limit is not None:
            own = sum(one.grant.queue == queue for one in self._running.values())
            free = min(free, limit - own - sum(flight.leases_of(queue) for flight in self._flying))
        return max(0, min(free, -(-self._settings.slots // _EXCHANGES)))

    async def _finish(self) -> None:
        """Report ended attempts, without a claim."""
        reports, self._ended = self._ended, {}
        if not reports:
            return
        try:
            accepted = await self._accepted([report.ended for report in reports.values()])
        except Unreachable:
            self._doubt(reports)
            raise
        self._news.notify()
        if self._meter:
            self._meter.ended(reports, refused=reports.keys() - accepted)
        self._notifier.notify()  # we claim no more: others may take what now may run
        await self._settle(reports, reports.keys() - accepted)

    def _doubt(self, reports: dict[int, "Report"]) -> None:
        """Perhaps it was committed and only the answer was lost: it is sent again, and then we ask."""
        self._ended = reports | self._ended
        self._in_doubt |= reports.keys()

    async def _settle(self, reports: dict[int, "Report"], refused: set[int]) -> None:
        """What the database refuses was fenced: another attempt has the job now."""
        for token in refused:
            grant, ended = reports[token]
            recorded = await self._recorded(grant) if token in self._in_doubt else None
            if self._meter and recorded:
                self._meter.ended({token: (grant, ended._replace(outcome=recorded))})
            elif self._meter:
                self._meter.fenced()
            if not recorded:
                fields = {"job_id": grant.job_id, "outcome": ended.outcome, "why": "lease lost"}
                emit("finish refused", level=logging.WARNING, **fields)
        self._in_doubt -= reports.keys()

    async def _accepted(self, ended: Sequence[Ended]) -> set[int]:
        """Report a batch; where one end cannot be stored, only that one fails, and says so."""
        try:
            return await jobs.finish(self._calls, ended)
        except (BadInput, TooLarge) as problem:
            if len(ended) > 1:
                return set().union(*[await self._accepted([end]) for end in ended])
            if self._meter:
                self._meter.unstorable(ended[0].token)
            failed = Ended(token=ended[0].token, outcome="failed", error=describe(problem))
            return await jobs.finish(self._calls, [failed])

    async def _recorded(self, grant: Grant) -> str | None:
        """How this attempt ended by the job's history, if the report whose answer was lost had arrived.

        An attempt that is there as lost was taken from us before.
        """
        attempts = await jobs.list_attempts(self._calls, grant.tenant_id, grant.job_id)
        ours = (one.outcome for one in attempts if one.token == grant.token and one.outcome != "lost")
        return next(ours, None)

    # -- attempts -----------------------------------------------------------------------------------------------

    def _start(self, grant: Grant) -> None:
        handler = self._app.handlers.get(grant.kind)
        if handler is None:
            self._give_back(grant)
            return
        execution = Execution(grant, handler, self.worker_id)
        self._started += 1
        self._running[grant.token] = execution
        self._timeouts.watch(execution)
        execution.task = self._starter.start(self._attempt(execution), execution.begin)

    def _give_back(self, grant: Grant) -> None:
        """Somebody else's kind in our queue: back with it, uncounted, and for a while, or we would meet it at once."""
        delay = _UNKNOWN_KIND_SECONDS * random.uniform(0.8, 1.2)
        self._ended[grant.token] = Report(grant, Ended(token=grant.token, outcome="released", delay_s=delay))
        self._wake()
        now = time.monotonic()
        if now - self._unknown_logged.get(grant.kind, -_LOG_UNKNOWN_KIND_SECONDS) >= _LOG_UNKNOWN_KIND_SECONDS:
            self._unknown_logged[grant.kind] = now
            known = sorted(self._app.handlers)
            emit("unknown kind", level=logging.WARNING, kind=grant.kind, queue=grant.queue, known=known)

    async def _attempt(self, execution: Execution) -> None:
        grant = execution.grant
        ended = None
        try:
            link = DirectLink(self._db, self._app, execution, self._notifier.notify, self._news.notify)
            attempt = run_attempt(execution, self._run_handler, context(link, execution, self._resources))
            ended = await (traced(execution, attempt) if tracing.is_on() else attempt)
        finally:
            self._running.pop(grant.token, None)
            if ended and execution.completing:  # the answer to the commit of its own transaction was lost
                self._in_doubt.add(grant.token)
            if ended:
                self._ended[grant.token] = Report(grant, ended)
            self._wake()
        if self._meter:
            self._measure_end(self._meter, execution, ended)
        self._log_end(execution, ended)

    def _log_end(self, execution: Execution, ended: Ended | None) -> None:
        """Successes are most lines and say the least: they are for those who debug."""
        outcome = ended.outcome if ended else "succeeded" if execution.completed else "dropped"
        level = logging.DEBUG if outcome == "succeeded" else logging.INFO
        if is_logged(level):
            took = time.monotonic() - execution.started_at
            emit("attempt ended", level=level, outcome=outcome, duration_ms=round(took * 1000, 1))

    def _run_handler(self, execution: Execution, ctx: Context) -> Awaitable[str | None]:
        """The handler inside the app's middleware."""
        call: Callable[[], Awaitable[str | None]] = partial(self._call_handler, execution, ctx)
        for middleware in reversed(self._app.middlewares):
            call = partial(middleware, ctx, call)
        return call()

    def _call_handler(self, execution: Execution, ctx: Context) -> Awaitable[str | None]:
        handler, grant = execution.handler, execution.grant
        payload = handler.upcast(grant.payload, grant.version)
        if handler.isolate:
            return self._processes.run(handler, ctx, payload)
        return handler.run(ctx, payload, in_thread=self._threads.call)

    def _soft_timeout(self, execution: Execution) -> None:
        emit("soft timeout", level=logging.WARNING, kind=execution.grant.kind, job_id=execution.grant.job_id)
        self._aside(self._warn(execution))

    async def _warn(self, execution: Execution) -> None:
        seconds = time.monotonic() - execution.started_at
        message = f"soft timeout after {seconds:.1f} s; the hard one is {execution.grant.timeout_s:g} s"
        try:
            await jobs.append_event(self._db, execution.grant.token, "warning", message=message)
        except LeaseholdError as problem:
            emit("warning not stored", level=logging.WARNING, problem=problem)

    def _aside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._side_tasks.add(task)
        task.add_done_callback(self._side_tasks.discard)

    def _retire_if_worn(self) -> None:
        """After so many jobs, or so much memory, leave in good order: a supervisor starts a fresh process."""
        settings = self._settings
        if settings.max_jobs is not None and self._started >= settings.max_jobs:
            self._retire(f"ran {self._started} jobs")
        elif settings.max_memory_mb is not None and (used := resident_mb()) > settings.max_memory_mb:
            self._retire(f"uses {used} MB")

    def _retire(self, why: str) -> None:
        if not self._stopping.is_set():
            emit("worker retires", worker=self.name, why=why)
            self.stop()

    # -- what others may ask ------------------------------------------------------------------------------------

    def why_not_ready(self) -> str | None:
        """Why no work is taken now; None when it is."""
        if self._stopping.is_set():
            return "stopping"
        if self.worker_id is None:
            return "not registered: is the database there?"
        silent = self._heart.silent_seconds
        return f"no beat got through for {silent:.0f} s" if silent > self._settings.lease_seconds else None

    def samples(self, lag: "LoopLag") -> "Iterator[Sample]":
        """The numbers of this process."""
        from leasehold.engine import watch
        from leasehold.metrics import Sample

        assert self._meter is not None
        yield Sample("slots", {}, self._settings.slots)
        yield Sample("leases", {}, len(self._running))
        yield Sample("beat_age_seconds", {}, self._heart.silent_seconds)
        yield from self._meter.counts.samples()
        yield from watch.process_metrics(lag, {"handlers": self._db, "exchange": self._calls})

    def _measure(
        self, meter: "Meter", reports: dict[int, Report], refused: set[int], grants: list[Grant], *, seconds: float
    ) -> None:
        meter.exchanged(grants, seconds=seconds)
        meter.ended(reports, refused=refused)
        if grants and meter.wants_sample():
            self._aside(self._sample_waits(meter, grants))

    async def _sample_waits(self, meter: "Meter", grants: list[Grant]) -> None:
        try:
            await meter.sample(self._db, grants)
        except LeaseholdError as problem:
            emit("waits not measured", level=logging.WARNING, problem=problem)

    def _measure_end(self, meter: "Meter", execution: Execution, ended: Ended | None) -> None:
        meter.ran(execution.grant.kind, seconds=time.monotonic() - execution.started_at)
        if execution.completed:
            meter.completed(execution.grant)
        elif ended is None and execution.stop is not Stop.RELEASED:
            meter.dropped()

    def _log_failure(self, event: str, problem: LeaseholdError) -> None:
        """Unless the line about the outage has said it."""
        if not self._db.outage.covers(problem):
            emit(event, level=logging.WARNING, problem=problem)

    def _count_failure(self) -> None:
        if self._meter:
            self._meter.failed()

    # -- waiting ------------------------------------------------------------------------------------------------

    def _poll_seconds(self) -> float:
        """Until the next poll: soon, unless wake-ups reach us. When they no longer do, we are woken."""
        poll = self._settings.poll_seconds
        return max(poll, random.uniform(*_HEARING_POLL_SECONDS)) if self._hears else poll * random.uniform(0.8, 1.2)

    def _wake(self) -> None:
        for wake in self._wakes:
            wake.set()

    async def _pause(self) -> None:
        """Wait before another try. Attempts that end do not cut it short: a hundred of them are not a hundred tries."""
        try:
            async with asyncio.timeout(self._db.outage.pause_seconds()):
                await self._stopping.wait()
        except TimeoutError:
            pass

    def _heard(self, queue: str) -> None:
        if queue == NO_LEADER:
            self._lead.nobody_leads()
        elif self._lead.leads:
            self._lead.stir()
        if not queue or queue in self._queues:
            self._wake()
            self._loop.call_later(_LOOK_AGAIN_SECONDS, self._wake)

    # -- from the heart: called in its thread -------------------------------------------------------------------

    def nobody_leads(self) -> None:
        self._loop.call_soon_threadsafe(self._lead.nobody_leads)

    def cancel_asked(self, tokens: set[int]) -> None:
        self._loop.call_soon_threadsafe(self._cancel, tokens)

    def leases_lost(self, worker_id: UUID, why: str) -> None:
        self._loop.call_soon_threadsafe(self._lose, worker_id, why)

    def executions(self) -> Sequence[Execution]:
        return list(self._running.values())

    def look_at_loop(self) -> None:
        self._loop_watch.look()

    def unreported(self) -> Sequence[Ended]:
        return [report.ended for report in list(self._ended.values())]

    # -- leases -------------------------------------------------------------------------------------------------

    def _cancel(self, tokens: set[int]) -> None:
        for token in tokens:
            execution = self._running.get(token)
            if execution and execution.ask_cancel(grace=self._settings.cancel_grace_seconds):
                self._timeouts.watch(execution)

    def _lose(self, worker_id: UUID, why: str) -> None:
        """What we hold may be others' by now: stop it all, drop what it would write, come back under a new id."""
        if worker_id != self.worker_id:
            return
        if self._meter:
            self._meter.lost()
        emit("worker declared lost", level=logging.WARNING, worker=self.name, worker_id=worker_id, why=why)
        self.worker_id = None
        self._claims_in_doubt = self._plenty = False
        self._heart.pause()
        self._old_ids.append(worker_id)
        self._ended.clear()
        self._in_doubt.clear()
        for execution in self.executions():
            execution.interrupt(Stop.LOST)
        self._wake()

    # -- the end ------------------------------------------------------------------------------------------------

    async def _drain(self) -> None:
        """Stop claiming; give what runs its grace, and report what ends."""
        try:
            async with asyncio.timeout(self._settings.grace_seconds):
                while self._running and not self._forced.is_set():
                    self._wakes[0].clear()
                    await self._finish_or_pause()
                    await self._wakes[0].wait()
        except TimeoutError:
            pass

    async def _finish_or_pause(self) -> None:
        try:
            await self._finish()
        except LeaseholdError as problem:
            self._log_failure("report failed", problem)
            await asyncio.sleep(self._db.outage.pause_seconds())
            self._wake()

    async def _interrupt_all(self) -> None:
        """End what outlasted the grace. Threads are left behind; they end with the process."""
        left = [(one, one.task) for one in self.executions() if one.task]
        for execution, _ in left:
            execution.interrupt(Stop.RELEASED)
        if left:
            _, pending = await asyncio.wait([task for _, task in left], timeout=self._settings.overrun_seconds)
            self.left_behind = len(pending)

    async def _leave(self) -> None:
        if self.worker_id is not None:
            self._old_ids.append(self.worker_id)
        try:
            await self._finish()
            released = sum([await workers.end_worker(self._calls, old) for old in self._old_ids])
            if released:
                self._notifier.notify()
            emit("worker stopped", worker=self.name, released=released)
        except LeaseholdError as problem:
            emit("worker stopped without goodbye", level=logging.WARNING, worker=self.name, problem=problem)


def resident_mb() -> int:
    """Memory of this process: what it uses now, or at worst (where the system does not tell) its peak."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize() >> 20
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak >> 20 if sys.platform == "darwin" else peak >> 10


async def _wait_for(event: asyncio.Event, seconds: float) -> bool:
    """Until the event is set, or so long; whether it is."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return event.is_set()


async def _ended_task(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait([task])
