"""One attempt, from top to bottom: start it, decode its payload, call its handler, encode the
result, and say how it ended.

The handler's own part (decode, call, encode) is ``Handler.run`` in program/handler.py.
"""

import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from leasehold import tracing
from leasehold.database.database import Database
from leasehold.database.wakeups import Notifier
from leasehold.engine import jobs
from leasehold.errors import FetchError, LeaseholdError, LeaseLost
from leasehold.job import AttemptOutcome, ClaimedJob
from leasehold.log import emit, is_logged
from leasehold.program.app import Leasehold
from leasehold.program.attempt_api import DatabaseAttemptApi
from leasehold.program.context import AttemptApi, Context
from leasehold.program.outcomes import Cancel, Fail, Retry, Snooze, describe
from leasehold.program.running_attempt import IsolatedOutcome, RunningAttempt, Stop, scrubbed, timeout_error
from leasehold.settings import Settings
from leasehold.worker.isolation import Processes
from leasehold.worker.threads import Threads
from leasehold.worker.timeouts import Timeouts

if TYPE_CHECKING:
    from leasehold.worker.metrics import WorkerMetrics


class AttemptRunner:
    """Runs the attempts of one worker, each in a task of its own."""

    def __init__(
        self,
        db: Database,
        app: Leasehold,
        settings: Settings,
        *,
        wake_ups: Notifier,
        changes: Notifier,
        metrics: "WorkerMetrics | None",
    ) -> None:
        self.running: dict[int, RunningAttempt] = {}  # by token
        self.started = 0
        self.resources: Mapping[str, Any] = {}  # what the app's lifespans yielded
        #: Called at the end of each attempt; without an outcome if there is nothing to report.
        self.ended: Callable[[RunningAttempt, AttemptOutcome | None], None]
        self._db = db
        self._app = app
        self._settings = settings
        self._wake_ups = wake_ups
        self._changes = changes
        self._metrics = metrics
        self._threads = Threads(settings.slots)
        self._processes = Processes()
        self._timeouts = Timeouts(self.running, self._soft_timeout)
        self._warnings: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        await self._processes.close()
        self._threads.close()
        self._timeouts.close()

    @property
    def known_kinds(self) -> list[str]:
        return sorted(self._app.handlers)

    def attempts(self) -> Sequence[RunningAttempt]:
        """A copy, which other threads may ask for."""
        return list(self.running.values())

    # -- one attempt ------------------------------------------------------------------------------

    def start(self, job: ClaimedJob, worker_id: UUID) -> bool:
        """Start an attempt of a claimed job; False if the app has no handler of its kind."""
        handler = self._app.handlers.get(job.kind)
        if handler is None:
            return False
        attempt = RunningAttempt(job, handler, worker_id)
        self.started += 1
        self.running[job.token] = attempt
        self._timeouts.watch(attempt)
        _start_task(self._run(attempt))
        return True

    async def _run(self, attempt: RunningAttempt) -> None:
        attempt.task = asyncio.current_task()
        attempt.begin()
        outcome = None
        try:
            api = DatabaseAttemptApi(self._db, self._app, attempt, self._wake_ups.notify, self._changes.notify)
            work = run_attempt(attempt, self._run_handler, context(api, attempt, self.resources))
            outcome = await (traced(attempt, work) if tracing.is_on() else work)
        finally:
            # The task holds its context, and that this attempt: only a garbage collector would free them.
            attempt.task = None
            self.running.pop(attempt.job.token, None)
            self.ended(attempt, outcome)
        if self._metrics:
            self._measure(self._metrics, attempt, outcome)
        self._log_end(attempt, outcome)

    def _run_handler(self, attempt: RunningAttempt, ctx: Context) -> Awaitable[str | None]:
        """The handler inside the app's middleware."""
        call: Callable[[], Awaitable[str | None]] = partial(self._call_handler, attempt, ctx)
        for middleware in reversed(self._app.middlewares):
            call = partial(middleware, ctx, call)
        return call()

    def _call_handler(self, attempt: RunningAttempt, ctx: Context) -> Awaitable[str | None]:
        handler, job = attempt.handler, attempt.job
        payload = handler.upcast(job.payload, job.version)
        if handler.isolate:
            return self._processes.run(handler, ctx, payload)
        return handler.run(ctx, payload, in_thread=self._threads.call)

    def _measure(self, metrics: "WorkerMetrics", attempt: RunningAttempt, outcome: AttemptOutcome | None) -> None:
        metrics.ran(attempt.job.kind, seconds=time.monotonic() - attempt.started_at)
        if attempt.completed:
            metrics.completed(attempt.job)
        elif outcome is None and attempt.stop is not Stop.RELEASED:
            metrics.dropped()

    def _log_end(self, attempt: RunningAttempt, outcome: AttemptOutcome | None) -> None:
        """Successes are most lines and say the least: they are for those who debug."""
        name = _name_of(attempt, outcome)
        level = logging.DEBUG if name == "succeeded" else logging.INFO
        if is_logged(level):
            took = time.monotonic() - attempt.started_at
            emit("attempt ended", level=level, outcome=name, duration_ms=round(took * 1000, 1))

    # -- from outside: timeouts, cancels, the end ---------------------------------------------------

    def _soft_timeout(self, attempt: RunningAttempt) -> None:
        job = attempt.job
        emit("soft timeout", level=logging.WARNING, kind=job.kind, job_id=job.job_id)
        self._keep(self._store_warning(attempt))

    async def _store_warning(self, attempt: RunningAttempt) -> None:
        seconds = time.monotonic() - attempt.started_at
        hard = attempt.job.timeout_s
        message = f"soft timeout after {seconds:.1f} s; the hard one is {hard:g} s"
        try:
            await jobs.append_event(self._db, attempt.job.token, "warning", message=message)
        except LeaseholdError as problem:
            emit("warning not stored", level=logging.WARNING, problem=problem)

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._warnings.add(task)
        task.add_done_callback(self._warnings.discard)

    def cancel(self, tokens: set[int]) -> None:
        """Request a cancel of these attempts."""
        for token in tokens:
            attempt = self.running.get(token)
            if attempt and attempt.request_cancel(grace=self._settings.cancel_grace_seconds):
                self._timeouts.watch(attempt)

    def interrupt(self, why: Stop) -> None:
        for attempt in self.attempts():
            attempt.interrupt(why)

    async def release(self) -> int:
        """End what runs; how many attempts do not let themselves be stopped.

        Threads are left behind: they end with the process.
        """
        tasks = [attempt.task for attempt in self.attempts() if attempt.task]
        self.interrupt(Stop.RELEASED)
        if not tasks:
            return 0
        _, pending = await asyncio.wait(tasks, timeout=self._settings.overrun_seconds)
        return len(pending)


