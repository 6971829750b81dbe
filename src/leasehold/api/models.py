"""The bodies of requests and answers, as the OpenAPI document describes them."""

import re
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema, model_validator
from pydantic.json_schema import SkipJsonSchema

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


def whole(value: Any) -> Any:
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
Priority = Annotated[int, Field(strict=True, ge=0, le=3), BeforeValidator(whole)]
Version = Annotated[int, Field(strict=True, ge=1, le=30_000), BeforeValidator(whole)]
AttemptBudget = Annotated[int, Field(strict=True, ge=1, le=1000), BeforeValidator(whole)]
Running = Annotated[int, Field(strict=True, ge=1, le=1_000_000), BeforeValidator(whole)]
Queued = Annotated[int, Field(strict=True, ge=1, le=1_000_000_000), BeforeValidator(whole)]
Many = Annotated[int, Field(strict=True, ge=1, le=1_000_000), BeforeValidator(whole)]
Failures = Annotated[int, Field(strict=True, ge=1, le=100_000), BeforeValidator(whole)]
Probes = Annotated[int, Field(strict=True, ge=1, le=1000), BeforeValidator(whole)]
GroupLimit = Annotated[int, Field(strict=True, ge=1, le=1000), BeforeValidator(whole)]
Period = Annotated[int, Field(strict=True, ge=1, le=31_622_400), BeforeValidator(whole)]
Most = Annotated[int, Field(strict=True, ge=0, le=2**31 - 1), BeforeValidator(whole)]
Jitter = Annotated[int, Field(strict=True, ge=0, le=86_400), BeforeValidator(whole)]
CaughtUp = Annotated[int, Field(strict=True, ge=1, le=1000), BeforeValidator(whole)]
Number = Annotated[float, Field(strict=True)]
Kind = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$", max_length=100, examples=["demo.hello", "shop.refund"])
]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,62}$", max_length=63, examples=["default", "acme"])]
# 22 characters of base64 for the 16 bytes of an id: the last one has two bits only.
Cursor = Annotated[str, Field(pattern="^[A-Za-z0-9_-]{21}[AQgw]$", description="next_cursor of the page before.")]
JobKey = Annotated[str, Field(pattern=r"^[^\x00]+$", max_length=255)]  # PostgreSQL keeps no NUL
SignalKey = Annotated[str, Field(pattern=r"^[^\x00]+$", max_length=255)]  # PostgreSQL keeps no NUL
#: A gate; a class of gates ends in a colon.
GateName = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@:-]{0,199}$", max_length=200, examples=["host:example.com", "stripe"])
]
Scope = Literal["jobs:read", "jobs:write", "work", "admin", "operator", "metrics"]


class Ask(BaseModel):
    """A body that is sent to us: what is not known is refused."""

    model_config = ConfigDict(extra="forbid")


#: A gate, or a template that makes one of the payload. SQL says what is wrong with one.
GateTemplate = Annotated[
    str,
    Field(
        pattern=r"^[^\x00-\x1f\x7f]+$",
        max_length=200,
        examples=["stripe", "host:example.com", "stripe:{customer}", "host:{url|host}"],
    ),
]


class QuotaChange(Ask):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"most": 200}, {"most": None}]})

    most: Most | None = Field(description="How many the tenant may have; null for as many as are usual.")


class JobOptions(Ask):
    """What the jobs of a schedule are like. What is left out is as the kind's handler says, else the default."""

    queue: Name | None = None
    priority: Priority | None = Field(None, description="0 critical, 1 high, 2 normal, 3 low.")
    delay_s: Number | None = Field(
        None, ge=0, le=315_576_000, description="0 starts at once, whatever delay the kind has."
    )
    max_attempts: AttemptBudget | None = None
    retry_base_s: Number | None = Field(None, ge=0.001, le=86_400)
    retry_cap_s: Number | None = Field(None, ge=0.001, le=2_592_000)
    timeout_s: Number | None = Field(None, ge=0.1, le=604_800)
    version: Version | None = Field(None, description="Of the payload's shape.")
    tags: list[Annotated[str, Field(min_length=1, max_length=100)]] | None = Field(None, max_length=20)
    group: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="Jobs of a group run in order, one at a time or so many at once.",
    )
    group_limit: GroupLimit | None = Field(None, description="How many of the group at once; 1 if it is left out.")
    group_hold: bool | None = Field(None, description="When this job is dead or failed, its group waits for a person.")
    group_gap_s: Number | None = Field(
        None, ge=0.001, le=86_400, description="Seconds between two starts of the group."
    )
    gate: GateTemplate | None = Field(
        None,
        description="What every start of the job has to pass; `{customer}` in it is that member of the payload.",
    )


