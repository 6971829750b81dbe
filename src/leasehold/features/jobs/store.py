"""What people look at: lists and counts that read so many rows at most, however many jobs there are.

With a tenant its own rows; without one all, which the database gives to the operator's role alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from leasehold import json_codec
from leasehold.database.database import Database
from leasehold.features.jobs.model import Failure, Jobs, Waiting
from leasehold.job import Job

#: Up to which jobs of a state are counted.
BOUND = 500
#: Jobs that one list or one action of many takes at most.
MOST = 1000


async def count_states(db: Database, tenant: UUID | None) -> dict[str, int]:
    """Jobs by state, up to BOUND each; a state that none is in is left out, and successes are not counted."""
    return {row["state"]: row["n"] for row in await db.call("count_states", BOUND, tenant=tenant)}


async def find_jobs(
    db: Database, tenant: UUID | None, filters: Mapping[str, Any], *, before: UUID | None = None, limit: int = 50
) -> Jobs:
    """Newest first. Filters: those of list_jobs, fingerprint, and error, which is a part of the error's text."""
    rows = await db.call("find_jobs", json_codec.encode(filters, what="filter"), before, limit, tenant=tenant)
    return Jobs(**rows[0]) if rows else Jobs(jobs=[], looked_to=None)


async def see_jobs(db: Database, tenant: UUID | None, jobs: Sequence[UUID]) -> list[Job]:
    return [Job.from_row(row, json_codec.shown) for row in await db.call("list_jobs_operator", jobs, tenant=tenant)]


async def list_failures(db: Database, tenant: UUID | None, *, most: int = MOST) -> list[Failure]:
    """The newest failures, so many at most, by fingerprint."""
    return [Failure(**row) for row in await db.call("list_failures", most, tenant=tenant)]


async def oldest_waiting(db: Database, tenant: UUID | None) -> Waiting | None:
    rows = await db.call("oldest_waiting", tenant=tenant)
    return Waiting(**rows[0]) if rows else None


async def act_on_chosen(
    db: Database, tenant: UUID, action: str, jobs: Sequence[UUID], reason: str | None = None
) -> int:
    """How many of them were retried or canceled: those in a state that is not for it are left alone."""
    return int(await db.value("apply_action", action, jobs, reason, tenant=tenant))


async def copy_job(db: Database, tenant: UUID, job_id: UUID, value: Any) -> UUID:
    """A new job like this one, with another payload."""
    copy: UUID = await db.value("copy_job", job_id, json_codec.encode(value), tenant=tenant)
    return copy