def _start_task(work: Coroutine[Any, Any, None]) -> None:
    """Start a task that keeps itself: the first thing it does is to set ``attempt.task``.

    From Python 3.12 on its first step runs at once: a handler that never waits has ended then.
    """
    loop = asyncio.get_running_loop()
    if sys.version_info >= (3, 12):
        asyncio.Task(work, loop=loop, eager_start=True)
    else:
        loop.create_task(work)  # noqa: RUF006


# -- the attempt itself: the same in a worker, in a process of its own, and in tests ----------------


def context(api: AttemptApi, attempt: RunningAttempt, resources: Mapping[str, Any]) -> Context:
    """What the handler gets."""
    job = attempt.job
    return Context(
        job_id=job.job_id,
        tenant_id=job.tenant_id,
        kind=job.kind,
        queue=job.queue,
        attempt=job.attempt,
        max_attempts=job.max_attempts,
        timeout_s=job.timeout_s,
        traceparent=job.traceparent,
        resources=resources,
        link=api,
        signals=attempt.signals,
        secrets=attempt.secrets,
    )


async def run_attempt(
    attempt: RunningAttempt,
    run_handler: Callable[[RunningAttempt, Context], Awaitable[str | None]],
    ctx: Context,
) -> AttemptOutcome | None:
    """Run the handler and say how it ended.

    None when there is nothing to report: the lease is another's, or the handler's own transaction
    has committed the outcome.
    """
    try:
        if attempt.stop:  # interrupted before its first step
            raise asyncio.CancelledError
        result = scrubbed(await run_handler(attempt, ctx), attempt.secrets)
        if attempt.emitted and not attempt.completed:
            await ctx.link.complete(result)
    except LeaseLost:
        return None
    except BaseException as error:  # whatever a handler raises, the worker lives
        outcome = outcome_of(attempt, error)
    else:
        outcome = AttemptOutcome(token=attempt.job.token, outcome="succeeded", result=result)
    return None if attempt.completed or attempt.stop is Stop.LOST else outcome


def outcome_of(attempt: RunningAttempt, error: BaseException) -> AttemptOutcome | None:
    """The outcome of an attempt whose handler raised this."""
    end, secrets = partial(AttemptOutcome, attempt.job.token), attempt.secrets
    match error:
        case IsolatedOutcome():
            return end(error.outcome, error=error.error, delay_s=error.delay_s)
        case Snooze():
            why = describe(error, secrets=secrets) if error.gate else None
            return end("snoozed", error=why, delay_s=error.after)
        case Retry():
            return end("errored", error=describe(error, secrets=secrets), delay_s=error.after)
        case Cancel():
            return end("canceled", error=describe(error, secrets=secrets))
        case Fail():
            return end("failed", error=describe(error, secrets=secrets))
        case FetchError(transient=False) if not attempt.stop:
            return end("failed", error=describe(error, secrets=secrets))
    match attempt.stop:  # an interrupted attempt: whatever its handler made of the interruption
        case Stop.CANCELED:
            return end("canceled")
        case Stop.TIMED_OUT:
            return end("errored", error=timeout_error(attempt.job))
        case Stop.LOST | Stop.RELEASED:
            return None  # the worker gives all its leases back as it leaves
    if isinstance(error, asyncio.CancelledError) and attempt.signals.cancelled:
        return end("canceled")
    return end("errored", error=describe(error, secrets=secrets))


async def traced(attempt: RunningAttempt, work: Awaitable[AttemptOutcome | None]) -> AttemptOutcome | None:
    """The attempt inside a span that continues the trace of the enqueue."""
    job = attempt.job
    with tracing.span(
        f"attempt {job.kind}",
        "consumer",
        parent=job.traceparent,
        leasehold__job_id=str(job.job_id),
        leasehold__tenant_id=str(job.tenant_id),
        leasehold__kind=job.kind,
        leasehold__queue=job.queue,
        leasehold__attempt=job.attempt,
    ) as span:
        outcome = await work
        name = _name_of(attempt, outcome)
        span.set("leasehold.outcome", name)
        if name in ("errored", "failed", "dropped"):
            span.fail(name)
        return outcome


def _name_of(attempt: RunningAttempt, outcome: AttemptOutcome | None) -> str:
    if outcome:
        return outcome.outcome
    return "succeeded" if attempt.completed else "dropped"
