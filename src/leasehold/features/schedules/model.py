"""Schedules as they stand, and what became of their ticks."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import Field

from leasehold import json_codec
from leasehold.features.schedules.timing import CatchUp, Schedule, Timing

_TIMES = ("cron", "every_s", "at", "zone", "starts_at", "ends_at")
_NEXT_RUNS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleInfo:
    """A schedule as it stands. ``edited``: code declares it, and people have changed it since."""

    schedule_id: UUID
    tenant_id: UUID
    name: str
    kind: str
    payload: Any
    options: dict[str, Any]
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
    words: Annotated[str, Field(description="When it ticks, in English.")]
    next_runs: Annotated[list[datetime], Field(description="The next five ticks; none while it is paused.")]

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        columns = dict(row) | {name: json_codec.decode(row[name]) for name in ("payload", "options")}
        timing = _timing(row)
        ticks = [] if row["paused"] else timing.following(row["next_at"], _NEXT_RUNS)
        return cls(**columns, words=timing.words(), next_runs=ticks)

    @property
    def schedule(self) -> Schedule:
        """What was asked for."""
        return Schedule(
            name=self.name,
            kind=self.kind,
            payload=self.payload,
            options=self.options,
            cron=self.cron,
            every=self.every_s,
            at=self.at,
            zone=self.zone,
            starts_at=self.starts_at,
            ends_at=self.ends_at,
            jitter=self.jitter_s,
            overlap=self.overlap,
            catch_up=self.catch_up,
            catch_up_max=self.catch_up_max,
            tick_as=self.tick_as,
        )

    @property
    def timing(self) -> Timing:
        return _timing({name: getattr(self, name) for name in _TIMES})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """What became of a tick: fired, skipped (the last job had not ended), missed (nobody was there), or refused."""

    tick_at: datetime
    outcome: Literal["fired", "skipped", "missed", "refused"]
    job_id: UUID | None
    detail: str | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A schedule whose next tick has come; ``now`` is the database's clock."""

    schedule_id: UUID
    tenant_id: UUID
    name: str
    revision: int
    next_at: datetime
    timing: Timing
    catch_up: str
    catch_up_max: int
    now: datetime

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        values = {name: value for name, value in row.items() if name not in _TIMES}
        return cls(timing=_timing(row), **values)

    def ticks(self) -> tuple[list[datetime], datetime | None]:
        """Those that have come, and the one that follows."""
        most = self.catch_up_max if self.catch_up == CatchUp.ALL else 1
        return self.timing.due(self.next_at, self.now, most), self.timing.next_after(self.now)


def _timing(row: Mapping[str, Any]) -> Timing:
    return Timing(**{name: row[name] for name in _TIMES})
