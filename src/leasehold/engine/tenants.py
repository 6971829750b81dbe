"""Tenants and queues: what the operator sets."""

from uuid import UUID

from leasehold.database.database import Database
from leasehold.job import Queue, Quota, Tenant

#: The tenant of an installation that has only one. See only_tenant.sql.
DEFAULT = "default"
#: Ours, for jobs that prove that work flows.
SYSTEM = "system"
_PAGE = 1000


async def create_tenant(db: Database, name: str) -> UUID:
    tenant: UUID = await db.value("create_tenant", name)
    return tenant


async def find_tenant(db: Database, name_or_id: str | None) -> UUID:
    """None is ``default``, and refused where there are others."""
    tenant: UUID = await db.value("find_tenant", name_or_id)
    return tenant


async def list_tenants(db: Database) -> list[Tenant]:
    found: list[Tenant] = []
    while len(some := await page_of_tenants(db, after=found[-1].name if found else "", limit=_PAGE)) == _PAGE:
        found += some
    return found + some


async def page_of_tenants(db: Database, *, after: str = "", limit: int = 50) -> list[Tenant]:
    """By name, after a name."""
    return [Tenant(**row) for row in await db.call("page_of_tenants", after, limit)]


async def get_tenant(db: Database, tenant: UUID) -> Tenant:
    return Tenant(**(await db.call("get_tenant", tenant))[0])


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


async def list_quotas(db: Database, tenant: UUID) -> list[Quota]:
    """How many endpoints, schedules and so on the tenant may have."""
    return [Quota(**row) for row in await db.call("list_quotas", tenant)]


async def set_quota(db: Database, tenant: UUID, what: str, most: int | None) -> None:
    """None: as many as are usual."""
    await db.call("set_quota", tenant, what, most)


async def list_queues(db: Database, *, bound: int = 10_000) -> list[Queue]:
    """What waits and runs is counted up to the bound."""
    return [Queue(**row) for row in await db.call("list_queues", bound)]
