"""Finish and claim in one call."""

import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.errors import WorkerLost
from leasehold.job import AttemptOutcome, State
from tests.cell import Cell
from tests.engine.test_life import end, enqueue, register


async def test_an_exchange_ends_what_ended_and_grants_what_fits(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    ids = await enqueue(worker_db, cell.tenant_a, 5)
    refused, first = await jobs.exchange(worker_db, worker, ["default"], 2, [])
    assert (refused, [grant.job_id for grant in first]) == (set(), ids[:2])

    done = [AttemptOutcome(token=grant.token, outcome="succeeded", result="1") for grant in first]
    refused, second = await jobs.exchange(worker_db, worker, ["default"], 10, done)
    assert (refused, [grant.job_id for grant in second]) == (set(), ids[2:])
    assert [(await jobs.get_job(worker_db, cell.tenant_a, job_id)).state for job_id in ids[:2]] == [State.SUCCEEDED] * 2


async def test_an_exchange_tells_which_tokens_it_refused_and_claims_all_the_same(
    cell: Cell, worker_db: Database
) -> None:
    worker = await register(worker_db)
    await enqueue(worker_db, cell.tenant_a, 3)
    [first, second] = await jobs.claim(worker_db, worker, ["default"], 2)
    await end(worker_db, first, "succeeded")
    done = [AttemptOutcome(token=grant.token, outcome="succeeded") for grant in (first, second)]
    refused, grants = await jobs.exchange(worker_db, worker, ["default"], 1, done)
    assert (refused, len(grants)) == ({first.token}, 1)


async def test_an_exchange_without_room_only_finishes(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    await enqueue(worker_db, cell.tenant_a, 2)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    assert await jobs.exchange(
        worker_db, worker, ["default"], 0, [AttemptOutcome(token=grant.token, outcome="failed")]
    ) == (
        set(),
        [],
    )


async def test_a_lost_worker_exchanges_nothing(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    await enqueue(worker_db, cell.tenant_a)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await cell.change("update leasehold.worker set ended_at = now()")
    with pytest.raises(WorkerLost):
        await jobs.exchange(worker_db, worker, ["default"], 1, [AttemptOutcome(token=grant.token, outcome="succeeded")])
    assert await jobs.list_leases(worker_db, worker) == {grant.token}, "all or nothing"
