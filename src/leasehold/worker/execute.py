"""One attempt, from the grant to how it ended."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any
from uuid import UUID

from leasehold import payload, tracing
from leasehold.context import Context, Emitted, Link, Signals
from leasehold.errors import FetchError, LeaseLost
from leasehold.handlers import Handler
from leasehold.job import Ended, Grant
from leasehold.log import bind_task
from leasehold.outcomes import Cancel, Fail, Retry, Snooze, describe
from leasehold.redact import scrub


class Stop(StrEnum):
    """Why the worker ends an attempt that has not ended by itself."""

    CANCELED = "canceled"  # somebody asked for it, and the grace is over
    TIMED_OUT = "timed out"  # the hard timeout
    LOST = "lost"  # the lease may be another's by now: nothing may be written
    RELEASED = "released"  # the worker stops; the job goes back uncounted


class Elsewhere(Exception):
    """How an attempt ended in a process of its own, unless it succeeded."""

    def __init__(self, *, outcome: str, error: str | None, delay_s: float | None) -> None:
        super().__init__(outcome)
        self.outcome, self.error, self.delay_s = outcome, error, delay_s


class Execution:
    """An attempt while it runs: its grant, what it was told, and when it is due for something.

    All moments are of the monotonic clock: nobody's wall clock decides about an attempt.
    """

    __slots__ = (
        "cancel_at", "completed", "completing", "due_at", "emitted", "grant", "handler", "hard_at", "secrets",
        "signals", "soft_at", "started_at", "stop", "task", "worker_id",
    )  # fmt: skip

    def __init__(self, grant: Grant, handler: Handler, worker_id: UUID | None = None) -> None:
        now = time.monotonic()
        self.grant = grant
        self.handler = handler
        self.worker_id = worker_id
        self.signals = Signals()
        self.secrets: list[str] = []  # that the handler has used
        self.emitted: list[Emitted] = []  # to be told if it succeeds
        self.started_at = now
        self.soft_at: float | None = now + (handler.soft_timeout or grant.timeout_s / 2)
        self.hard_at = now + grant.timeout_s
        self.due_at = min(self.soft_at, self.hard_at)  # the next moment at which something must be done about it
        self.cancel_at: float | None = None
        self.stop: Stop | None = None
        self.completing = False  # its outcome went with a commit whose answer we may not have
        self.completed = False  # its outcome was committed by its own transaction
        self.task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """In the task of the attempt, before all else."""
        bind_task(self._log_fields, self.secrets)

    def _log_fields(self) -> dict[str, Any]:
        """What every line of this attempt carries."""
        grant = self.grant
        trace_id = grant.traceparent.split("-")[1] if grant.traceparent and grant.traceparent.count("-") == 3 else None
        return {
            "worker_id": self.worker_id,
            "job_id": grant.job_id,
            "kind": grant.kind,
            "tenant_id": grant.tenant_id,
            "attempt": grant.attempt,
            "trace_id": trace_id,
        }

    def passed_on(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options of a job that this attempt asks for: it belongs to the same trace."""
        trace = tracing.traceparent() or self.grant.traceparent
        return {"traceparent": trace, **options} if trace else options

    def look_at_moments(self) -> None:
        """One of them has changed: find the next one."""
        moments = (self.soft_at, self.hard_at, self.cancel_at)
        self.due_at = float("inf") if self.stop else min(at for at in moments if at is not None)

    def ask_cancel(self, *, grace: float) -> bool:
        """Tell the handler that it is no longer wanted; after the grace it is interrupted. False: it knew."""
        if self.cancel_at is not None or self.stop:
            return False
        self.cancel_at = time.monotonic() + grace
        self.look_at_moments()
        self.signals.cancel()
        return True

    def extend(self, seconds: float) -> None:
        self.hard_at = max(self.hard_at, time.monotonic() + seconds)
        self.look_at_moments()

    def interrupt(self, why: Stop) -> None:
        """Cancel the handler. A thread cannot be cancelled: its handler is told, and its end is waited for."""
        if self.stop is None or why in (Stop.LOST, Stop.RELEASED):
            self.stop = why
            self.look_at_moments()
        self.signals.cancel()
        in_thread = self.handler.blocking and not self.handler.isolate
        if self.task and (not in_thread or why is Stop.RELEASED):
            self.task.cancel()


