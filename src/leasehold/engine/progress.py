"""How far jobs and flows are, and what is new in a tenant."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold import json_codec
from leasehold.database.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The number of the newest event of a job or a flow, and whether that is its end."""

    seq: int
    ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something new about a job of a tenant, or about a flow: then there is no job, and no queue."""

    tenant_id: UUID
    job_id: UUID | None
    flow_id: UUID | None
    kind: str  # or the flow's name
    queue: str | None
    seq: int
    type: str
    message: str | None
    progress: float | None
    data: dict[str, Any] | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What one look found, and the position that the next one goes on from."""

    snapshot: str
    facts: list[Fact]
    complete: bool


#: Facts of one look at most.
MOST_FACTS = 20_000


async def job_heads(db: Database, jobs: Sequence[UUID]) -> dict[UUID, Head]:
    """A job that is gone is not among them."""
    return {job_id: Head(seq=seq, ended=ended) for job_id, seq, ended in await db.call("job_heads", jobs)}


async def tenant_news(db: Database, tenants: Sequence[UUID], before: str | None, *, until: str | None = None) -> News:
    """What is new for these tenants after a position. More than can be told at once is not complete."""
    rows = await db.call("tenant_changes", tenants, before, until, MOST_FACTS + 1)
    facts = [_fact(row) for row in rows if row["job_id"] is not None]
    return News(snapshot=rows[0]["snapshot"], facts=facts[:MOST_FACTS], complete=len(facts) <= MOST_FACTS)


def _fact(row: Any) -> Fact:
    columns = {name: value for name, value in row.items() if name != "snapshot"}
    is_flow = row["queue"] is None
    subject = {"job_id": None if is_flow else row["job_id"], "flow_id": row["job_id"] if is_flow else None}
    return Fact(**columns | subject | {"data": json_codec.decode(row["data"])})
