"""The bodies of requests and answers, as the OpenAPI document describes them."""

import re
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema

from leasehold.job import State

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII)


def _moment(value: Any) -> Any:
    """RFC 3339 only: a number or a time without a zone could mean several moments."""
    if isinstance(value, datetime):
        return value
    if not (isinstance(value, str) and _MOMENT.fullmatch(value)):
        raise ValueError("this is not a time such as 2030-01-31T08:00:00Z")
    try:
        return datetime.fromisoformat(value.upper())
    except ValueError:
        raise ValueError("there is no such time") from None


def _uuid(value: Any) -> Any:
    if isinstance(value, str) and not _UUID.fullmatch(value):
        raise ValueError("this is not an id")
    return value


def _whole(value: Any) -> Any:
    """JSON has one kind of number: 3.0 is 3."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Moment = Annotated[
    datetime,
    BeforeValidator(_moment),
    PlainSerializer(lambda at: at, return_type=datetime),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2030-01-31T08:00:00Z"]}),
]
Id = Annotated[UUID, BeforeValidator(_uuid)]
# The bounds stand next to the type: around a union or a validator the document would not say them.
Priority = Annotated[int, Field(strict=True, ge=0, le=3), BeforeValidator(_whole)]
Version = Annotated[int, Field(strict=True, ge=1, le=30_000), BeforeValidator(_whole)]
AttemptBudget = Annotated[int, Field(strict=True, ge=1, le=1000), BeforeValidator(_whole)]
Running = Annotated[int, Field(strict=True, ge=1, le=1_000_000), BeforeValidator(_whole)]
Queued = Annotated[int, Field(strict=True, ge=1, le=1_000_000_000), BeforeValidator(_whole)]
GroupLimit = Annotated[int, Field(strict=True, ge=1, le=1000), BeforeValidator(_whole)]
Period = Annotated[int, Field(strict=True, ge=1, le=31_622_400), BeforeValidator(_whole)]
Jitter = Annotated[int, Field(strict=True, ge=0, le=86_400), BeforeValidator(_whole)]
CaughtUp = Annotated[int, Field(strict=True, ge=1, le=1000), BeforeValidator(_whole)]
Number = Annotated[float, Field(strict=True)]
Kind = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$", max_length=100, examples=["demo.hello", "shop.refund"])
]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,62}$", max_length=63, examples=["default", "acme"])]
# 22 characters of base64 for the 16 bytes of an id: the last one has two bits only.
Cursor = Annotated[str, Field(pattern="^[A-Za-z0-9_-]{21}[AQgw]$", description="next_cursor of the page before.")]
Scope = Literal["jobs:read", "jobs:write", "admin", "operator"]


class Ask(BaseModel):
    """A body that is sent to us: what is not known is refused."""

    model_config = ConfigDict(extra="forbid")


class JobRequest(Ask):
    """A request for one job. What is left out is as the kind's worker registered it, else the default."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"kind": "demo.hello", "payload": {"name": "Ada"}},
                {"kind": "shop.refund", "payload": {"order": 7}, "key": "refund-7", "priority": 1, "tags": ["vip"]},
            ]
        },
    )

    kind: Kind
    payload: Any = Field(default_factory=dict, description="Any JSON; {} if it is left out.")
    key: str | None = Field(
        None, min_length=1, max_length=255, description="The same key of the same kind is the same job."
    )
    queue: Name | None = None
    priority: Priority | None = Field(None, description="0 critical, 1 high, 2 normal, 3 low.")
    run_at: Moment | None = Field(None, description="Not before this time, at most ten years ahead.")
    delay_s: Number | None = Field(None, ge=0, le=315_576_000)
    expires_at: Moment | None = Field(None, description="No attempt starts after this time.")
    max_attempts: AttemptBudget | None = None
    retry_base_s: Number | None = Field(None, ge=0.001, le=86_400)
    retry_cap_s: Number | None = Field(None, ge=0.001, le=2_592_000)
    timeout_s: Number | None = Field(None, ge=0.1, le=604_800)
    version: Version | None = Field(None, description="Of the payload's shape.")
    key_window_s: Number | None = Field(None, ge=1, le=31_557_600, description="How long the key stays with its job.")
    tags: list[Annotated[str, Field(min_length=1, max_length=100)]] | None = Field(None, max_length=20)
    group: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="Jobs of a group run in order, one at a time or so many at once.",
    )
    group_limit: GroupLimit | None = Field(None, description="How many of the group at once; 1 if it is left out.")
    group_hold: bool | None = Field(None, description="When this job is dead or failed, its group waits for a person.")
    copied_from: Id | None = None
    traceparent: str | None = Field(None, pattern=r"^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$")


class BatchRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"jobs": [{"kind": "demo.hello", "payload": {"name": "Ada"}}, {"kind": "demo.hello"}]},
                {"jobs": [{"kind": "shop.mail", "key": "mail-1"}]},
            ]
        },
    )

    jobs: list[JobRequest] = Field(min_length=1, max_length=1000)


class CancelRequest(Ask):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"reason": "the order was withdrawn"}, {}]}
    )

    reason: str | None = Field(None, min_length=1, max_length=1000, description="Kept with the job.")


class RetryRequest(Ask):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{}, {"run_at": "2030-01-31T08:00:00Z"}]})

    run_at: Moment | None = Field(None, description="Now if it is left out.")


class RescheduleRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"run_at": "2030-01-31T08:00:00Z"}, {"run_at": "2030-01-31T09:00:00+01:00"}]},
    )

    run_at: Moment


class KeyRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"name": "shop back end", "scopes": ["jobs:read", "jobs:write"]},
                {"name": "on call", "scopes": ["jobs:read"], "expires_at": "2030-01-31T08:00:00Z"},
            ]
        },
    )

    name: str = Field(min_length=1, max_length=100)
    scopes: list[Scope] = Field(min_length=1, max_length=4)
    expires_at: Moment | None = None
    tenant: str | None = Field(
        None, min_length=1, max_length=100, description="Name or id; only the operator says it, for a tenant's key."
    )


class TicketRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"job_id": "0190a000-0000-7000-8000-00000000000a"},
                {"job_id": "0190b000-0000-7000-8000-00000000000b"},
            ]
        },
    )

    job_id: Id


class TenantRequest(Ask):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "acme"}, {"name": "globex"}]})

    name: Name


class TenantChange(Ask):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"weight": 2}, {"max_running": 20, "max_queued": 5000}]}
    )

    weight: Number | None = Field(None, ge=0.02, le=100)
    max_running: Running | None = None
    max_queued: Queued | None = None


class JobOptions(Ask):
    """What the jobs of a schedule are like."""

    queue: Name | None = None
    priority: Priority | None = None
    max_attempts: AttemptBudget | None = None
    retry_base_s: Number | None = Field(None, ge=0.001, le=86_400)
    retry_cap_s: Number | None = Field(None, ge=0.001, le=2_592_000)
    timeout_s: Number | None = Field(None, ge=0.1, le=604_800)
    version: Version | None = None
    tags: list[Annotated[str, Field(min_length=1, max_length=100)]] | None = Field(None, max_length=20)


