"""JSON of the API as values: the same classes that programs with a database get."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, TypeVar, get_args, get_type_hints
from uuid import UUID

from leasehold.errors import LeaseholdError
from leasehold.job import Attempt, ClaimedJob, Event, Job, State

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A schedule as it stands."""

    schedule_id: UUID
    name: str
    kind: str
    payload: Any
    options: Any
    cron: str | None
    every_s: int | None
    at: datetime | None
    zone: str
    paused: bool
    next_at: datetime | None
    last_at: datetime | None
    last_job: UUID | None
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """One job of a batch that was not made, and why."""

    error: LeaseholdError


def read(cls: type[T], data: dict[str, Any]) -> T:
    """A value of this class. What a newer server says besides is passed over; what a list leaves out is None."""
    return cls(**{name: _read(reader, data.get(name)) for name, reader in _readers(cls).items()})


def job(data: dict[str, Any]) -> Job:
    return read(Job, data)


def event(data: dict[str, Any]) -> Event:
    return read(Event, data)


def attempt(data: dict[str, Any]) -> Attempt:
    return read(Attempt, data)


def grant(data: dict[str, Any]) -> ClaimedJob:
    """Its payload stays as it is: decoded."""
    ids = {name: UUID(data[name]) for name in ("job_id", "tenant_id")}
    return ClaimedJob(**{name: data[name] for name in ClaimedJob._fields} | ids | {"token": int(data["token"])})


_known: dict[type, dict[str, Any]] = {}


def _readers(cls: type[Any]) -> dict[str, Any]:
    """By field: what makes its value of JSON, or None where JSON has it already. Asked for every row, so it is kept."""
    if cls not in _known:
        _known[cls] = _find_readers(cls)
    return _known[cls]


def _find_readers(cls: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(cls)
    known = {UUID: UUID, datetime: datetime.fromisoformat, State: State}
    return {
        one.name: next((known[part] for part in get_args(hints[one.name]) or (hints[one.name],) if part in known), None)
        for one in fields(cls)
    }


def _read(reader: Any, value: Any) -> Any:
    return value if reader is None or value is None else reader(value)
