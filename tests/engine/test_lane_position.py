"""A plain job that waits stands where it says itself, and is in no index of jobs. Whoever asks for it finds it, like
one that came back, and one that was enqueued before jobs said so."""

import asyncio
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs, maintenance
from leasehold.job import State
from tests.cell import Cell
from tests.engine.test_life import end, enqueue, register
from tests.waiting import eventually

#: How a job came to wait in ready, and whether its row is placed.
WAYS = {
    "plain": True,
    "one of many": True,
    "keyed": True,
    "expiring": True,
    "gated": False,
    "back": False,
    "old": False,
}
BEFORE_JOBS_SAID_SO = "update leasehold.ready set placed = false; update leasehold.job set pass = null"


async def waiting(cell: Cell, worker_db: Database, way: str) -> UUID:
    """A job that waits, beside others of its tenant and of another one."""
    await enqueue(worker_db, cell.tenant_b, 3)
    if way == "keyed":
        [made] = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ["{}"], {}, keys=["k"])
        job_id = made.job_id
    elif way == "one of many":
        [_, job_id, _] = await enqueue(worker_db, cell.tenant_a, 3)
    elif way == "expiring":
        [job_id] = await enqueue(worker_db, cell.tenant_a, expires_at="2999-01-01T00:00:00Z")
    elif way == "gated":
        [job_id] = await enqueue(worker_db, cell.tenant_a, gate="g")
    else:
        [job_id] = await enqueue(worker_db, cell.tenant_a)
    if way == "back":
        worker = await register(worker_db)
        for grant in await jobs.claim(worker_db, worker, ["default"], 10):
            await end(worker_db, grant, "lost")
    await enqueue(worker_db, cell.tenant_b, 3)
    if way == "old":
        await cell.change(BEFORE_JOBS_SAID_SO)
    [row] = await cell.look(f"select placed from leasehold.ready where job_id = '{job_id}'")
    assert row["placed"] is WAYS[way]
    return job_id


async def left(cell: Cell, job_id: UUID) -> int:
    return len(await cell.look(f"select from leasehold.ready where job_id = '{job_id}'"))


@pytest.mark.parametrize("way", WAYS)
async def test_it_is_seen(cell: Cell, worker_db: Database, api_db: Database, way: str) -> None:
    job_id = await waiting(cell, worker_db, way)
    job = await jobs.get_job(worker_db, cell.tenant_a, job_id)
    assert (job.state, job.attempt) == (State.QUEUED, 1 if way == "back" else 0)
    found = await jobs.list_jobs(worker_db, cell.tenant_a, {"state": "queued"})
    assert job_id in [job.job_id for job in found]
    assert "its turn" in [reason.reason for reason in await jobs.explain(worker_db, cell.tenant_a, job_id)]
    [state] = await cell.look(f"select leasehold.state_of('{job_id}') as state")
    assert state["state"] == "queued"
    async with api_db.transaction() as connection:
        [head] = await connection.fetch("select * from leasehold.job_heads($1)", [job_id])
    assert (head["job_id"], head["ended"]) == (job_id, False)


@pytest.mark.parametrize("way", WAYS)
async def test_it_is_canceled_and_retried(cell: Cell, worker_db: Database, way: str) -> None:
    job_id = await waiting(cell, worker_db, way)
    assert await jobs.cancel(worker_db, cell.tenant_a, job_id) == "canceled"
    assert await left(cell, job_id) == 0
    assert (await jobs.get_job(worker_db, cell.tenant_a, job_id)).state is State.CANCELED
    assert await jobs.retry(worker_db, cell.tenant_a, job_id) is State.SCHEDULED
    await cell.look("select leasehold.dispatch_due_jobs(100)")
    assert (await jobs.get_job(worker_db, cell.tenant_a, job_id)).state is State.QUEUED
    assert await jobs.cancel(worker_db, cell.tenant_a, job_id) == "canceled"


@pytest.mark.parametrize("way", WAYS)
async def test_it_is_put_off(cell: Cell, worker_db: Database, way: str) -> None:
    job_id = await waiting(cell, worker_db, way)
    job = await jobs.get_job(worker_db, cell.tenant_a, job_id)
    later = job.created_at + timedelta(days=1)
    assert await jobs.reschedule(worker_db, cell.tenant_a, job_id, later) is State.SCHEDULED
    assert await left(cell, job_id) == 0


