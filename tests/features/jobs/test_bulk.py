"""What a person does to a job: cancel, retry, reschedule, extend; and why a job waits."""

import asyncio
import random
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from leasehold.database.database import Database, Role
from leasehold.engine import jobs, leases, maintenance
from leasehold.errors import BadInput, Conflict, LeaseLost, NotFound
from leasehold.features.limits import store as limits_store
from leasehold.job import State
from tests.cell import Cell
from tests.engine.test_life import end, enqueue, register


async def state(db: Database, cell: Cell, job_id: UUID) -> State:
    return (await jobs.get_job(db, cell.tenant_a, job_id)).state


async def types(db: Database, cell: Cell, job_id: UUID) -> list[str]:
    events = await jobs.events_since(db, cell.tenant_a, job_id)
    assert [event.seq for event in events] == list(range(1, len(events) + 1)), "numbered without a gap"
    return [event.type for event in events]


# -- cancel ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"delay_s": 60}])
async def test_a_waiting_job_is_canceled_at_once_and_never_starts(
    cell: Cell, worker_db: Database, options: dict[str, Any]
) -> None:
    worker = await register(worker_db)
    [job_id] = await enqueue(worker_db, cell.tenant_a, **options)
    assert await jobs.cancel(worker_db, cell.tenant_a, job_id, "not wanted") == "canceled"
    job = await jobs.get_job(worker_db, cell.tenant_a, job_id)
    assert (job.state, job.error and job.error["message"]) == (State.CANCELED, "not wanted")
    await cell.pass_time(61)
    await maintenance.dispatch_due_jobs(worker_db)
    assert await jobs.claim(worker_db, worker, ["default"], 1) == []
    assert (await types(worker_db, cell, job_id))[-1] == "canceled"


