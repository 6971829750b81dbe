"""What a stream can follow: a job, or what a feature describes as a ``Subject``. It has numbered events and an end."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from leasehold.database.database import Database
from leasehold.engine import jobs, progress
from leasehold.engine.progress import Head
from leasehold.http.responses import read_json
from leasehold.job import Job, JobSummary

_ENDED = frozenset({"succeeded", "failed", "dead", "canceled"})


class Stateful(Protocol):
    @property
    def state(self) -> str: ...


T = TypeVar("T", bound=Stateful)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subject(Generic[T]):
    """``own`` raises NotFound for another tenant's; ``get`` may take longer, as it reads everything."""

    word: str
    heads: Callable[[Database, Sequence[UUID]], Awaitable[dict[UUID, Head]]]
    own: Callable[[Database, UUID, UUID], Awaitable[T]]
    get: Callable[[Database, UUID, UUID], Awaitable[T]]
    shown: type[Any]  # what a stream shows of it


def has_ended(one: Stateful) -> bool:
    return one.state in _ENDED


async def _job(db: Database, tenant: UUID, job_id: UUID) -> Job:
    return await jobs.get_job(db, tenant, job_id, read_json)


#: A stream shows how a job goes; its payload and result are at its own address.
JOB = Subject(word="job", heads=progress.job_heads, own=_job, get=_job, shown=JobSummary)