class StepOptions(JobOptions):
    """What the job of a step is like. Its delay begins when what it waits for has ended."""

    run_at: Moment | None = Field(None, description="Not before this time, at most ten years ahead.")
    expires_at: Moment | None = Field(None, description="No attempt starts after this time.")
    traceparent: str | None = Field(None, pattern=r"^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$")


Force = Annotated[bool | None, Field(strict=True, description="Take a kind, too, that no worker is known to handle.")]


class _JobHead(Ask):
    kind: Kind
    payload: Any = Field(default_factory=dict, description="Any JSON; {} if it is left out.")
    key: JobKey | None = Field(None, description="The same key of the same kind is the same job.")


class JobRequest(StepOptions, _JobHead):
    """A request for one job. What is left out is as the kind's handler says, else the default."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"kind": "demo.hello", "payload": {"name": "Ada"}},
                {"kind": "shop.refund", "payload": {"order": 7}, "key": "refund-7", "priority": 1, "tags": ["vip"]},
            ]
        },
    )

    key_window_s: Number | None = Field(None, ge=1, le=31_557_600, description="How long the key stays with its job.")
    unique: str | None = Field(
        None,
        pattern=r"^[^\x00]+$",
        max_length=255,
        description="Of a tenant's jobs of the kind, one waits under this key.",
    )
    on_duplicate: Literal["keep", "replace", "push"] | None = Field(
        None,
        description="When one waits: keep it, replace its payload, or push its time as well; keep if it is left out.",
    )
    copied_from: Id | None = None
    force: Force = None


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


def _some(value: Any) -> Any:
    if isinstance(value, dict) and (not value or None in value.values()):
        raise ValueError("say which jobs: at least one member, and none of them null")
    return value


class JobFilter(Ask):
    """Which jobs: those that fit every member that is there."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"minProperties": 1})

    state: State | SkipJsonSchema[None] = None
    kind: Kind | SkipJsonSchema[None] = None
    queue: Name | SkipJsonSchema[None] = None
    tag: Annotated[str, Field(min_length=1, max_length=100)] | SkipJsonSchema[None] = None
    key: JobKey | SkipJsonSchema[None] = None
    created_after: Moment | SkipJsonSchema[None] = None
    created_before: Moment | SkipJsonSchema[None] = None


class ActRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"action": "retry", "filter": {"kind": "shop.refund", "state": "dead"}},
                {"action": "cancel", "filter": {"tag": "campaign-7"}, "reason": "withdrawn", "dry_run": True},
            ]
        },
    )

    action: Literal["retry", "cancel", "delete"]
    filter: Annotated[JobFilter, BeforeValidator(_some)]
    reason: str | None = Field(None, min_length=1, max_length=1000, description="Kept with the jobs that are canceled.")
    dry_run: Annotated[bool, Field(strict=True)] = Field(False, description="Only select and count.")


class ActOnRequest(Ask):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"reason": "withdrawn"}, {}]})

    reason: str | None = Field(None, min_length=1, max_length=1000, description="Kept with the jobs that are canceled.")


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
                {"name": "gpu worker", "scopes": ["work"], "queues": ["gpu"]},
            ]
        },
    )

    name: str = Field(min_length=1, max_length=100)
    scopes: list[Scope] = Field(min_length=1, max_length=5)
    queues: list[Name] | None = Field(
        None,
        min_length=1,
        max_length=100,
        description="Where a key with the scope `work` may work; no other key has them.",
    )
    expires_at: Moment | None = None
    tenant: str | None = Field(
        None, min_length=1, max_length=100, description="Name or id; only the operator says it, for a tenant's key."
    )


