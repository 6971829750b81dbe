"""Unique keys: of the jobs under one key at most one waits, and what becomes of it is said by whoever asks again."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from leasehold.database.database import Database, Role
from leasehold.engine import jobs
from leasehold.engine.maintenance import dispatch_due_jobs, purge
from leasehold.errors import BadInput, Conflict
from leasehold.job import ClaimedJob, Enqueued, State
from leasehold.json_codec import encode, plain_options
from tests.cell import Cell
from tests.engine.test_life import end, register
from tests.waiting import eventually


@pytest.fixture
async def worker(worker_db: Database) -> UUID:
    return await register(worker_db)


async def ask(db: Database, cell: Cell, payload: Any = 1, *, tenant: UUID | None = None, **options: Any) -> Enqueued:
    given = plain_options({"unique": "user-7"} | options)
    [made] = await jobs.enqueue(db, tenant or cell.tenant_a, "t.work", [encode(payload)], given)
    return made


async def somebody_waits(cell: Cell) -> None:
    waits = "select 1 from pg_locks where not granted and locktype = 'transactionid'"
    await eventually(lambda: cell.look(waits), what="somebody who waits for another transaction")


async def claim(db: Database, worker: UUID) -> list[ClaimedJob]:
    return await jobs.claim(db, worker, ["default"], 10)


async def test_one_that_waits_or_runs_is_kept(cell: Cell, worker_db: Database, worker: UUID) -> None:
    first = await ask(worker_db, cell)
    assert await ask(worker_db, cell, 2) == Enqueued(first.job_id, State.QUEUED, False)
    [grant] = await claim(worker_db, worker)
    assert grant.payload == "1"
    assert await ask(worker_db, cell, 3) == Enqueued(first.job_id, State.RUNNING, False)
    await end(worker_db, grant)
    second = await ask(worker_db, cell, 4)
    assert second.created
    assert second.job_id != first.job_id


async def test_tenants_kinds_and_keys_are_apart(cell: Cell, worker_db: Database) -> None:
    made = [
        await ask(worker_db, cell),
        await ask(worker_db, cell, tenant=cell.tenant_b),
        await ask(worker_db, cell, unique="user-8"),
        *(await jobs.enqueue(worker_db, cell.tenant_a, "t.other", ["1"], {"unique": "user-7"})),
    ]
    assert [one.created for one in made] == [True] * 4


async def test_the_payload_of_one_that_waits_is_replaced(cell: Cell, worker_db: Database, worker: UUID) -> None:
    large = "x" * 100_000
    first = await ask(worker_db, cell, on_duplicate="replace")
    for payload in (2, large, 3):
        assert not (await ask(worker_db, cell, payload, on_duplicate="replace")).created
    [grant] = await claim(worker_db, worker)
    assert (grant.job_id, grant.payload) == (first.job_id, "3")


async def test_one_that_runs_is_followed_by_one_that_waits_for_its_end(
    cell: Cell, worker_db: Database, worker: UUID
) -> None:
    first = await ask(worker_db, cell, on_duplicate="replace")
    [running] = await claim(worker_db, worker)
    second = await ask(worker_db, cell, 2, on_duplicate="replace")
    assert second.created
    assert await ask(worker_db, cell, 3, on_duplicate="replace") == Enqueued(second.job_id, State.BLOCKED, False)
    assert await claim(worker_db, worker) == []
    await end(worker_db, running)
    [grant] = await claim(worker_db, worker)
    assert (running.job_id, grant.job_id, grant.payload) == (first.job_id, second.job_id, "3")


async def test_a_burst_of_pushes_runs_once_when_it_is_over(cell: Cell, worker_db: Database, worker: UUID) -> None:
    first = await ask(worker_db, cell, on_duplicate="push", delay_s=30)
    for n in range(2, 5):
        await cell.pass_time(20)
        await dispatch_due_jobs(worker_db)
        assert await claim(worker_db, worker) == []
        assert (await ask(worker_db, cell, n, on_duplicate="push", delay_s=30)).job_id == first.job_id
    await cell.pass_time(31)
    await dispatch_due_jobs(worker_db)
    [grant] = await claim(worker_db, worker)
    assert (grant.job_id, grant.payload) == (first.job_id, "4")
    told = [event.type for event in await jobs.events_since(worker_db, cell.tenant_a, first.job_id, 0)]
    assert told == ["scheduled", "rescheduled", "rescheduled", "rescheduled", "started"]


async def test_one_that_is_due_is_pushed_too(cell: Cell, worker_db: Database, worker: UUID) -> None:
    first = await ask(worker_db, cell, on_duplicate="push")
    later = datetime.now(UTC) + timedelta(hours=1)
    assert await ask(worker_db, cell, on_duplicate="push", run_at=later) == Enqueued(
        first.job_id, State.SCHEDULED, False
    )
    assert await claim(worker_db, worker) == []
    assert (await jobs.get_job(worker_db, cell.tenant_a, first.job_id)).run_at == later


async def test_of_many_who_ask_at_once_one_makes_the_job(cell: Cell) -> None:
    async with cell.database(Role.WORKER, connections=8) as db:
        made = await asyncio.gather(*(ask(db, cell, n) for n in range(40)))
    assert sum(one.created for one in made) == 1
    assert len({one.job_id for one in made}) == 1


async def test_who_meets_an_open_transaction_waits_for_its_end(cell: Cell, worker_db: Database) -> None:
    async with worker_db.transaction(tenant=cell.tenant_a) as connection:
        [mine] = await jobs.enqueue(
            worker_db, cell.tenant_a, "t.work", ["1"], {"unique": "user-7"}, connection=connection
        )
        other = asyncio.create_task(ask(worker_db, cell))
        await somebody_waits(cell)
    assert await other == Enqueued(mine.job_id, State.QUEUED, False)


@pytest.mark.parametrize("policy", ["replace", "push"])
async def test_one_that_becomes_due_at_this_moment_is_no_reason_for_a_second(
    cell: Cell, worker_db: Database, worker: UUID, policy: str
) -> None:
    first = await ask(worker_db, cell, 1, on_duplicate=policy, delay_s=60)
    await cell.pass_time(61)
    async with worker_db.transaction() as moving:
        await worker_db.call("dispatch_due_jobs", 10, connection=moving)
        other = asyncio.create_task(ask(worker_db, cell, 2, on_duplicate=policy))
        await somebody_waits(cell)
    assert (await other).job_id == first.job_id
    await dispatch_due_jobs(worker_db)
    assert [(grant.job_id, grant.payload) for grant in await claim(worker_db, worker)] == [(first.job_id, "2")]


async def test_who_meets_a_claim_makes_one_that_follows(cell: Cell, worker_db: Database, worker: UUID) -> None:
    first = await ask(worker_db, cell, 1, on_duplicate="replace")
    async with worker_db.transaction() as claiming:
        [grant] = await worker_db.call("claim", worker, ["default"], 10, connection=claiming)
        other = asyncio.create_task(ask(worker_db, cell, 2, on_duplicate="replace"))
        await somebody_waits(cell)
    assert grant["job_id"] == first.job_id
    assert (await other).created
    assert await claim(worker_db, worker) == []


async def test_a_retry_takes_the_key_again_unless_another_has_it(cell: Cell, worker_db: Database, worker: UUID) -> None:
    first = await ask(worker_db, cell)
    await jobs.cancel(worker_db, cell.tenant_a, first.job_id)
    second = await ask(worker_db, cell)
    assert second.created
    with pytest.raises(Conflict, match="has the unique key"):
        await jobs.retry(worker_db, cell.tenant_a, first.job_id)
    await jobs.cancel(worker_db, cell.tenant_a, second.job_id)
    await jobs.retry(worker_db, cell.tenant_a, first.job_id)
    assert await ask(worker_db, cell) == Enqueued(first.job_id, State.SCHEDULED, False)


async def test_a_key_has_one_policy_while_its_job_runs(cell: Cell, worker_db: Database, worker: UUID) -> None:
    await ask(worker_db, cell)
    await claim(worker_db, worker)
    with pytest.raises(Conflict, match="policy keep"):
        await ask(worker_db, cell, on_duplicate="replace")


@pytest.mark.parametrize(
    "options",
    [{"unique": ""}, {"unique": 7}, {"on_duplicate": "drop"}, {"group": "g"}],
    ids=["empty", "number", "policy", "group"],
)
async def test_what_cannot_be_unique_is_refused(cell: Cell, worker_db: Database, options: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        await ask(worker_db, cell, **options)


async def test_a_key_is_forgotten_with_the_history_of_its_job(cell: Cell, worker_db: Database, worker: UUID) -> None:
    await ask(worker_db, cell)
    await ask(worker_db, cell, unique="waits")
    [grant] = [one for one in await claim(worker_db, worker) if one.payload == "1"][:1]
    await end(worker_db, grant)
    await cell.pass_time(100 * 86400)
    await purge(worker_db, history_days=90, result_days=7)
    assert [row["key"] for row in await cell.look("select key from leasehold.unique_job")] == ["waits"]
