"""What people look at: lists and counts that read so many rows at most, however many jobs there are.

With a tenant its own rows; without one all, which the database gives to the operator's role alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold import payload
from leasehold.engine.database import Database
from leasehold.engine.flows import Approval, FlowInfo
from leasehold.job import Job

#: Up to which jobs of a state are counted.
BOUND = 500
#: Jobs that one list or one action of many takes at most.
MOST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """Jobs that match; ``looked_to`` is where to look on, None when everything was looked at."""

    jobs: list[UUID]
    looked_to: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Failed and dead jobs that have their error in common."""

    fingerprint: str
    kind: str
    type: str | None
    message: str | None
    n: int
    dead: int
    tenants: int
    first_at: datetime
    last_at: datetime
    newest: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Minute:
    """Attempts of one kind that ended so within one minute; the times are sums."""

    minute: datetime
    kind: str
    outcome: str
    n: int
    wait_ms: int
    run_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    job_id: UUID
    kind: str
    queue: str
    waits_since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFlows:
    """Flows that match; ``looked_to`` is where to look on, None when everything was looked at."""

    flows: list[UUID]
    looked_to: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Jobs that wait for the same: ``what`` is group, gate or limit (of what their tenant runs at once)."""

    what: str
    tenant_id: UUID
    name: str | None
    waiting: int  # up to MOST
    first_job: UUID
    running: int | None
    at_once: int | None
    held_by: UUID | None  # the job that failed and keeps its group waiting for a person
    state: str | None
    next_at: datetime | None


async def count_states(db: Database, tenant: UUID | None) -> dict[str, int]:
    """Jobs by state, up to BOUND each; a state that none is in is left out, and successes are not counted."""
    return {row["state"]: row["n"] for row in await db.call("count_states", BOUND, tenant=tenant)}


async def find_jobs(
    db: Database, tenant: UUID | None, filters: Mapping[str, Any], *, before: UUID | None = None, limit: int = 50
) -> Jobs:
    """Newest first. Filters: those of list_jobs, fingerprint, and error, which is a part of the error's text."""
    rows = await db.call("find_jobs", payload.encode(filters, what="filter"), before, limit, tenant=tenant)
    return Jobs(**rows[0]) if rows else Jobs(jobs=[], looked_to=None)


async def see_jobs(db: Database, tenant: UUID | None, jobs: Sequence[UUID]) -> list[Job]:
    return [Job.from_row(row, payload.shown) for row in await db.call("see_jobs", jobs, tenant=tenant)]


async def list_failures(db: Database, tenant: UUID | None, *, most: int = MOST) -> list[Failure]:
    """The newest failures, so many at most, by fingerprint."""
    return [Failure(**row) for row in await db.call("list_failures", most, tenant=tenant)]


async def read_stat(db: Database, tenant: UUID | None, minutes: int = 60) -> list[Minute]:
    return [Minute(**row) for row in await db.call("read_stat", minutes, tenant=tenant)]


async def oldest_waiting(db: Database, tenant: UUID | None) -> Waiting | None:
    rows = await db.call("oldest_waiting", tenant=tenant)
    return Waiting(**rows[0]) if rows else None


async def find_flows(
    db: Database, tenant: UUID | None, state: str | None = None, *, before: UUID | None = None, limit: int = 50
) -> FoundFlows:
    rows = await db.call("find_flows", state, before, limit, tenant=tenant)
    return FoundFlows(**rows[0]) if rows else FoundFlows(flows=[], looked_to=None)


async def see_flows(db: Database, tenant: UUID | None, flows: Sequence[UUID]) -> list[FlowInfo]:
    """Without counts."""
    return [FlowInfo.from_row(row) for row in await db.call("see_flows", flows, tenant=tenant)]


async def list_approvals(
    db: Database, tenant: UUID | None, *, after: UUID | None = None, limit: int = 50
) -> list[Approval]:
    """What waits for a person, the oldest first."""
    return [Approval.from_row(row) for row in await db.call("list_approvals", after, limit, tenant=tenant)]


async def see_lines(db: Database, tenant: UUID | None, *, most: int = MOST) -> list[Line]:
    """Groups, gates and limits at which jobs wait, the longest lines first; so many jobs of each are looked at."""
    return [Line(**row) for row in await db.call("see_lines", most, tenant=tenant)]


async def act_on_chosen(
    db: Database, tenant: UUID, action: str, jobs: Sequence[UUID], reason: str | None = None
) -> int:
    """How many of them were retried or canceled: those in a state that is not for it are left alone."""
    return int(await db.value("act_on_chosen", action, jobs, reason, tenant=tenant))


async def copy_job(db: Database, tenant: UUID, job_id: UUID, value: Any) -> UUID:
    """A new job like this one, with another payload."""
    copy: UUID = await db.value("copy_job", job_id, payload.encode(value), tenant=tenant)
    return copy