class LogLineOut(BaseModel):
    """What a handler logged. ``attempt`` is left out of streams."""

    job_id: UUID
    kind: str
    attempt: int | None
    seq: int
    at: datetime
    level: str
    message: str | None
    fields: Any


class Logs(BaseModel):
    data: list[LogLineOut]
    next_cursor: str | None
    has_more: bool


class TicketRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"job_id": "0190a000-0000-7000-8000-00000000000a"},
                {"flow_id": "0190b000-0000-7000-8000-00000000000b"},
            ]
        },
    )

    job_id: Id | None = Field(None, description="Whose stream; without it and a flow: `/v1/events` or `/v1/logs`.")
    flow_id: Id | None = Field(None, description="Of which flow, instead of a job.")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.job_id and self.flow_id:
            raise ValueError("a ticket is for a job or for a flow, not for both")
        return self


class TenantRequest(Ask):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "acme"}, {"name": "globex"}]})

    name: Name


class LimitRequest(Ask):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"max_running": 20}, {"max_running": None}]}
    )

    max_running: Running | None = Field(description="Jobs at once; null removes the limit.")


class TenantChange(Ask):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"weight": 2}, {"max_running": 20, "max_queued": 5000}]}
    )

    weight: Number | None = Field(None, ge=0.02, le=100)
    max_running: Running | None = None
    max_queued: Queued | None = None


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
    force: Force = None


class WaitRequest(Ask):
    """What a step waits for that is no job."""

    seconds: Number | None = Field(None, ge=0, le=315_576_000, description="How long, at most or at all.")
    until: Moment | None = Field(None, description="`flow.sleep`: instead of seconds.")
    signal: Name | None = Field(None, description="`flow.signal`: its name.")
    key: SignalKey | None = Field(None, description="`flow.signal`: its key; the id of the flow if it is left out.")
    by_default: Literal["approve", "reject"] | None = Field(None, description="`flow.approval`: when nobody decides.")


StepName = Annotated[str, Field(pattern=r"^[^\x00]+$", max_length=200)]  # PostgreSQL keeps no NUL


class StepRequest(Ask):
    """A job, or `flow.approval`, `flow.signal`, `flow.sleep`, `flow.join`, which hold no worker."""

    kind: Kind
    payload: Any = Field(default_factory=dict, description="Any JSON.")
    name: StepName | None = None
    after: list[StepName] = Field(default_factory=list, max_length=1000, description="Names of steps it waits for.")
    on_failure: Literal["fail", "skip", "continue"] = Field(
        "fail", description="When one of those does not succeed: the flow fails, this step is skipped, or it runs."
    )
    options: StepOptions | None = None
    wait: WaitRequest | None = None


class FlowRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "name": "site",
                    "steps": [
                        {"kind": "demo.hello", "name": "find"},
                        {"kind": "flow.approval", "name": "ask", "after": ["find"], "payload": {"message": "go on?"}},
                        {"kind": "demo.hello", "after": ["ask"], "on_failure": "skip"},
                    ],
                },
                {"name": "one", "deadline_s": 3600, "steps": [{"kind": "demo.hello"}]},
            ]
        },
    )

    name: Name
    steps: list[StepRequest] = Field(max_length=1000)
    deadline: Moment | None = Field(None, description="Not over by then, it fails.")
    deadline_s: Number | None = Field(None, ge=0.001, le=315_576_000)
    force: Force = None


class SignalRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"signal": "paid", "payload": {"cents": 500}}, {"signal": "go", "key": "7"}]},
    )

    signal: Name
    key: SignalKey | None = Field(None, description="What the step waits for; the id of the flow if it is left out.")
    payload: Any = Field(default_factory=dict, description="The result of the step; any JSON.")


class DecisionRequest(Ask):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"note": "looks right"}, {}]})

    note: str | None = Field(None, pattern=r"^[^\x00]+$", max_length=1000, description="Kept with the decision.")


HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", max_length=100, examples=["X-Shop"])]
HeaderValue = Annotated[str, Field(pattern=r"^([!-~]([ -~\t]*[!-~])?)?$", max_length=2000)]
EventType = Annotated[
    str, Field(pattern=r"^([a-z0-9_]+(\.[a-z0-9_]+)*(\.\*)?|\*)$", max_length=100, examples=["job.dead", "job.*", "*"])
]
SignatureFormat = Literal["standard", "stripe", "sha256", "ed25519"]
DeliveryState = Literal["pending", "delivered", "failed"]
InFlight = Annotated[int, Field(strict=True, ge=1, le=100), BeforeValidator(whole)]
PerMinute = Annotated[int, Field(strict=True, ge=1, le=60_000), BeforeValidator(whole)]
Reason = Annotated[str, Field(pattern=r"^[^\x00]+$", max_length=1000)]  # PostgreSQL keeps no NUL


class SecretRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"value": "the key of a payment service"}, {"value": "correct horse battery"}]},
    )

    value: str = Field(
        min_length=6, max_length=65_536, description="At most 65,536 bytes of UTF-8. Never shown again, to anybody."
    )


class GateRule(Ask):
    """A rate, a breaker, or both."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"rate": 10, "per_s": 60, "burst": 2}, {"rate": 5, "failures": 5, "cooldown_s": 60}]
        },
    )

    rate: Many | None = Field(None, description="So many starts in per_s seconds; any number if it is left out.")
    per_s: Number | None = Field(None, ge=0.001, le=2_592_000, description="1 if it is left out.")
    burst: Many | None = Field(None, description="Starts at once after a rest; 1 if it is left out.")
    failures: Failures | None = Field(None, description="Failures that open the breaker; none if it is left out.")
    ratio: Number | None = Field(None, ge=0, le=1, description="Share of the starts that they must be; 0.5.")
    window_s: Number | None = Field(None, ge=1, le=86_400, description="Seconds in which they are counted; 60.")
    cooldown_s: Number | None = Field(None, ge=0.1, le=86_400, description="Seconds that the breaker stays open; 30.")
    probes: Probes | None = Field(None, description="Jobs that may then try; 1.")


class GateHold(Ask):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"seconds": 60}, {"seconds": 3600}]})

    seconds: Number = Field(ge=0, le=2_592_000)


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
    max_per_minute: PerMinute | None = Field(None, description="Deliveries a minute; by default as it answers.")
    ordered: bool = Field(False, strict=True, description="One after the other: what fails holds what comes after it.")
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
    gate: str | None


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


class JobRefused(BaseModel):
    """One job of a batch that is not atomic and was not made, as if it had been a request of its own."""

    status: int
    code: str
    detail: str
    hint: str | None


class BatchMade(BaseModel):
    data: list[JobMade | JobRefused]


class Selected(BaseModel):
    """The jobs that a bulk action applied to at one moment. They can be acted on for an hour."""

    selection_id: UUID
    action: Literal["retry", "cancel", "delete"]
    filter: dict[str, str]
    count: int
    selected_at: datetime


class ActMade(JobMade):
    """The job that acts on the selected jobs, and how many they are. Its result says how many it did."""

    count: int


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


class GateOut(BaseModel):
    """A gate and the rule that holds for it; of a class, and of a gate that tenants share, no state is told."""

    gate: str
    shared: bool
    rule: str | None
    rate: int | None
    per_s: float | None
    burst: int | None
    failures: int | None
    ratio: float | None
    window_s: float | None
    cooldown_s: float | None
    probes: int | None
    state: Literal["closed", "open", "half-open"] | None
    next_at: datetime | None
    failed: int | None
    waiting: int


class QueuePaused(BaseModel):
    queue: str
    paused: bool


class KindPaused(BaseModel):
    kind: str
    paused: bool


class QuotaOut(BaseModel):
    """How many of a thing a tenant may have, and how many are usual."""

    what: str
    most: int
    usual: int


class Quotas(BaseModel):
    data: list[QuotaOut]


class TenantPaused(BaseModel):
    tenant_id: UUID
    paused: bool


class QueueLimited(BaseModel):
    queue: str
    max_running: int | None


class KindLimited(BaseModel):
    kind: str
    max_running: int | None


class LimitOut(BaseModel):
    """A queue, kind or tenant of which only so many jobs run at once, or none while it is paused."""

    what: Literal["queue", "kind", "tenant"]
    name: str
    max_running: int | None
    paused: bool
    running: int


class Limits(BaseModel):
    data: list[LimitOut]


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
    paused: bool


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
    queues: list[str] | None


class KeyMade(KeyOut):
    key: str = Field(description="The whole key, shown this once.")


class TicketOut(BaseModel):
    ticket: str
    job_id: UUID | None
    flow_id: UUID | None
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


class FlowOut(BaseModel):
    """A flow as it stands. ``stopping``: it is to end before all is done, and something still runs."""

    flow_id: UUID
    tenant_id: UUID
    name: str
    state: Literal["running", "succeeded", "failed", "canceled"]
    reason: str | None
    stopping: bool
    deadline: datetime | None
    created_at: datetime
    finished_at: datetime | None
    counts: dict[str, int] | None = Field(description="Steps by state, `skipped` among them; null in lists.")


class FlowMade(BaseModel):
    flow_id: UUID
    state: Literal["running", "succeeded", "failed", "canceled"]


class FlowMoved(FlowMade):
    stopping: bool


class StepOut(BaseModel):
    job_id: UUID
    name: str | None
    kind: str
    what: Literal["job", "approval", "signal", "sleep", "join"]
    state: State | Literal["skipped"]
    reason: str | None
    after: list[UUID] = Field(description="The jobs it waits for.")
    finished_at: datetime | None


class ApprovalOut(BaseModel):
    job_id: UUID
    flow_id: UUID
    flow: str
    name: str | None
    payload: Any
    asked_at: datetime
    expires_at: datetime | None
    by_default: Literal["approve", "reject"]
    tenant_id: UUID


class SignalSent(BaseModel):
    signal: str
    key: str
    taken: bool = Field(description="Whether a step has taken it already; otherwise it is kept.")


class Attempts(BaseModel):
    data: list[AttemptOut]


class Schedules(BaseModel):
    data: list[ScheduleOut]
    next_cursor: str | None
    has_more: bool


class Flows(BaseModel):
    data: list[FlowOut]
    next_cursor: str | None
    has_more: bool


class Steps(BaseModel):
    data: list[StepOut]
    next_cursor: str | None
    has_more: bool


class Approvals(BaseModel):
    data: list[ApprovalOut]
    next_cursor: str | None
    has_more: bool


class Ticks(BaseModel):
    data: list[TickOut]


class Queues(BaseModel):
    data: list[QueueOut]


class Gates(BaseModel):
    data: list[GateOut]
    next_cursor: str | None
    has_more: bool


class Workers(BaseModel):
    data: list[WorkerOut]


class Tenants(BaseModel):
    data: list[TenantOut]
    next_cursor: str | None
    has_more: bool


class Keys(BaseModel):
    data: list[KeyOut]


class Jobs(BaseModel):
    data: list[JobSummary]
    next_cursor: str | None
    has_more: bool


class Overview(BaseModel):
    """The newest jobs and flows of the tenant."""

    data: list[JobSummary]
    flows: list[FlowOut]


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
    max_per_minute: int | None
    ordered: bool


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


EMAIL = r"^[!-?A-~]+@[!-?A-~]+$"
Role = Literal["owner", "admin", "member", "viewer"]


class PersonOut(BaseModel):
    """Somebody whom an issuer vouches for."""

    person_id: UUID
    email: str
    name: str
    is_operator: bool
    created_at: datetime
    signed_in_at: datetime


class MembershipOut(BaseModel):
    tenant_id: UUID
    name: str
    role: Role


class Me(BaseModel):
    """Who is signed in. Without a person it is the operator, by a login link."""

    person: PersonOut | None
    session_id: str
    tenant_id: UUID | None = Field(description="The tenant that was chosen.")
    role: Role | None
    is_operator: bool
    scopes: list[str]
    tenants: list[MembershipOut] = Field(description="Those that can be chosen; an operator can choose any.")
    csrf_token: str | None = Field(description="For X-CSRF-Token, where a cookie signs in.")


class TenantChoice(Ask):
    tenant: str | None = Field(min_length=1, max_length=100, description="Name or id.", examples=["acme"])


class SessionOut(BaseModel):
    session_id: str
    kind: Literal["browser", "refresh"]
    tenant_id: UUID | None
    created_at: datetime
    seen_at: datetime
    expires_at: datetime


class Sessions(BaseModel):
    data: list[SessionOut]


class PersonSettings(Ask):
    """A person's own settings. ``app`` is for the front end: whatever it wants to find again."""

    theme: Literal["system", "light", "dark"] = "system"
    time_zone: Annotated[
        str, Field(max_length=64, pattern=r"^[A-Za-z][A-Za-z0-9_+/-]*$", examples=["UTC", "Europe/Berlin"])
    ] = "UTC"
    app: dict[str, Any] = Field(default_factory=dict)


