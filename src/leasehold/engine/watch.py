"""What changes: how far jobs are, what was done to them, what monitoring counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold import payload, sql
from leasehold.engine import migrate
from leasehold.engine.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The number of a job's newest event, and whether the job has ended."""

    job_id: UUID
    seq: int
    ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Who did what to which thing."""

    audit_id: UUID
    tenant_id: UUID | None
    actor: str
    action: str
    target: str
    detail: dict[str, Any] | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """One number of the installation."""

    gauge: str
    queue: str | None
    state: str | None
    value: float


async def job_heads(db: Database, jobs: Sequence[UUID]) -> dict[UUID, Head]:
    """A job that is gone is not among them."""
    return {row["job_id"]: Head(**row) for row in await db.call("job_heads", jobs)}


async def list_audit(db: Database, tenant: UUID | None, *, before: UUID | None, limit: int) -> list[Audit]:
    """Newest first; of all tenants where none is given, which only the operator may ask."""
    function = "list_audit" if tenant is None else "list_own_audit"
    rows = await db.call(function, before, limit, tenant=tenant)
    return [Audit(**dict(row) | {"detail": payload.decode(row["detail"])}) for row in rows]


async def gauges(db: Database) -> list[Gauge]:
    return [Gauge(**row) for row in await db.call("gauges")]


async def pending_files(db: Database) -> list[str]:
    """The files that this program has and the database lacks; none where the database is of a later release."""
    [found] = await db.call("schema_files")
    return [] if (found["release"] or 0) > sql.RELEASE else migrate.pending_files(found["files"])
