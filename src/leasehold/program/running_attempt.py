"""What a worker knows of an attempt while it runs."""

import asyncio
import time
from collections.abc import Sequence
from enum import StrEnum
from typing import Any
from uuid import UUID

from leasehold import json_codec, tracing
from leasehold.job import ClaimedJob
from leasehold.log import bind_task
from leasehold.program.context import CancellationSignals, PendingEvent
from leasehold.program.handler import Handler
from leasehold.program.outcomes import describe
from leasehold.redact import scrub


class Stop(StrEnum):
    """Why the worker ends an attempt that has not ended by itself."""

    CANCELED = "canceled"  # a cancel was requested, and its grace is over
    TIMED_OUT = "timed out"  # the hard timeout
    LOST = "lost"  # the lease may be another's by now: nothing may be written
    RELEASED = "released"  # the worker stops; the job goes back uncounted


class IsolatedOutcome(Exception):
    """How an attempt ended in a process of its own, unless it succeeded."""

    def __init__(self, *, outcome: str, error: str | None, delay_s: float | None) -> None:
        super().__init__(outcome)
        self.outcome, self.error, self.delay_s = outcome, error, delay_s


class RunningAttempt:
    """An attempt while it runs: its job, its signals, and its deadlines on the monotonic clock."""

    __slots__ = (
        "cancel_at", "completed", "completing", "due_at", "emitted", "handler", "hard_at", "job", "secrets",
        "signals", "soft_at", "started_at", "stop", "task", "worker_id",
    )  # fmt: skip

    def __init__(self, job: ClaimedJob, handler: Handler, worker_id: UUID | None = None) -> None:
        now = time.monotonic()
        self.job = job
        self.handler = handler
        self.worker_id = worker_id
        self.signals = CancellationSignals()
        self.secrets: list[str] = []  # secrets that the handler has used
        self.emitted: list[PendingEvent] = []  # events to store if the attempt succeeds
        self.started_at = now
        self.soft_at: float | None = now + (handler.soft_timeout or job.timeout_s / 2)
        self.hard_at = now + job.timeout_s
        self.due_at = min(self.soft_at, self.hard_at)  # the next of its deadlines
        self.cancel_at: float | None = None
        self.stop: Stop | None = None
        self.completing = False  # its outcome went with a commit whose answer we may not have
        self.completed = False  # its outcome was committed by its own transaction
        self.task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Bind the log lines of the current task to this attempt; the first thing that its task does."""
        bind_task(self._log_fields, self.secrets)

    def _log_fields(self) -> dict[str, Any]:
        """The fields of every log line of this attempt."""
        job = self.job
        trace_id = job.traceparent.split("-")[1] if job.traceparent and job.traceparent.count("-") == 3 else None
        return {
            "worker_id": self.worker_id,
            "job_id": job.job_id,
            "kind": job.kind,
            "tenant_id": job.tenant_id,
            "attempt": job.attempt,
            "trace_id": trace_id,
        }

    def child_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options of a job that this attempt enqueues: it belongs to the same trace."""
        trace = tracing.traceparent() or self.job.traceparent
        return {"traceparent": trace, **options} if trace else options

    def update_deadline(self) -> None:
        """Find the next deadline, after one of them has changed."""
        deadlines = (self.soft_at, self.hard_at, self.cancel_at)
        self.due_at = float("inf") if self.stop else min(at for at in deadlines if at is not None)

    def request_cancel(self, *, grace: float) -> bool:
        """Signal the handler to cancel, and interrupt it after the grace; False if it was signaled before."""
        if self.cancel_at is not None or self.stop:
            return False
        self.cancel_at = time.monotonic() + grace
        self.update_deadline()
        self.signals.cancel()
        return True

    def extend(self, seconds: float) -> None:
        self.hard_at = max(self.hard_at, time.monotonic() + seconds)
        self.update_deadline()

    def begin_completing(self) -> None:
        """Its outcome is in a transaction: until we know better it has ended, as the answer to a commit can be lost."""
        self.completing = True

    def interrupt(self, why: Stop) -> None:
        """Cancel the handler's task; a handler in a thread gets the signal, and its end is awaited."""
        if self.stop is None or why in (Stop.LOST, Stop.RELEASED):
            self.stop = why
            self.update_deadline()
        self.signals.cancel()
        in_thread = self.handler.blocking and not self.handler.isolate
        if self.task and (not in_thread or why is Stop.RELEASED):
            self.task.cancel()


def scrubbed(result: str | None, secrets: Sequence[str]) -> str | None:
    """A result as JSON text without the secrets that the attempt used."""
    if result is None or not secrets:
        return result
    return json_codec.encode(scrub(json_codec.decode(result), secrets=secrets), what="result")


def timeout_error(job: ClaimedJob, *, more: str = "") -> str:
    """The error of an attempt that passed its hard timeout."""
    return describe(TimeoutError(f"took longer than {job.timeout_s:g} s{more}"))