class IdToken(Ask):
    """An ID token of the issuer that this server trusts, as its sign-in button gave it to a front end."""

    id_token: str = Field(min_length=1, max_length=16_384)
    nonce: str | None = Field(
        None, min_length=1, max_length=255, description="What the front end gave the button: the token must have it."
    )
    tenant: str | None = Field(None, min_length=1, max_length=100, description="Act in this tenant: name or id.")


class RefreshToken(Ask):
    refresh_token: str = Field(min_length=1, max_length=200)


class Tokens(BaseModel):
    access_token: str = Field(description="A JWT for `Authorization: Bearer`, for a few minutes.")
    token_type: Literal["Bearer"]
    expires_in: int = Field(description="Seconds.")
    refresh_token: str = Field(description="For the next tokens, once; they bring another.")


class MemberOut(BaseModel):
    person_id: UUID
    email: str
    name: str
    role: Role
    created_at: datetime
    signed_in_at: datetime


class Members(BaseModel):
    data: list[MemberOut]


class MemberChange(Ask):
    role: Role


class InvitationRequest(Ask):
    """Whoever signs in with this address, verified by the issuer, joins."""

    email: str = Field(pattern=EMAIL, max_length=320, examples=["ada@example.com"])
    role: Literal["owner", "admin", "member", "viewer", "operator"] = Field(
        description="operator: of the installation's staff, for operators to give."
    )
    days: Number = Field(7, gt=0, le=90)
    tenant: str | None = Field(None, min_length=1, max_length=100, description="Name or id; only the operator says it.")


