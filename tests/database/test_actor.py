"""Calls in the name of an actor: one transaction for many calls, or one for each."""

import json
from uuid import uuid4

import pytest

from leasehold.database.actor import ActorDatabase, ActorTransaction
from leasehold.database.database import Role
from leasehold.engine import jobs
from leasehold.engine.audit import list_audit, log_own_action
from tests.cell import Cell

ACTORS = [
    "person:ada",
    "cli:o'brien",
    "back\\slash\\",
    "quote\\' or 1=1; --",
    "key:ünïcode ✓",
    "a\nb",
    "",
]


@pytest.mark.parametrize("actor", ACTORS)
async def test_the_actor_arrives_as_it_is_written(cell: Cell, actor: str) -> None:
    async with (
        cell.database(Role.API) as db,
        ActorTransaction.open(db, tenant=cell.tenant_a, actor=actor) as tx,
    ):
        assert await tx.connection.fetchval("select current_setting('leasehold.actor')") == actor
        tenant = await tx.connection.fetchval("select current_setting('leasehold.tenant')")
        assert tenant == str(cell.tenant_a)


async def test_the_actor_of_a_transaction_is_forgotten_at_its_end(cell: Cell) -> None:
    async with cell.database(Role.API, connections=1) as db:
        async with ActorTransaction.open(db, tenant=cell.tenant_a, actor="person:ada"):
            pass
        async with db.transaction() as connection:
            found = await connection.fetchval("select current_setting('leasehold.actor', true)")
    assert not found


async def test_an_error_undoes_every_call_of_a_transaction(cell: Cell) -> None:
    async with cell.database(Role.API) as db:
        with pytest.raises(ZeroDivisionError):
            async with ActorTransaction.open(db, tenant=cell.tenant_a, actor="person:ada") as tx:
                await jobs.enqueue(tx, cell.tenant_a, "demo.sleep", ["{}"], {})
                raise ZeroDivisionError
        assert await jobs.list_jobs(db, cell.tenant_a, {}, before=None, limit=5) == []


async def test_a_transaction_calls_nothing_for_another_tenant(cell: Cell) -> None:
    async with (
        cell.database(Role.API) as db,
        ActorTransaction.open(db, tenant=cell.tenant_a, actor="person:ada") as tx,
    ):
        for tenant in (cell.tenant_b, uuid4()):
            with pytest.raises(RuntimeError, match="for others"):
                await jobs.enqueue(tx, tenant, "demo.sleep", ["{}"], {})


@pytest.mark.parametrize("in_one", [True, False])
async def test_the_audit_log_names_the_actor(cell: Cell, in_one: bool) -> None:
    async with cell.database(Role.API) as db:
        if in_one:
            async with ActorTransaction.open(db, tenant=cell.tenant_a, actor="cli:o'brien") as tx:
                await log_own_action(tx, cell.tenant_a, "notes.write", "first", {"words": 3})
        else:
            acting = ActorDatabase(db, "cli:o'brien")
            await log_own_action(acting, cell.tenant_a, "notes.write", "first", {"words": 3})
        [entry] = await list_audit(db, cell.tenant_a, before=None, limit=5)
    assert (entry.actor, entry.action, entry.target) == ("cli:o'brien", "notes.write", "first")
    assert json.dumps(entry.detail) == '{"words": 3}'
