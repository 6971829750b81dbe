"""The bodies of requests about jobs, and of their answers."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from leasehold.http.types import Ask, EnqueueOptions, Force, JobKey, Kind, Moment, Name
from leasehold.job import Enqueued, Job, Reason, State


class _JobHead(Ask):
    kind: Kind
    payload: Any = Field(default_factory=dict, description="Any JSON; {} if it is left out.")
    key: JobKey | None = Field(None, description="The same key of the same kind is the same job.")


class JobRequest(EnqueueOptions, _JobHead):
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


@dataclass(slots=True)
class JobMade(Enqueued):
    """The answer to a request for a job. ``created`` is false where the key's job was there already."""

    job: Annotated[Job | None, Field(description="The whole job, after `Prefer: wait` saw it end.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRefused:
    """One job of a batch that is not atomic and was not made, as if it had been a request of its own."""

    status: int
    code: str
    detail: str
    hint: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchMade:
    data: list[Enqueued | JobRefused]


@dataclass(slots=True, kw_only=True)
class ActMade(Enqueued):
    """The job that acts on the selected jobs, and how many they are. Its result says how many it did."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a job does not run, the first reason first; none when it runs or has ended."""

    state: State
    reasons: list[Reason]