@pytest.mark.parametrize("way", WAYS)
async def test_it_is_held_while_somebody_decides(cell: Cell, api_db: Database, worker_db: Database, way: str) -> None:
    job_id = await waiting(cell, worker_db, way)
    worker = await register(worker_db)
    async with api_db.transaction(tenant=cell.tenant_a) as connection:
        await connection.execute("select leasehold.lock_job($1)", job_id)
        assert job_id not in [grant.job_id for grant in await jobs.claim(worker_db, worker, ["default"], 10)]
    assert job_id in [grant.job_id for grant in await jobs.claim(worker_db, worker, ["default"], 10)]


@pytest.mark.parametrize("is_old", [False, True])
async def test_it_gets_another_payload_and_stays_where_it_is(cell: Cell, worker_db: Database, is_old: bool) -> None:
    options = {"unique": "u", "on_duplicate": "replace"}
    [first] = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ['{"n": 1}'], options)
    if is_old:
        await cell.change(BEFORE_JOBS_SAID_SO)
    [before] = await cell.look("select lane, pass, placed from leasehold.ready")
    [second] = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ['{"n": 2}'], options)
    assert first.job_id == second.job_id
    [after] = await cell.look("select lane, pass, placed, kind from leasehold.ready")
    assert after == before | {"kind": None}
    assert await jobs.cancel(worker_db, cell.tenant_a, first.job_id) == "canceled"


async def test_a_cancel_that_waited_for_another_payload_finds_the_job(
    cell: Cell, api_db: Database, worker_db: Database
) -> None:
    options = {"unique": "u", "on_duplicate": "replace"}
    [made] = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ['{"n": 1}'], options)

    async def is_held_up() -> bool:
        here = "select from pg_stat_activity a join pg_locks l using (pid) where a.datname = current_database()"
        return await cell.look(f"{here} and not l.granted") != []

    async with api_db.transaction(tenant=cell.tenant_a) as connection:
        await jobs.enqueue(api_db, cell.tenant_a, "t.work", ['{"n": 2}'], options, connection=connection)
        canceling = asyncio.create_task(jobs.cancel(worker_db, cell.tenant_a, made.job_id))
        await eventually(is_held_up, what="a cancel that waits")
    assert await canceling == "canceled"
    assert await left(cell, made.job_id) == 0


async def test_the_job_says_where_its_row_stands(cell: Cell, api_db: Database) -> None:
    for tenants in ([cell.tenant_a] * 3, [cell.tenant_a, cell.tenant_b, cell.tenant_a]):
        await jobs.enqueue(api_db, None, "t.work", ["{}"] * 3, {}, tenants=tenants)
    await enqueue(api_db, cell.tenant_a, priority=0)
    [row] = await cell.look(
        "select count(*) as n from leasehold.job j"
        " join leasehold.lane l on (l.queue, l.priority) = (j.queue, j.priority)"
        " join leasehold.ready r on (r.lane, r.pass, r.job_id) = (l.lane, j.pass, j.job_id) and r.placed"
    )
    assert row["n"] == 7


async def test_what_moves_is_no_longer_placed(cell: Cell, worker_db: Database) -> None:
    """A late job is moved up to the clock by the leader."""
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    await cell.change("select setval('leasehold.clock_2', 5000000)")
    await maintenance.advance_lane_floor(worker_db, [2], [0], [None])
    [row] = await cell.look(
        "select r.pass > j.pass as moved, placed from leasehold.ready r join leasehold.job j using (job_id)"
    )
    assert row == {"moved": True, "placed": False}
    assert await jobs.cancel(worker_db, cell.tenant_a, job_id) == "canceled"


async def test_no_job_comes_back_twice(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    await enqueue(worker_db, cell.tenant_a)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await end(worker_db, grant, "lost")
    with pytest.raises(asyncpg.UniqueViolationError, match="ready_job"):
        await cell.change(
            "insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events)"
            " select lane, pass + 1, job_id, tenant_id, attempt, max_attempts, events from leasehold.ready"
        )
