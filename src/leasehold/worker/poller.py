"""The exchange with the database: report what ended and claim what fits, in one call.

What ends while an exchange is under way is collected and goes with the next: one by one when the
worker is idle, in batches when it is busy. Never more is claimed than can start at once. Between
two exchanges an idle worker waits for a wake-up, for the end of an attempt, or for the next poll.
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from leasehold.database.database import Database
from leasehold.database.wakeups import Listener, Notifier
from leasehold.engine import jobs
from leasehold.errors import BadInput, LeaseholdError, TooLarge, Unreachable, WorkerLost
from leasehold.job import AttemptOutcome, ClaimedJob
from leasehold.log import emit
from leasehold.program.outcomes import describe
from leasehold.program.running_attempt import RunningAttempt
from leasehold.settings import Settings
from leasehold.worker import queue_selection
from leasehold.worker.attempt import AttemptRunner
from leasehold.worker.registration import Registration
from leasehold.worker.timeouts import wait_for

if TYPE_CHECKING:
    from leasehold.worker.metrics import WorkerMetrics

#: Exchanges under way at once: while the database works on one batch, this process works on another.
EXCHANGES = 2
#: Seconds for which a job of a kind without a handler here is released.
_UNKNOWN_KIND_SECONDS = 30.0
_LOG_UNKNOWN_KIND_SECONDS = 60.0
#: Seconds from a wake-up to a second look, because a notification may precede its commit.
_CLAIM_AGAIN_SECONDS = 0.01
#: Seconds between two polls while wake-ups arrive; these polls only find what wake-ups missed.
_HEARING_POLL_SECONDS = (15.0, 30.0)


class PendingReport(NamedTuple):
    """The outcome of an attempt, to be reported."""

    job: ClaimedJob
    outcome: AttemptOutcome


class PendingExchange(NamedTuple):
    """An exchange under way: the database may hold the leases that it reports, or those it claims."""

    reports: dict[int, PendingReport]
    queue: str
    requested: int

    @property
    def leases(self) -> int:
        return max(len(self.reports), self.requested)

    def leases_of(self, queue: str) -> int:
        reported = sum(report.job.queue == queue for report in self.reports.values())
        return max(reported, self.requested if self.queue == queue else 0)


class Poller:
    """Reports and claims for one worker until it stops."""

    def __init__(
        self,
        db: Database,
        settings: Settings,
        queues: Mapping[str, int | None],
        runner: AttemptRunner,
        registration: Registration,
        listener: Listener,
        *,
        wake_ups: Notifier,
        changes: Notifier,
        metrics: "WorkerMetrics | None",
        lost: Callable[[UUID, str], None],
        exchanged: Callable[[], None],
    ) -> None:
        self.lull = asyncio.Event()  # for the first time, no more work is known
        self.stopping = asyncio.Event()
        self._db = db
        self._settings = settings
        self._queues = queues
        self._groups = queue_selection.groups(queues)
        self._runner = runner
        self._registration = registration
        self._listener = listener
        self._wake_ups = wake_ups
        self._changes = changes
        self._metrics = metrics
        self._lost = lost
        self._exchanged = exchanged  # called after each exchange
        self._reports: dict[int, PendingReport] = {}  # by token
        self._in_doubt: set[int] = set()  # tokens that were reported, and the answer was lost
        self._claims_in_doubt = False  # a claim was sent, and its answer was lost
        self._exchanges: list[PendingExchange] = []  # under way
        self._has_plenty = False  # the newest claim got all that it requested: there may be more
        self._log_unknown_at: dict[str, float] = {}  # by kind
        self._wakes = [asyncio.Event() for _ in range(EXCHANGES)]
        self.woken = self._wakes[0]  # set at each wake-up, and at the end of each attempt

    def collect(self, attempt: RunningAttempt, outcome: AttemptOutcome | None) -> None:
        """An attempt has ended: report it with the next exchange."""
        if outcome:
            if attempt.completing:  # the answer to the commit of its own transaction was lost
                self._in_doubt.add(outcome.token)
            self._reports[outcome.token] = PendingReport(attempt.job, outcome)
        self.wake()

    def unreported(self) -> Sequence[AttemptOutcome]:
        return [report.outcome for report in list(self._reports.values())]

    def drop(self) -> None:
        """Forget what is not reported: the leases are lost."""
        self._claims_in_doubt = self._has_plenty = False
        self._reports.clear()
        self._in_doubt.clear()
        self.wake()

    # -- waiting ----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Exchange until stopped."""
        async with asyncio.TaskGroup() as group:
            for number, wake in enumerate(self._wakes):
                group.create_task(self._exchange_repeatedly(wake, helps=number > 0))

    async def _exchange_repeatedly(self, wake: asyncio.Event, *, helps: bool) -> None:
        """One exchange after another. One of the tasks polls; the others help while work abounds."""
        was_woken = True
        while not self.stopping.is_set():
            wake.clear()
            started = self._runner.started
            if helps and not (self._has_plenty and self._registration.worker_id):
                await wake.wait()
                continue
            try:
                more = await self._exchange()
            except WorkerLost as problem:
                if self._registration.worker_id is not None:
                    self._lost(self._registration.worker_id, str(problem))
            except LeaseholdError as problem:
                await self._fail(problem)
            else:
                self._exchanged()
                if self._runner.started > started and not was_woken:
                    self._listener.check()  # no wake-up came for this work: is the connection alive?
                if more:
                    await asyncio.sleep(0)  # handlers that never wait end now: the next exchange reports them
                else:
                    if not self._exchanges:  # one under way may hold all the room, and find plenty
                        self.lull.set()
                    was_woken = await wait_for(wake, self._poll_seconds())

    def _poll_seconds(self) -> float:
        """Until the next poll: soon, unless wake-ups arrive. When they no longer do, one is sent."""
        poll = self._settings.poll_seconds
        if self._listener.listening.is_set():
            return max(poll, random.uniform(*_HEARING_POLL_SECONDS))
        return poll * random.uniform(0.8, 1.2)

    def wake(self) -> None:
        for wake in self._wakes:
            wake.set()

    def heard(self, queue: str) -> None:
        """A wake-up for a queue, or for any."""
        if not queue or queue in self._queues:
            self.wake()
            asyncio.get_running_loop().call_later(_CLAIM_AGAIN_SECONDS, self.wake)

    async def pause(self) -> None:
        """Wait before another try; attempts that end meanwhile do not cut the pause short."""
        await wait_for(self.stopping, self._db.outage.pause_seconds())

    def log_failure(self, event: str, problem: LeaseholdError) -> None:
        """Unless the line about the outage covers it."""
        if not self._db.outage.covers(problem):
            emit(event, level=logging.WARNING, problem=problem)

    async def _fail(self, problem: LeaseholdError) -> None:
        if self._metrics:
            self._metrics.failed()
        if isinstance(problem, Unreachable):
            self.log_failure("exchange failed", problem)
        else:  # a deadlock, or a migration that changes a function: it may be over soon
            emit("exchange failed", level=logging.ERROR, problem=problem)
        await self.pause()

    # -- finish and claim -------------------------------------------------------------------------

    async def _exchange(self) -> bool:
        """Report what ended and claim into the free slots; true when there may be more work."""
        if self._registration.worker_id is None:
            await self._registration.register()
        if self._claims_in_doubt:
            if self._exchanges:  # what it claims cannot be told from claims without an answer
                return False
            await self._release_unseen()
        more = False
        for names, limit in random.sample(self._groups, len(self._groups)):
            requested = self._room(names[0], limit)
            worker_id = self._registration.worker_id
            if (requested or self._reports) and worker_id is not None:
                more = await self._finish_and_claim(worker_id, names, requested) or more
        return more

    def _room(self, queue: str, limit: int | None) -> int:
        """How many jobs to claim: at most half of the slots, so that another exchange has room.

        The database never holds more leases of this worker than it has slots: limits rely on it.
        """
        pending = sum(exchange.leases for exchange in self._exchanges)
        free = self._settings.slots - len(self._runner.running) - pending
        if self._settings.max_jobs is not None:
            free = min(free, self._settings.max_jobs - self._runner.started - pending)
        if limit is not None:
            own = sum(attempt.job.queue == queue for attempt in self._runner.running.values())
            own += sum(exchange.leases_of(queue) for exchange in self._exchanges)
            free = min(free, limit - own)
        return max(0, min(free, -(-self._settings.slots // EXCHANGES)))

    async def _finish_and_claim(self, worker_id: UUID, names: Sequence[str], n: int) -> bool:
        reports, self._reports = self._reports, {}
        exchange = PendingExchange(reports, names[0], n)
        self._exchanges.append(exchange)
        began = time.monotonic()
        try:
            refused, claimed = await self._call_exchange(worker_id, names, n, reports)
        except BaseException as problem:
            self._claims_in_doubt, self._has_plenty = True, False
            if not isinstance(problem, WorkerLost):
                self._doubt(reports)
            raise
        finally:
            self._exchanges.remove(exchange)
        if reports or claimed:
            self._changes.notify()
        if self._metrics:
            self._metrics.exchanged(claimed, seconds=time.monotonic() - began)
            self._metrics.ended(reports, refused=refused)
        if worker_id == self._registration.worker_id:  # else it and these leases were lost meanwhile
            for job in claimed:
                if not self._runner.start(job, worker_id):
                    self._release_unknown(job)
        if n > 0:
            self._has_plenty = len(claimed) == n
        if self._has_plenty:
            self.wake()  # for the task that helps
        if refused or self._in_doubt:
            await self._settle(reports, refused)  # last: it may query the database, and fail
        return n > 0 and self._has_plenty

    async def _call_exchange(
        self, worker_id: UUID, names: Sequence[str], n: int, reports: Mapping[int, PendingReport]
    ) -> tuple[set[int], list[ClaimedJob]]:
        outcomes = [report.outcome for report in reports.values()]
        try:
            return await jobs.exchange(self._db, worker_id, names, n, outcomes)
        except (BadInput, TooLarge):  # one of the outcomes cannot be stored: find out which
            accepted = await self._accepted(outcomes)
            _, claimed = await jobs.exchange(self._db, worker_id, names, n, [])
            return reports.keys() - accepted, claimed

    async def finish(self) -> None:
        """Report ended attempts, without a claim."""
        reports, self._reports = self._reports, {}
        if not reports:
            return
        try:
            accepted = await self._accepted([report.outcome for report in reports.values()])
        except Unreachable:
            self._doubt(reports)
            raise
        self._changes.notify()
        if self._metrics:
            self._metrics.ended(reports, refused=reports.keys() - accepted)
        self._wake_ups.notify()  # this worker claims no more: others may take what now may run
        await self._settle(reports, reports.keys() - accepted)

    async def _accepted(self, outcomes: Sequence[AttemptOutcome]) -> set[int]:
        """Report a batch; an outcome that cannot be stored fails its own attempt only."""
        try:
            return await jobs.finish(self._db, outcomes)
        except (BadInput, TooLarge) as problem:
            if len(outcomes) > 1:
                return set().union(*[await self._accepted([one]) for one in outcomes])
            token = outcomes[0].token
            if self._metrics:
                self._metrics.unstorable(token)
            failed = AttemptOutcome(token=token, outcome="failed", error=describe(problem))
            return await jobs.finish(self._db, [failed])

    def _release_unknown(self, job: ClaimedJob) -> None:
        """Release a job of another program's kind, uncounted, and for a while."""
        delay = _UNKNOWN_KIND_SECONDS * random.uniform(0.8, 1.2)
        self._reports[job.token] = PendingReport(job, AttemptOutcome(job.token, "released", delay_s=delay))
        self.wake()
        if time.monotonic() >= self._log_unknown_at.get(job.kind, 0.0):
            self._log_unknown_at[job.kind] = time.monotonic() + _LOG_UNKNOWN_KIND_SECONDS
            known = self._runner.known_kinds
            emit("unknown kind", level=logging.WARNING, kind=job.kind, queue=job.queue, known=known)

    # -- lost answers -----------------------------------------------------------------------------

    async def _release_unseen(self) -> None:
        """Release the leases of a claim whose answer was lost: no attempt runs under them."""
        assert self._registration.worker_id is not None
        exchange = PendingExchange({}, "", 0)
        self._exchanges.append(exchange)
        try:
            held = await jobs.list_leases(self._db, self._registration.worker_id)
            if unseen := held - {*self._runner.running, *self._reports}:
                await jobs.finish(self._db, [AttemptOutcome(token, "released") for token in unseen])
            self._claims_in_doubt = False
        finally:
            self._exchanges.remove(exchange)

    def _doubt(self, reports: dict[int, PendingReport]) -> None:
        """Perhaps they were committed and only the answer was lost: they are sent again."""
        self._reports = reports | self._reports
        self._in_doubt |= reports.keys()

    async def _settle(self, reports: dict[int, PendingReport], refused: set[int]) -> None:
        """The database refuses what was fenced: another attempt has the job now."""
        for token in refused:
            job, outcome = reports[token]
            recorded = await self._recorded(job) if token in self._in_doubt else None
            if self._metrics and recorded:
                self._metrics.ended({token: (job, outcome._replace(outcome=recorded))})
            elif self._metrics:
                self._metrics.fenced()
            if not recorded:
                fields = {"job_id": job.job_id, "outcome": outcome.outcome, "why": "lease lost"}
                emit("finish refused", level=logging.WARNING, **fields)
        self._in_doubt -= reports.keys()

    async def _recorded(self, job: ClaimedJob) -> str | None:
        """The outcome in the job's history, if a report whose answer was lost had arrived.

        An attempt that is there as lost was taken from this worker before.
        """
        attempts = await jobs.list_attempts(self._db, job.tenant_id, job.job_id)
        own = (one.outcome for one in attempts if one.token == job.token and one.outcome != "lost")
        return next(own, None)
