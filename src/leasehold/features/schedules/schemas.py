"""The bodies of requests about schedules, and of their answers."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BeforeValidator, ConfigDict, Field

from leasehold.http.types import Ask, Force, JobOptions, Kind, Moment, Seconds, whole

Period = Annotated[int, Seconds(1, 31_622_400, whole=True)]
Jitter = Annotated[int, Seconds(0, 86_400, whole=True)]
CaughtUp = Annotated[int, Field(strict=True, ge=1, le=1000), BeforeValidator(whole)]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRun:
    job_id: UUID
