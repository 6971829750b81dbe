"""How many of each thing a tenant may have: counted when one is made, and never another tenant's."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from leasehold import tokens as keys
from leasehold.database.database import Database, Role
from leasehold.engine import tenants
from leasehold.errors import BadInput, NotFound, QuotaExceeded
from leasehold.features.api_keys import store as engine
from leasehold.features.schedules.store import put_schedule
from leasehold.features.schedules.timing import Schedule
from leasehold.tokens import Peppers
from tests.cell import Cell


@pytest.fixture
async def operator(cell: Cell) -> AsyncIterator[Database]:
    async with cell.database(Role.OPERATOR, connections=1) as db:
        yield db


Make = Callable[[Database, UUID, int], Awaitable[object]]


async def endpoint(db: Database, tenant: UUID, n: int) -> None:
    await db.value("create_endpoint", f"https://example.com/{n}", ["*"], tenant=tenant)


async def schedule(db: Database, tenant: UUID, n: int) -> None:
    await put_schedule(db, tenant, Schedule(name=f"s{n}", kind="t.work", every=60), next_at=datetime.now(UTC))


async def gate(db: Database, tenant: UUID, n: int) -> None:
    await db.call("put_gate", f"g{n}", '{"rate": 1}', tenant=tenant)


async def secret(db: Database, tenant: UUID, n: int) -> None:
    await db.call("put_secret", f"s{n}", "k", b"wrapped", b"box", tenant=tenant)


async def key(db: Database, tenant: UUID, n: int) -> None:
    made, peppers = keys.make("live"), Peppers(["p" * 32])
    await engine.create_key(db, tenant, made, peppers, name=f"{n}", scopes=["jobs:read"], expires_at=None)


async def invitation(db: Database, tenant: UUID, n: int) -> None:
    await db.call("create_invitation", f"p{n}@example.com", "viewer", 60.0, tenant=tenant)


THINGS: dict[str, Make] = {
    "endpoints": endpoint, "schedules": schedule, "gates": gate, "secrets": secret, "keys": key,
    "invitations": invitation,
}  # fmt: skip


@pytest.mark.parametrize("what", THINGS)
async def test_a_tenant_has_as_many_of_a_thing_as_its_quota_and_no_more(
    cell: Cell, api_db: Database, operator: Database, what: str
) -> None:
    make = THINGS[what]
    await tenants.set_quota(operator, cell.tenant_a, what, 2)
    for n in range(2):
        await make(api_db, cell.tenant_a, n)
    with pytest.raises(QuotaExceeded, match=f"the tenant has 2 {what}, and may have no more") as refused:
        await make(api_db, cell.tenant_a, 2)
    assert "remove one" in str(refused.value.hint)
    for n in range(3):
        await make(api_db, cell.tenant_b, n)
    await tenants.set_quota(operator, cell.tenant_a, what, 3)
    await make(api_db, cell.tenant_a, 2)


@pytest.mark.parametrize("what", ["endpoints", "schedules", "gates"])
async def test_makers_at_the_same_moment_do_not_pass_a_quota_together(
    cell: Cell, api_db: Database, operator: Database, what: str
) -> None:
    await tenants.set_quota(operator, cell.tenant_a, what, 3)
    made = await asyncio.gather(*(THINGS[what](api_db, cell.tenant_a, n) for n in range(8)), return_exceptions=True)
    assert sum(isinstance(one, QuotaExceeded) for one in made) == 5


async def test_quotas_are_data_with_a_usual_value(cell: Cell, api_db: Database, operator: Database) -> None:
    usual = {one.what: one.most for one in await tenants.list_quotas(operator, cell.tenant_a)}
    assert usual.keys() >= THINGS.keys()
    assert (usual["endpoints"], usual["schedules"]) == (100, 1000)
    await tenants.set_quota(operator, cell.tenant_a, "endpoints", 0)
    found = {one.what: (one.most, one.usual) for one in await tenants.list_quotas(operator, cell.tenant_a)}
    assert found["endpoints"] == (0, 100)
    with pytest.raises(QuotaExceeded):
        await endpoint(api_db, cell.tenant_a, 0)
    assert {one.what: one.most for one in await tenants.list_quotas(operator, cell.tenant_b)} == usual
    await tenants.set_quota(operator, cell.tenant_a, "endpoints", None)
    assert {one.what: one.most for one in await tenants.list_quotas(operator, cell.tenant_a)} == usual
    with pytest.raises(NotFound, match="there is no quota of 'llamas'"):
        await tenants.set_quota(operator, cell.tenant_a, "llamas", 1)
    with pytest.raises(BadInput, match="from 0"):
        await tenants.set_quota(operator, cell.tenant_a, "gates", -1)
    with pytest.raises(NotFound):
        await tenants.set_quota(operator, uuid4(), "gates", 1)
