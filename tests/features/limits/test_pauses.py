"""Limits of queues and kinds, and tenants and kinds that are paused."""

import asyncio
import random
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from leasehold.database.database import Database, Role
from leasehold.engine import jobs, maintenance
from leasehold.errors import BadInput, NotFound
from leasehold.features.limits import store as limits_store
from leasehold.job import ClaimedJob, Limit, State
from tests.cell import Cell
from tests.engine.test_life import end, register


@pytest.fixture
async def operator(cell: Cell) -> AsyncIterator[Database]:
    async with cell.database(Role.OPERATOR) as db:
        yield db


@pytest.fixture
async def worker(worker_db: Database) -> UUID:
    return await register(worker_db, slots=50, kinds={"t.work": {}, "t.other": {}}, queues=["default", "mail"])


async def ask(db: Database, tenant: UUID, count: int, kind: str = "t.work", **options: object) -> list[UUID]:
    return [made.job_id for made in await jobs.enqueue(db, tenant, kind, ["{}"] * count, options)]


async def claim(db: Database, worker: UUID, n: int = 20) -> list[ClaimedJob]:
    await maintenance.unpark(db)
    return await jobs.claim(db, worker, ["default", "mail"], n)


async def test_a_queue_runs_no_more_than_it_may_while_others_go_on(
    cell: Cell, worker_db: Database, operator: Database, worker: UUID
) -> None:
    await limits_store.limit_queue(operator, "mail", 2)
    waiting = await ask(worker_db, cell.tenant_a, 5, queue="mail")
    await ask(worker_db, cell.tenant_b, 5)
    first = await claim(worker_db, worker)
    assert sorted(grant.queue for grant in first) == ["default"] * 5 + ["mail"] * 2
    assert await claim(worker_db, worker) == []
    [reason, *_] = await jobs.explain(worker_db, cell.tenant_a, waiting[-1])
    assert reason.detail == "as many jobs of queue mail run as may (2)"
    await end(worker_db, next(grant for grant in first if grant.queue == "mail"))
    assert [grant.job_id for grant in await claim(worker_db, worker)] == [waiting[2]]
    await limits_store.limit_queue(operator, "mail", None)
    assert len(await claim(worker_db, worker)) == 2


async def test_a_kind_runs_no_more_than_it_may_while_others_go_on(
    cell: Cell, worker_db: Database, operator: Database, worker: UUID
) -> None:
    await limits_store.limit_kind(operator, "t.work", 2)
    mine = await ask(worker_db, cell.tenant_a, 4)
    await ask(worker_db, cell.tenant_b, 4)
    await ask(worker_db, cell.tenant_a, 5, "t.other")
    first = await claim(worker_db, worker)
    assert sorted(grant.kind for grant in first) == ["t.other"] * 5 + ["t.work"] * 2
    [reason, *_] = await jobs.explain(worker_db, cell.tenant_a, mine[-1])
    assert reason.detail == "as many jobs of kind t.work run as may (2)"
    assert (await jobs.get_job(worker_db, cell.tenant_a, mine[-1])).state is State.QUEUED
    assert await jobs.cancel(worker_db, cell.tenant_a, mine[-1]) == "canceled"
    for left in (5, 4):
        await end(worker_db, next(grant for grant in first if grant.kind == "t.work"))
        first = await claim(worker_db, worker)
        assert len(first) == 1, f"{left} wait, one has ended"
    await limits_store.limit_kind(operator, "t.work", None)
    assert len(await claim(worker_db, worker)) == 3


async def test_a_kind_that_is_paused_starts_nothing_until_it_goes_on(
    cell: Cell, worker_db: Database, operator: Database, worker: UUID
) -> None:
    await limits_store.pause_kind(operator, "t.work", paused=True)
    mine = await ask(worker_db, cell.tenant_a, 12)
    assert await claim(worker_db, worker) == []
    [reason, *_] = await jobs.explain(worker_db, cell.tenant_a, mine[0])
    assert (reason.reason, reason.detail) == ("paused", "kind t.work is paused")
    await limits_store.pause_kind(operator, "t.work", paused=False)
    assert [grant.job_id for grant in await claim(worker_db, worker)] == mine


async def test_a_tenant_that_is_paused_starts_nothing_and_may_go_on_asking(
    cell: Cell, worker_db: Database, operator: Database, worker: UUID
) -> None:
    await limits_store.pause_tenant(operator, cell.tenant_a, paused=True)
    mine = await ask(worker_db, cell.tenant_a, 3)
    others = await ask(worker_db, cell.tenant_b, 3)
    assert [grant.job_id for grant in await claim(worker_db, worker)] == others
    [reason, *_] = await jobs.explain(worker_db, cell.tenant_a, mine[0])
    assert (reason.reason, reason.detail) == ("paused", "the tenant is paused")
    assert await limits_store.list_limits(operator) == [
        Limit(what="tenant", name="a", max_running=1500, paused=True, running=0)
    ]
    await limits_store.pause_tenant(operator, cell.tenant_a, paused=False)
    assert [grant.job_id for grant in await claim(worker_db, worker)] == mine


@pytest.mark.parametrize("what", ["queue", "kind"])
async def test_the_limit_is_exact_with_many_claimers(cell: Cell, operator: Database, what: str) -> None:
    dice = random.Random(what)
    if what == "queue":
        await limits_store.limit_queue(operator, "default", 3)
    async with cell.database(Role.WORKER, connections=8) as db:
        worker = await register(db, slots=100, kinds={"t.work": {}})
        if what == "kind":
            await limits_store.limit_kind(operator, "t.work", 3)
        await ask(db, cell.tenant_a, 30)
        await ask(db, cell.tenant_b, 30)
        done = 0

        async def work() -> None:
            nonlocal done
            while done < 60:
                for grant in await claim(db, worker, dice.choice((1, 4))):
                    await end(db, grant)
                    done += 1

        await asyncio.gather(*(work() for _ in range(6)))
    spans = await cell.look(
        """select max(n) as most from (
             select (select count(*) from leasehold.attempt b
                     where b.started_at <= a.started_at and b.finished_at > a.started_at) as n
             from leasehold.attempt a) x"""
    )
    assert spans[0]["most"] <= 3
    assert await cell.look("select job_id from leasehold.parked union all select job_id from leasehold.ready") == []


async def test_what_cannot_be_limited_is_refused(cell: Cell, operator: Database, worker: UUID) -> None:
    with pytest.raises(BadInput, match="between 1 and"):
        await limits_store.limit_queue(operator, "default", 0)
    with pytest.raises(BadInput, match="between 1 and"):
        await limits_store.limit_kind(operator, "t.work", 0)
    for refused in (
        limits_store.limit_queue(operator, "nowhere", 1),
        limits_store.limit_kind(operator, "t.unknown", 1),
        limits_store.pause_kind(operator, "t.unknown", paused=True),
        limits_store.pause_tenant(operator, UUID(int=0), paused=True),
    ):
        with pytest.raises(NotFound):
            await refused