class ScheduleRequest(Ask):
    """A schedule has one of cron, every_s and at."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"kind": "shop.report", "cron": "0 3 * * *", "zone": "Europe/Berlin"},
                {"kind": "shop.poll", "every_s": 300, "jitter_s": 60, "options": {"queue": "default"}},
            ]
        },
    )

    kind: Kind
    payload: Any = Field(default_factory=dict, description="Of every job; any JSON.")
    options: JobOptions | None = None
    cron: str | None = Field(None, min_length=1, max_length=200, description="`0 3 * * *`, or `@daily`.")
    every_s: Period | None = None
    at: Moment | None = Field(None, description="Once.")
    zone: str = Field("UTC", min_length=1, max_length=64, description="An IANA name: the cron line is read there.")
    starts_at: Moment | None = None
    ends_at: Moment | None = None
    jitter_s: Jitter = Field(0, description="Jobs start at random within so many seconds after their tick.")
    overlap: Literal["skip", "queue", "cancel_old"] | None = Field(
        None, description="What a tick does while the last job has not ended; skip, or queue where all are caught up."
    )
    catch_up: Literal["none", "one", "all"] = Field("one", description="Which ticks that nobody fired are made up for.")
    catch_up_max: CaughtUp = 100
    tick_as: str | None = Field(
        None, min_length=1, max_length=100, description="The member of the payload that gets the time of the tick."
    )


HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", max_length=100, examples=["X-Shop"])]
HeaderValue = Annotated[str, Field(pattern=r"^([!-~]([ -~\t]*[!-~])?)?$", max_length=2000)]
EventType = Annotated[
    str, Field(pattern=r"^([a-z0-9_]+(\.[a-z0-9_]+)*(\.\*)?|\*)$", max_length=100, examples=["job.dead", "job.*", "*"])
]
SignatureFormat = Literal["standard", "stripe", "sha256"]
DeliveryState = Literal["pending", "delivered", "failed"]
InFlight = Annotated[int, Field(strict=True, ge=1, le=100), BeforeValidator(_whole)]
Reason = Annotated[str, Field(pattern=r"^[^\x00]+$", max_length=1000)]  # PostgreSQL keeps no NUL


class SecretRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"value": "the key of a payment service"}, {"value": "correct horse battery"}]},
    )

    value: str = Field(
        min_length=6, max_length=65_536, description="At most 65,536 bytes of UTF-8. Never shown again, to anybody."
    )


class HeaderNames(Ask):
    """Other names for the headers of a signature."""

    signature: HeaderName | None = None
    message_id: HeaderName | None = None
    timestamp: HeaderName | None = None


class EndpointRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"url": "https://example.com/hooks", "events": ["job.*"]},
                {
                    "url": "https://example.com/orders",
                    "events": ["job.dead", "order.paid"],
                    "format": "sha256",
                    "header_names": {"signature": "X-Shop-Signature"},
                    "headers": {"Authorization": "Bearer a token"},
                },
            ]
        },
    )

    url: str = Field(
        pattern="^https?://", max_length=2048, description="https, or http to a host that an operator allows."
    )
    events: list[EventType] = Field(min_length=1, max_length=100)
    format: SignatureFormat = Field("standard", description="How deliveries are signed.")
    header_names: HeaderNames = Field(default_factory=HeaderNames)
    headers: dict[HeaderName, HeaderValue] = Field(
        default_factory=dict,
        max_length=20,
        description="Sent with every delivery. Their values are never shown again.",
        json_schema_extra={"additionalProperties": False},
    )
    max_in_flight: InFlight = Field(10, description="Deliveries at once.")
    timeout_s: Number = Field(15.0, ge=1, le=60, description="Seconds that the receiver has to answer.")
    disable_after_s: Number = Field(
        432_000.0, ge=3600, le=31_104_000, description="Seconds of nothing but failures that disable it."
    )


class PauseRequest(Ask):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"reason": "the receiver is being moved"}, {}]}
    )

    reason: Reason | None = Field(None, description="Shown with the endpoint.")


class RotateRequest(Ask):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"overlap_s": 172_800}, {}]})

    overlap_s: Number = Field(86_400.0, ge=0, le=31_536_000, description="Seconds that the old secrets go on signing.")


class RecoverRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"since": "2026-01-31T08:00:00Z"}, {"since": "2026-01-31T09:00:00+01:00"}]},
    )

    since: Moment


class JobSummary(BaseModel):
    """A job without its payload and result."""

    job_id: UUID
    tenant_id: UUID
    kind: str
    queue: str
    priority: int
    state: State
    attempt: int
    max_attempts: int
    error: Any
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


class JobOut(JobSummary):
    """A job as it is now."""

    payload: Any
    result: Any


class JobMade(BaseModel):
    """The answer to a request for a job. ``created`` is false where the key's job was there already."""

    job_id: UUID
    state: State
    created: bool
    job: JobOut | None = Field(None, description="The whole job, after `Prefer: wait` saw it end.")


class BatchMade(BaseModel):
    data: list[JobMade]


class JobMoved(BaseModel):
    job_id: UUID
    state: State
    cancel_requested: bool = False


class AttemptOut(BaseModel):
    token: int
    attempt: int
    outcome: str
    error: Any
    worker: str
    started_at: datetime
    finished_at: datetime


class EventOut(BaseModel):
    seq: int
    type: str
    message: str | None
    progress: float | None
    data: Any
    at: datetime


class ReasonOut(BaseModel):
    reason: str
    detail: str


class Explanation(BaseModel):
    state: State
    reasons: list[ReasonOut]


class QueueOut(BaseModel):
    queue: str
    paused: bool
    queued: int
    scheduled: int
    running: int


class QueuePaused(BaseModel):
    queue: str
    paused: bool


class WorkerOut(BaseModel):
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


class TenantOut(BaseModel):
    tenant_id: UUID
    name: str
    weight: float
    max_running: int
    max_queued: int
    created_at: datetime


class KeyOut(BaseModel):
    """A key, never its secret."""

    key_id: str
    tenant_id: UUID | None
    name: str
    scopes: list[Scope]
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class KeyMade(KeyOut):
    key: str = Field(description="The whole key, shown this once.")


class TicketOut(BaseModel):
    ticket: str
    job_id: UUID
    expires_at: datetime


class AuditOut(BaseModel):
    audit_id: UUID
    tenant_id: UUID | None
    actor: str
    action: str
    target: str
    detail: Any
    at: datetime


