"""What changes: how far jobs are, what was done to them, what monitoring counts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold import payload, sql
from leasehold.engine import migrate
from leasehold.engine.database import Database, own_version
from leasehold.metrics import LoopLag, Sample


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


async def job_heads(db: Database, jobs: Sequence[UUID]) -> dict[UUID, Head]:
    """A job that is gone is not among them."""
    return {job_id: Head(seq=seq, ended=ended) for job_id, seq, ended in await db.call("job_heads", jobs)}


async def flow_heads(db: Database, flows: Sequence[UUID]) -> dict[UUID, Head]:
    return {flow_id: Head(seq=seq, ended=ended) for flow_id, seq, ended in await db.call("flow_heads", flows)}


async def tenant_news(db: Database, tenants: Sequence[UUID], before: str | None, *, until: str | None = None) -> News:
    """What is new for these tenants after a position. More than can be told at once is not complete."""
    rows = await db.call("tenant_news", tenants, before, until, MOST_FACTS + 1)
    facts = [_fact(row) for row in rows if row["job_id"] is not None]
    return News(snapshot=rows[0]["snapshot"], facts=facts[:MOST_FACTS], complete=len(facts) <= MOST_FACTS)


def _fact(row: Any) -> Fact:
    columns = {name: value for name, value in row.items() if name != "snapshot"}
    is_flow = row["queue"] is None
    subject = {"job_id": None if is_flow else row["job_id"], "flow_id": row["job_id"] if is_flow else None}
    return Fact(**columns | subject | {"data": payload.decode(row["data"])})


async def list_audit(db: Database, tenant: UUID | None, *, before: UUID | None, limit: int) -> list[Audit]:
    """Newest first; of all tenants where none is given, which only the operator may ask."""
    function = "list_audit" if tenant is None else "list_own_audit"
    rows = await db.call(function, before, limit, tenant=tenant)
    return [Audit(**dict(row) | {"detail": payload.decode(row["detail"])}) for row in rows]


async def log_own_action(db: Database, tenant: UUID, action: str, target: str, detail: Any = None) -> None:
    """Write the tenant's audit log, in the transaction of whoever acts."""
    await db.call("log_own_action", action, target, payload.encode(detail, what="detail"), tenant=tenant)


async def metrics(db: Database) -> list[Sample]:
    """The numbers of the installation."""
    return [Sample(name, payload.decode(labels), value) for name, labels, value in await db.call("metrics")]


def process_metrics(lag: LoopLag, pools: Mapping[str, Database]) -> Iterator[Sample]:
    """What every process of ours tells of itself."""
    for name, db in pools.items():
        usage = db.usage()
        yield Sample("pool_size", {"pool": name}, usage.size)
        for state in ("used", "idle", "waiting"):
            yield Sample("pool_connections", {"pool": name, "state": state}, getattr(usage, state))
    yield Sample("event_loop_lag_seconds", {}, lag.seconds)
    yield Sample("build_info", {"version": own_version()}, 1)


async def pending_files(db: Database) -> list[str]:
    """The files that this program has and the database lacks; none where the database is of a later release."""
    [found] = await db.call("schema_files")
    return [] if (found["release"] or 0) > sql.RELEASE else migrate.pending_files(found["files"])
