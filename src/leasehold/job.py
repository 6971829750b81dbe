"""The values that travel between SQL and everything else: frozen, one class for each shape the functions hand out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, Literal, NamedTuple, Self
from uuid import UUID

from typing_extensions import TypeVar

from leasehold import json_codec
from leasehold.errors import LeaseholdError

#: The result of the job's handler.
R = TypeVar("R", covariant=True, default=Any)


class State(StrEnum):
    """Where a job is. The last four are outcomes and change only by an explicit retry."""

    SCHEDULED = "scheduled"  # later, or backing off
    BLOCKED = "blocked"  # waiting for a group, a gate, a flow or an approval
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"  # permanent error
    DEAD = "dead"  # attempts used up
    CANCELED = "canceled"

    @property
    def is_outcome(self) -> bool:
        return self in (State.SUCCEEDED, State.FAILED, State.DEAD, State.CANCELED)


# The next three are made for every job, so they are not frozen dataclasses, which take several times as long to make.


@dataclass(slots=True, unsafe_hash=True)
class Enqueued(Generic[R]):
    """The answer to an enqueue; ``created`` is false where the job was there already."""

    job_id: UUID
    state: State
    created: bool


class ClaimedJob(NamedTuple):
    """A claimed job: the right to run one attempt, as long as ``token`` is the current one. As SQL's type granted."""

    token: int
    job_id: UUID
    tenant_id: UUID
    kind: str
    queue: str
    attempt: int
    max_attempts: int
    payload: str  # JSON text, decoded only by the handler that wants it
    version: int
    timeout_s: float
    traceparent: str | None


class AttemptOutcome(NamedTuple):
    """How an attempt ended. ``delay_s`` is None for the job's own back-off."""

    token: int
    outcome: str
    result: str | None = None
    error: str | None = None
    delay_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSummary:
    """A job without its payload and result."""

    job_id: UUID
    tenant_id: UUID
    kind: str
    queue: str
    priority: int
    state: State
    attempt: int
    max_attempts: int
    error: dict[str, Any] | None
    progress: float | None
    message: str | None
    created_at: datetime
    run_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    expires_at: datetime | None
    version: int
    key: str | None
    tags: list[str] | None
    copied_from: UUID | None
    traceparent: str | None
    cancel_requested: bool
    group: str | None
    gate: str | None
    meta: dict[str, Any] | None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        columns = _columns(row)
        del columns["payload"], columns["result"]
        return cls(**columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(JobSummary):
    """A job as it is now."""

    payload: Any
    result: Any

    @classmethod
    def from_row(cls, row: Mapping[str, Any], read: Callable[[str | None], Any] = json_codec.decode) -> Self:
        """``read`` is what makes values of its payload and result."""
        return cls(**_columns(row) | {name: read(row[name]) for name in ("payload", "result")})


def _columns(row: Mapping[str, Any]) -> dict[str, Any]:
    columns = dict(row) | {name: json_codec.shown(row[name]) for name in ("error", "meta")}
    return columns | {"state": State(row["state"]), "group": columns.pop("group_key")}


class JobFailed(LeaseholdError):
    """A job that was waited for has ended as failed, dead or canceled; ``job`` is that job, ``cause`` its error."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.cause = str((job.error or {}).get("message") or job.state)
        hint = f"leasehold jobs get {job.job_id} shows its attempts, leasehold jobs retry {job.job_id} runs it again"
        super().__init__(f"job {job.job_id} of {job.kind} is {job.state}: {self.cause}", hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One execution that has ended."""

    token: int
    attempt: int
    outcome: str
    error: dict[str, Any] | None
    worker: str
    started_at: datetime
    finished_at: datetime

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        return cls(**dict(row) | {"error": json_codec.decode(row["error"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A numbered fact in the life of a job: what happened to it, or what its handler said."""

    seq: int
    type: str
    message: str | None
    progress: float | None
    data: dict[str, Any] | None
    at: datetime

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        return cls(**dict(row) | {"data": json_codec.decode(row["data"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """What a handler logged. ``attempt`` is left out of streams."""

    job_id: UUID
    kind: str
    attempt: int | None
    seq: int
    at: datetime
    level: str
    message: str | None
    fields: dict[str, Any]

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        return cls(**dict(row) | {"fields": json_codec.decode(row["fields"]) or {}, "level": row["level"] or "info"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One answer to "why is it not running?"."""

    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A queue with what waits and runs in it, counted up to a bound."""

    queue: str
    paused: bool
    queued: int
    scheduled: int
    running: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerInfo:
    """A worker as the database knows it; ``ended_at`` is set when it left or was declared lost."""

    worker_id: UUID
    name: str
    version: str
    queues: list[str]
    kinds: list[str]
    slots: int
    running: int
    lease_s: float
    started_at: datetime
    beat_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A queue, kind or tenant of which only so many jobs run at once, or none while it is paused."""

    what: Literal["queue", "kind", "tenant"]
    name: str
    max_running: int | None
    paused: bool
    running: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How many of a thing a tenant may have, and how many are usual."""

    what: str
    most: int
    usual: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A customer."""

    tenant_id: UUID
    name: str
    weight: float
    max_running: int
    max_queued: int
    created_at: datetime
    paused: bool