class ScheduleOut(BaseModel):
    """A schedule as it stands. ``edited``: code declares it, and people have changed it since."""

    schedule_id: UUID
    tenant_id: UUID
    name: str
    kind: str
    payload: Any
    options: Any
    tick_as: str | None
    cron: str | None
    every_s: int | None
    at: datetime | None
    zone: str
    starts_at: datetime | None
    ends_at: datetime | None
    jitter_s: int
    overlap: str
    catch_up: str
    catch_up_max: int
    origin: Literal["api", "code"]
    edited: bool
    paused: bool
    revision: int
    next_at: datetime | None
    last_at: datetime | None
    last_job: UUID | None
    created_at: datetime
    updated_at: datetime
    words: str = Field(description="When it ticks, in English.")
    next_runs: list[datetime] = Field(description="The next five ticks; none while it is paused.")


class ScheduleRun(BaseModel):
    job_id: UUID


class TickOut(BaseModel):
    tick_at: datetime
    outcome: Literal["fired", "skipped", "missed", "refused"]
    job_id: UUID | None
    detail: str | None
    at: datetime


class Attempts(BaseModel):
    data: list[AttemptOut]


class Schedules(BaseModel):
    data: list[ScheduleOut]
    next_cursor: str | None
    has_more: bool


class Ticks(BaseModel):
    data: list[TickOut]


class Queues(BaseModel):
    data: list[QueueOut]


class Workers(BaseModel):
    data: list[WorkerOut]


class Tenants(BaseModel):
    data: list[TenantOut]


class Keys(BaseModel):
    data: list[KeyOut]


class Jobs(BaseModel):
    data: list[JobSummary]
    next_cursor: str | None
    has_more: bool


class AuditLog(BaseModel):
    data: list[AuditOut]
    next_cursor: str | None
    has_more: bool


class Events(BaseModel):
    data: list[EventOut]
    next_after: int
    has_more: bool


class Health(BaseModel):
    status: Literal["ok"]


class Readiness(BaseModel):
    status: Literal["ready", "not ready"]
    database: bool
    pending_files: int | None


class FieldProblem(BaseModel):
    pointer: str
    detail: str
    code: str


class ProblemOut(BaseModel):
    """RFC 9457. ``code`` is stable; the words are for people and may change."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    request_id: str
    hint: str | None = None
    retry_after: int | None = None
    errors: list[FieldProblem] | None = None


class SecretOut(BaseModel):
    """A secret, never its value. ``key_id`` is the key of the installation that seals it."""

    name: str
    key_id: str
    created_at: datetime
    updated_at: datetime


class Secrets(BaseModel):
    data: list[SecretOut]


class EndpointOut(BaseModel):
    """Whom events are sent to. ``headers`` are names; ``secrets`` is how many sign."""

    endpoint_id: UUID
    url: str
    events: list[str]
    format: SignatureFormat
    header_names: dict[str, str]
    headers: list[str]
    max_in_flight: int
    timeout_s: float
    disable_after_s: float
    state: Literal["enabled", "paused", "disabled"]
    reason: str | None
    state_at: datetime
    created_at: datetime
    failing_since: datetime | None
    resting_until: datetime | None
    secrets: int


class EndpointMade(EndpointOut):
    secret: str = Field(description="What the receiver verifies with, shown this once.")


class EndpointRotated(BaseModel):
    endpoint_id: UUID
    secret: str = Field(description="What the receiver verifies with from now on, shown this once.")


class EndpointRecovered(BaseModel):
    recovered: int = Field(description="Deliveries that are on their way.")


class Endpoints(BaseModel):
    data: list[EndpointOut]


class DeliveryOut(BaseModel):
    """One event on its way to one endpoint."""

    delivery_id: UUID
    event_id: UUID
    endpoint_id: UUID
    job_id: UUID | None
    type: str
    subject_type: str
    subject_id: str
    state: DeliveryState
    reason: str | None
    attempts: int
    status: int | None
    created_at: datetime
    ended_at: datetime | None


class DeliverySent(BaseModel):
    delivery_id: UUID


class Deliveries(BaseModel):
    data: list[DeliveryOut]
    next_cursor: str | None
    has_more: bool


class DeliveryAttemptOut(BaseModel):
    """What was sent and what came back, redacted."""

    n: int
    at: datetime
    request_headers: dict[str, str]
    status: int | None
    response_body: str | None
    error: str | None
    duration_ms: int


class DeliveryAttempts(BaseModel):
    data: list[DeliveryAttemptOut]