class InvitationOut(BaseModel):
    invitation_id: UUID
    tenant_id: UUID | None
    email: str
    role: str
    invited_by: str
    created_at: datetime
    expires_at: datetime


class Invitations(BaseModel):
    data: list[InvitationOut]


class ReportOut(BaseModel):
    """What a job of kind ``report.generate`` made, or one of a pack. ``lines`` are those of its table."""

    report_id: UUID
    name: str
    title: str
    format: Literal["html", "csv", "json", "xlsx", "zip"]
    media_type: str
    sha256: str
    size: int
    lines: int
    created_at: datetime
    expires_at: datetime


class ReportLinked(ReportOut):
    link: str = Field(description="Opens the report without a key, until link_expires_at.")
    link_expires_at: datetime


class Reports(BaseModel):
    data: list[ReportOut]
    next_cursor: str | None
    has_more: bool


class ReportAsked(BaseModel):
    report_id: UUID = Field(description="That of its job: the report is there when the job has succeeded.")
    state: State


class JobEnded(BaseModel):
    """What ``job.succeeded``, ``job.failed``, ``job.dead`` and ``job.canceled`` tell."""

    job_id: UUID
    kind: str
    queue: str
    state: Literal["succeeded", "failed", "dead", "canceled"]
    key: str | None
    tags: list[str] | None
    created_at: datetime
    finished_at: datetime
    attempts: int
    error: dict[str, Any] | None


class EndpointDisabled(BaseModel):
    endpoint_id: UUID
    reason: str


class EndpointTest(BaseModel):
    message: str


class ReportReady(BaseModel):
    report_id: UUID
    title: str
    format: Literal["html", "csv", "json", "xlsx"]
    lines: int
    expires_at: datetime


class WebhookEvent(BaseModel):
    """The envelope of every event. The same ``id`` is the same event: it may come twice."""

    id: UUID
    type: str = Field(examples=["job.dead", "order.paid"])
    api_version: Literal["1"]
    tenant: UUID
    subject_type: str
    subject_id: str
    occurred_at: datetime
    data: Any = Field(description="What happened, by type.")