async def run_attempt(
    execution: Execution, run: Callable[[Execution, Context], Awaitable[str | None]], ctx: Context
) -> Ended | None:
    """Run the handler and say how it ended; None when there is nothing to say: the lease is another's, or the outcome
    was committed by the handler's own transaction."""
    try:
        result = scrubbed(await run(execution, ctx), execution.secrets)
        if execution.emitted and not execution.completed:
            await ctx.link.complete(result)
    except LeaseLost:
        return None
    except BaseException as error:  # whatever a handler raises, the worker lives
        ended = _judge(execution, error)
    else:
        ended = Ended(token=execution.grant.token, outcome="succeeded", result=result)
    return None if execution.completed or execution.stop is Stop.LOST else ended


async def traced(execution: Execution, attempt: Awaitable[Ended | None]) -> Ended | None:
    """The attempt inside a span that continues the trace of the enqueue."""
    grant = execution.grant
    with tracing.span(
        f"attempt {grant.kind}",
        "consumer",
        parent=grant.traceparent,
        leasehold__job_id=str(grant.job_id),
        leasehold__tenant_id=str(grant.tenant_id),
        leasehold__kind=grant.kind,
        leasehold__queue=grant.queue,
        leasehold__attempt=grant.attempt,
    ) as span:
        ended = await attempt
        outcome = ended.outcome if ended else "succeeded" if execution.completed else "dropped"
        span.set("leasehold.outcome", outcome)
        if outcome in ("errored", "failed", "dropped"):
            span.fail(outcome)
        return ended


def context(link: Link, execution: Execution, resources: Mapping[str, Any]) -> Context:
    """What the handler gets."""
    grant = execution.grant
    return Context(
        job_id=grant.job_id,
        tenant_id=grant.tenant_id,
        kind=grant.kind,
        queue=grant.queue,
        attempt=grant.attempt,
        max_attempts=grant.max_attempts,
        timeout_s=grant.timeout_s,
        traceparent=grant.traceparent,
        resources=resources,
        link=link,
        signals=execution.signals,
        secrets=execution.secrets,
    )


def scrubbed(result: str | None, secrets: Sequence[str]) -> str | None:
    """A result as JSON text without the secrets that the attempt used."""
    if result is None or not secrets:
        return result
    return payload.encode(scrub(payload.decode(result), secrets=secrets), what="result")


def timeout_of(grant: Grant, *, more: str = "") -> str:
    """The error of an attempt that took too long."""
    return describe(TimeoutError(f"took longer than {grant.timeout_s:g} s{more}"))


def _judge(execution: Execution, error: BaseException) -> Ended | None:
    token, secrets = execution.grant.token, execution.secrets
    match error:
        case Elsewhere():
            return Ended(token=token, outcome=error.outcome, error=error.error, delay_s=error.delay_s)
        case Snooze():
            why = describe(error, secrets=secrets) if error.gate else None
            return Ended(token=token, outcome="snoozed", error=why, delay_s=error.after)
        case Retry():
            return Ended(token=token, outcome="errored", error=describe(error, secrets=secrets), delay_s=error.after)
        case Cancel():
            return Ended(token=token, outcome="canceled", error=describe(error, secrets=secrets))
        case Fail():
            return Ended(token=token, outcome="failed", error=describe(error, secrets=secrets))
        case FetchError(transient=False) if not execution.stop:
            return Ended(token=token, outcome="failed", error=describe(error, secrets=secrets))
    if execution.stop:
        return _interrupted(execution)
    if isinstance(error, asyncio.CancelledError) and execution.signals.cancelled:
        return Ended(token=token, outcome="canceled")
    return Ended(token=token, outcome="errored", error=describe(error, secrets=secrets))


def _interrupted(execution: Execution) -> Ended | None:
    """How an attempt ended that we interrupted, whatever its handler made of the interruption."""
    match execution.stop:
        case Stop.CANCELED:
            return Ended(token=execution.grant.token, outcome="canceled")
        case Stop.TIMED_OUT:
            return Ended(token=execution.grant.token, outcome="errored", error=timeout_of(execution.grant))
    return None  # released: the worker gives all its leases back as it leaves
