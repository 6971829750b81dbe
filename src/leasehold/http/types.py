"""The types that bodies of several features share, as the OpenAPI document describes them."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, core_schema

from leasehold.durations import HINT, PATTERN, seconds_of
from leasehold.errors import BadInput
from leasehold.job import Event, State

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
Running = Annotated[int, Field(strict=True, ge=1, le=1_000_000), BeforeValidator(whole)]
Number = Annotated[float, Field(strict=True)]


@dataclass(frozen=True, slots=True)
class Seconds:
    """A duration between two bounds: a number of seconds, or a text such as "10m"."""

    least: float
    most: float
    whole: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        number: CoreSchema
        if self.whole:
            number = core_schema.int_schema(strict=True, ge=int(self.least), le=int(self.most))
        else:
            number = core_schema.float_schema(strict=True, ge=self.least, le=self.most)
        return core_schema.no_info_before_validator_function(self._number, number)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        text = {"type": "string", "pattern": PATTERN, "maxLength": 50, "examples": ["10m"]}
        return {"anyOf": [handler(schema), text]}

    def _number(self, value: Any) -> Any:
        if not isinstance(value, str):
            return whole(value) if self.whole else value
        try:
            seconds = seconds_of(value, "value")
        except BadInput:
            raise ValueError(f"{value!r} is not a duration: {HINT}") from None
        if not self.least <= seconds <= self.most:
            bounds = f"from {self.least:g} to {self.most:g} seconds"
            raise ValueError(f"{value!r} is not a duration {bounds}")
        return whole(seconds) if self.whole else seconds


Kind = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$", max_length=100, examples=["demo.hello", "shop.refund"])
]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,62}$", max_length=63, examples=["default", "acme"])]
# 22 characters of base64 for the 16 bytes of an id: the last one has two bits only.
Cursor = Annotated[str, Field(pattern="^[A-Za-z0-9_-]{21}[AQgw]$", description="next_cursor of the page before.")]
JobKey = Annotated[str, Field(pattern=r"^[^\x00]+$", max_length=255)]  # PostgreSQL keeps no NUL


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


# <options>
# Made from options.csv by `python -m tools.generate`.
# fmt: off


class JobOptions(Ask):
    """Options of the jobs of a schedule, else those of the kind, else the defaults."""

    queue: Name | None = Field(None,
        description="Queue of the job; it must exist. Default default.")
    priority: Annotated[int, Field(strict=True, ge=0, le=3), BeforeValidator(whole)] | None = Field(None,
        description="0 critical, 1 high, 2 normal, 3 low. Default 2.")
    max_attempts: Annotated[int, Field(strict=True, ge=1, le=1000), BeforeValidator(whole)] | None = Field(None,
        description="Number of attempts before the job is dead. Default 5.")
    retry_base_s: Annotated[float, Seconds(0.001, 86400)] | None = Field(None,
        description="Delay in seconds before the second attempt; each later delay is twice as long. Default 1.")
    retry_cap_s: Annotated[float, Seconds(0.001, 2592000)] | None = Field(None,
        description="Longest delay in seconds between two attempts. Default 3600.")
    timeout_s: Annotated[float, Seconds(0.1, 604800)] | None = Field(None,
        description="Hard limit of one attempt in seconds. Default 600.")
    delay_s: Annotated[float, Seconds(0, 315576000)] | None = Field(None,
        description="Seconds before the first attempt, from the tick of a schedule or the turn of a step.")
    version: Annotated[int, Field(strict=True, ge=1, le=30000), BeforeValidator(whole)] | None = Field(None,
        description="Version of the payload's shape. Default 1.")
    tags: list[Annotated[str, Field(min_length=1, max_length=100)]] | None = Field(None, max_length=20,
        description="Words to find the job by.")
    meta: dict[str, Any] | None = Field(None,
        description="Free JSON object of at most 16 KiB, which the job carries and shows.")
    group: str | None = Field(None, pattern=r"^[^\x00]+$", max_length=200,
        description="Jobs of one group of a tenant start in order, group_limit of them at once.")
    group_limit: Annotated[int, Field(strict=True, ge=1, le=1000), BeforeValidator(whole)] | None = Field(None,
        description="How many jobs of the group run at once; its first waiting job decides. Default 1.")
    group_hold: bool | None = Field(None,
        description="When this job is dead or failed, its group waits until the job is retried. Default false.")
    group_gap_s: Annotated[float, Seconds(0.001, 86400)] | None = Field(None,
        description="Shortest time in seconds between two starts of the group.")
    gate: GateTemplate | None = Field(None,
        description="Gate that every start passes; `{customer}` in it stands for that member of the payload.")


class StepOptions(JobOptions):
    """Options of the job of a step. Its delay begins when its parents have ended."""

    run_at: Moment | None = Field(None,
        description="No attempt starts before this time (default now), at most ten years ahead; overrides delay_s.")
    expires_at: Moment | None = Field(None,
        description="No attempt starts after this time; the job is canceled when its turn comes.")
    traceparent: str | None = Field(None, pattern=r"^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$",
        description="W3C trace context of the caller.")


class EnqueueOptions(StepOptions):
    """Options of a job."""

    key_window_s: Annotated[float, Seconds(1, 31557600)] | None = Field(None,
        description="Seconds for which a key belongs to its job. Default 86400.")
    unique: str | None = Field(None, pattern=r"^[^\x00]+$", max_length=255,
        description="At most one job of the tenant and kind waits under this key; excludes group and key.")
    on_duplicate: Literal['keep', 'replace', 'push'] | None = Field(None,
        description="With unique: keep the waiting job, replace its payload, or push its time too. Default keep.")
    copied_from: Id | None = Field(None, description="Job that this one is a copy of.")

# fmt: on
# </options>

Force = Annotated[bool | None, Field(strict=True, description="Take a kind, too, that no worker is known to handle.")]


class CancelRequest(Ask):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"reason": "the order was withdrawn"}, {}]}
    )

    reason: str | None = Field(None, min_length=1, max_length=1000, description="Kept with the job.")


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Generic[T]):
    """All of a kind."""

    data: list[T]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some of a kind. ``next_cursor`` is null on the last page."""

    data: list[T]
    next_cursor: str | None
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """Events of a job or a flow, oldest first."""

    data: list[Event]
    next_after: int
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JobMoved:
    """Where a job is now."""

    job_id: UUID
    state: State
    cancel_requested: bool = False
