"""Tenants and queues: what the operator sets."""

from uuid import UUID

from leasehold.engine.database import Database
from leasehold.job import Queue, Tenant


async def create_tenant(db: Database, name: str) -> UUID:
    tenant: UUID = await db.value("create_tenant", name)
    return tenant


async def find_tenant(db: Database, name_or_id: str) -> UUID:
    tenant: UUID = await db.value("find_tenant", name_or_id)
    return tenant


async def list_tenants(db: Database) -> list[Tenant]:
    return [Tenant(**row) for row in await db.call("list_tenants")]


async def create_queue(db: Database, name: str) -> None:
    await db.call("create_queue", name)


async def set_tenant(
    db: Database,
    tenant: UUID,
    *,
    weight: float | None = None,
    max_running: int | None = None,
    max_queued: int | None = None,
) -> None:
    await db.call("set_tenant", tenant, weight, max_running, max_queued)


async def pause_queue(db: Database, queue: str, *, paused: bool) -> None:
    await db.call("pause_queue", queue, paused)


async def list_queues(db: Database, *, bound: int = 10_000) -> list[Queue]:
    """What waits and runs is counted up to the bound."""
    return [Queue(**row) for row in await db.call("list_queues", bound)]