async def test_a_running_job_is_asked_to_stop(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    assert await jobs.cancel(worker_db, cell.tenant_a, job_id) == "requested"
    assert (await jobs.get_job(worker_db, cell.tenant_a, job_id)).cancel_requested
    assert await leases.heartbeat(worker_db, worker) == {grant.token}
    await end(worker_db, grant, "errored")
    assert await state(worker_db, cell, job_id) is State.CANCELED, "no retry once a cancel was asked for"


async def test_a_running_job_may_still_succeed_after_a_cancel_was_asked_for(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await jobs.cancel(worker_db, cell.tenant_a, job_id)
    await end(worker_db, grant, "succeeded")
    assert await state(worker_db, cell, job_id) is State.SUCCEEDED
    assert await jobs.cancel(worker_db, cell.tenant_a, job_id) == "succeeded"


async def test_a_lost_attempt_of_a_job_to_be_canceled_ends_it(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db, lease_s=1.0)
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    await jobs.claim(worker_db, worker, ["default"], 1)
    await jobs.cancel(worker_db, cell.tenant_a, job_id)
    await cell.pass_time(2)
    await maintenance.rescue_silent_workers(worker_db)
    assert await state(worker_db, cell, job_id) is State.CANCELED


async def test_another_tenants_job_cannot_be_acted_on(cell: Cell, api_db: Database) -> None:
    [job_id] = await enqueue(api_db, cell.tenant_a)
    for act in (jobs.cancel, jobs.retry, jobs.explain, jobs.get_job):
        with pytest.raises(NotFound):
            await act(api_db, cell.tenant_b, job_id)
    with pytest.raises(NotFound):
        await jobs.reschedule(api_db, cell.tenant_b, job_id, datetime.now(UTC))
    assert await state(api_db, cell, job_id) is State.QUEUED


@pytest.mark.parametrize("seed", range(5))
async def test_cancel_races_claim_finish_and_retry_with_one_winner(cell: Cell, seed: int) -> None:
    dice = random.Random(seed)
    async with cell.database(Role.WORKER, connections=8) as db:
        worker = await register(db, slots=1000)
        ids = await enqueue(db, cell.tenant_a, 100, max_attempts=2, retry_base_s=0.001)
        canceled: set[UUID] = set()
        started_after_cancel = 0

        async def work() -> None:
            nonlocal started_after_cancel
            while True:
                await maintenance.dispatch_due_jobs(db)
                grants = await jobs.claim(db, worker, ["default"], dice.choice((1, 5)))
                started_after_cancel += sum(grant.job_id in canceled for grant in grants)
                for grant in grants:
                    await end(db, grant, dice.choice(("succeeded", "errored", "released")))
                rows = await cell.look("select count(*) as n from leasehold.outcome")
                if rows[0]["n"] == len(ids):
                    return

        async def cancel() -> None:
            for job_id in dice.sample(ids, 60):
                if await jobs.cancel(db, cell.tenant_a, job_id) == "canceled":
                    canceled.add(job_id)

        await asyncio.gather(work(), work(), cancel())
        assert started_after_cancel == 0
        found = await cell.look("select job_id, state from leasehold.outcome")
        assert {UUID(row["job_id"]) for row in found} == set(ids)
        assert canceled <= {UUID(row["job_id"]) for row in found if row["state"] == "canceled"}
        for table in ("ready", "lease", "deferred", "parked"):
            assert await cell.look(f"select * from leasehold.{table}") == []


# -- retry, reschedule, extend --------------------------------------------------------------------------------------


async def test_an_explicit_retry_gives_a_new_budget_and_is_logged(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    [job_id] = await enqueue(worker_db, cell.tenant_a, max_attempts=1)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await end(worker_db, grant, "errored")
    assert await state(worker_db, cell, job_id) is State.DEAD

    assert await jobs.retry(worker_db, cell.tenant_a, job_id) is State.SCHEDULED
    await maintenance.dispatch_due_jobs(worker_db)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    assert (grant.attempt, grant.max_attempts) == (2, 2)
    await end(worker_db, grant, "succeeded")
    assert await types(worker_db, cell, job_id) == ["queued", "started", "errored", "retried", "started", "succeeded"]
    [entry] = await cell.look("select actor, action, target from leasehold.audit where action = 'job.retry'")
    assert entry == {"actor": "leasehold_worker", "action": "job.retry", "target": str(job_id)}


async def test_a_canceled_job_that_is_retried_keeps_its_story(cell: Cell, worker_db: Database) -> None:
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    await jobs.cancel(worker_db, cell.tenant_a, job_id)
    await jobs.retry(worker_db, cell.tenant_a, job_id)
    assert await types(worker_db, cell, job_id) == ["queued", "canceled", "retried"]


@pytest.mark.parametrize("ended", [None, "succeeded"])
async def test_only_jobs_that_failed_can_be_retried(cell: Cell, worker_db: Database, ended: str | None) -> None:
    worker = await register(worker_db)
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    if ended:
        [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
        await end(worker_db, grant, ended)
    with pytest.raises(Conflict, match="only failed, dead and canceled"):
        await jobs.retry(worker_db, cell.tenant_a, job_id)


async def test_a_waiting_job_can_be_moved_to_another_time(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    await jobs.reschedule(worker_db, cell.tenant_a, job_id, datetime.now(UTC) + timedelta(hours=1))
    assert await jobs.claim(worker_db, worker, ["default"], 1) == []
    await cell.pass_time(3601)
    await maintenance.dispatch_due_jobs(worker_db)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    with pytest.raises(Conflict, match="is running"):
        await jobs.reschedule(worker_db, cell.tenant_a, job_id, datetime.now(UTC))
    await end(worker_db, grant, "failed")
    await jobs.reschedule(worker_db, cell.tenant_a, job_id, datetime.now(UTC) + timedelta(hours=9))
    assert await state(worker_db, cell, job_id) is State.SCHEDULED
    with pytest.raises(BadInput):
        await jobs.reschedule(worker_db, cell.tenant_a, job_id, datetime.now(UTC) + timedelta(days=9999))


async def test_a_running_attempt_can_be_extended_until_its_lease_is_gone(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db, lease_s=100000.0)
    await enqueue(worker_db, cell.tenant_a, timeout_s=10)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await jobs.extend(worker_db, grant.token, 1000)
    await cell.pass_time(500)
    assert await maintenance.rescue_orphaned_leases(worker_db) == 0
    await cell.pass_time(531)
    with pytest.raises(LeaseLost):
        await jobs.extend(worker_db, grant.token, 1000)
    with pytest.raises(BadInput):
        await jobs.extend(worker_db, grant.token, 1e9)


async def test_a_job_not_started_before_it_expires_is_canceled_and_not_run(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    soon = (datetime.now(UTC) + timedelta(seconds=60)).isoformat()
    [late] = await enqueue(worker_db, cell.tenant_a, expires_at=soon)
    [fine] = await enqueue(worker_db, cell.tenant_a)
    await cell.pass_time(61)
    assert (await jobs.explain(worker_db, cell.tenant_a, late))[0].reason == "expired"
    assert [grant.job_id for grant in await jobs.claim(worker_db, worker, ["default"], 10)] == [fine]
    job = await jobs.get_job(worker_db, cell.tenant_a, late)
    assert (job.state, job.error and job.error["type"]) == (State.CANCELED, "Expired")


# -- why is it not running? -----------------------------------------------------------------------------------------


async def test_explain_names_every_reason(cell: Cell, worker_db: Database) -> None:
    async def reasons(job_id: UUID) -> list[str]:
        return [reason.reason for reason in await jobs.explain(worker_db, cell.tenant_a, job_id)]

    [first, second, later] = [
        *await enqueue(worker_db, cell.tenant_a, 2),
        *await enqueue(worker_db, cell.tenant_a, delay_s=60),
    ]
    assert await reasons(first) == ["no worker", "its turn"]
    worker = await register(worker_db, kinds={"t.work": {}})
    assert await reasons(later) == ["run_at"]
    [turn] = await jobs.explain(worker_db, cell.tenant_a, second)
    assert turn.detail.startswith("1 jobs of this tenant stand before it")
    async with cell.database(Role.OPERATOR) as operator:
        await limits_store.pause_queue(operator, "default", paused=True)
        assert await reasons(first) == ["paused", "its turn"]
        await limits_store.pause_queue(operator, "default", paused=False)
    [grant, _] = await jobs.claim(worker_db, worker, ["default"], 2)
    assert await reasons(grant.job_id) == []
