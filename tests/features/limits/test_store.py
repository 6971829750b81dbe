"""What a tenant may have: so many running, exactly; so many waiting, about."""

import asyncio
import random
from collections import Counter
from itertools import accumulate

import pytest

from leasehold.database.database import Database, Role
from leasehold.engine import jobs, maintenance, tenants
from leasehold.errors import BadInput, QuotaExceeded
from leasehold.job import AttemptOutcome, State
from tests.cell import Cell
from tests.engine.test_life import end, enqueue, register
from tests.waiting import PATIENCE_SECONDS


@pytest.fixture
async def limited(cell: Cell) -> Cell:
    """Tenant a may run three at once."""
    async with cell.database(Role.OPERATOR) as operator:
        await tenants.set_tenant(operator, cell.tenant_a, max_running=3)
    return cell


async def test_a_tenant_runs_no_more_than_it_may_while_others_go_on(limited: Cell, worker_db: Database) -> None:
    cell, worker = limited, await register(worker_db, slots=50, kinds={"t.work": {}})
    await enqueue(worker_db, cell.tenant_a, 10)
    await enqueue(worker_db, cell.tenant_b, 10)
    grants = await jobs.claim(worker_db, worker, ["default"], 20)
    mine = [grant for grant in grants if grant.tenant_id == cell.tenant_a]
    assert (len(mine), len(grants)) == (3, 13)
    waiting = await jobs.list_jobs(worker_db, cell.tenant_a, {"state": "queued"})
    assert len(waiting) == 7
    [reason] = await jobs.explain(worker_db, cell.tenant_a, waiting[0].job_id)
    assert reason.reason == "running limit"

    await end(worker_db, mine[0], "succeeded")
    again = await jobs.claim(worker_db, worker, ["default"], 20)
    assert [grant.tenant_id for grant in again] == [cell.tenant_a], "one ended, one starts"


async def test_parked_jobs_start_in_the_order_they_came(limited: Cell, worker_db: Database) -> None:
    cell, worker = limited, await register(worker_db, slots=50)
    ids = await enqueue(worker_db, cell.tenant_a, 12)
    order = []
    while grants := await jobs.claim(worker_db, worker, ["default"], 5):
        order += [grant.job_id for grant in grants]
        for grant in grants:
            await end(worker_db, grant, "succeeded")
    assert order == ids


async def test_a_parked_job_can_be_canceled_and_rescheduled(limited: Cell, worker_db: Database) -> None:
    cell, worker = limited, await register(worker_db, slots=50)
    ids = await enqueue(worker_db, cell.tenant_a, 5)
    await jobs.claim(worker_db, worker, ["default"], 5)
    assert await jobs.cancel(worker_db, cell.tenant_a, ids[3]) == "canceled"
    assert (await jobs.get_job(worker_db, cell.tenant_a, ids[4])).state is State.QUEUED
    assert len(await cell.look("select * from leasehold.parked")) == 1


async def test_upkeep_brings_back_what_a_missed_bell_left(limited: Cell, worker_db: Database) -> None:
    cell, worker = limited, await register(worker_db, slots=50)
    await enqueue(worker_db, cell.tenant_a, 5)
    await jobs.claim(worker_db, worker, ["default"], 5)
    await cell.change("delete from leasehold.lease")  # as if the three had ended and their bells had been missed
    assert await maintenance.unpark(worker_db) == 2
    assert len(await jobs.claim(worker_db, worker, ["default"], 5)) == 2


@pytest.mark.parametrize("seed", range(4))
async def test_the_limit_is_exact_with_many_claimers(limited: Cell, seed: int) -> None:
    cell, dice = limited, random.Random(seed)
    async with cell.database(Role.WORKER, connections=10) as db:
        worker = await register(db, slots=100)
        await enqueue(db, cell.tenant_a, 60)
        done, most = 0, 0

        async def work() -> None:
            nonlocal done, most
            while done < 60:
                grants = await jobs.claim(db, worker, ["default"], dice.choice((1, 2, 10)))
                most = max(most, len(await jobs.list_jobs(db, cell.tenant_a, {"state": "running"})))
                ended = [await end(db, grant, "succeeded") for grant in grants]
                done += sum(ended)
                if not grants:
                    await maintenance.unpark(db)

        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.gather(*(work() for _ in range(6)))
    assert done == 60
    assert 0 < most <= 3


@pytest.mark.parametrize("seed", range(3))
async def test_many_exchanges_at_once_pass_no_limit_at_any_instant_and_never_deadlock(cell: Cell, seed: int) -> None:
    """Several tenants in every batch, some of them parked: locks are waited for and tried in the same transactions."""
    print("seed", seed)
    dice, limits = random.Random(seed), {cell.tenant_a: 3, cell.tenant_b: 7}
    async with cell.database(Role.OPERATOR) as operator:
        for tenant, limit in limits.items():
            await tenants.set_tenant(operator, tenant, max_running=limit)
    async with cell.database(Role.WORKER, connections=10) as db:
        worker = await register(db, slots=100)
        for tenant in limits:
            await enqueue(db, tenant, 150)

        async def work() -> None:
            ended: list[AttemptOutcome] = []
            idle = 0
            while ended or idle < 20:
                refused, grants = await jobs.exchange(db, worker, ["default"], dice.choice((1, 4, 20)), ended)
                assert not refused
                ended = [AttemptOutcome(token=grant.token, outcome="succeeded") for grant in grants]
                idle = 0 if grants else idle + 1
                await asyncio.sleep(dice.choice((0, 0.002)))  # an attempt takes its time

        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.gather(*(work() for _ in range(8)))
    rows = await cell.look("select tenant_id, started_at, finished_at from leasehold.attempt")
    assert len(rows) == 300
    for tenant, limit in limits.items():
        own = [row for row in rows if row["tenant_id"] == str(tenant)]
        moments = sorted([(row["started_at"], 1) for row in own] + [(row["finished_at"], -1) for row in own])
        assert 0 < max(accumulate(step for _, step in moments)) <= limit


async def test_a_tenant_over_its_quota_is_refused_until_it_is_below(cell: Cell, worker_db: Database) -> None:
    async with cell.database(Role.OPERATOR) as operator:
        await tenants.set_tenant(operator, cell.tenant_a, max_queued=10)
        worker = await register(worker_db)
        await enqueue(worker_db, cell.tenant_a, 11)
        assert await maintenance.refresh_waiting_counts(worker_db) == 1
        with pytest.raises(QuotaExceeded, match="11 jobs waiting, its quota is 10"):
            await enqueue(worker_db, cell.tenant_a)
        await enqueue(worker_db, cell.tenant_b, 11)
        await jobs.claim(worker_db, worker, ["default"], 22)
        assert await maintenance.refresh_waiting_counts(worker_db) == 0
        await enqueue(worker_db, cell.tenant_a)
        with pytest.raises(BadInput):
            await tenants.set_tenant(operator, cell.tenant_a, weight=0)


async def test_weights_share_the_lane_in_proportion(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    async with cell.database(Role.OPERATOR) as operator:
        await tenants.set_tenant(operator, cell.tenant_a, weight=4)
    await enqueue(worker_db, cell.tenant_a, 500)
    await enqueue(worker_db, cell.tenant_b, 500)
    grants = [grant for _ in range(10) for grant in await jobs.claim(worker_db, worker, ["default"], 25)]
    assert sum(grant.tenant_id == cell.tenant_a for grant in grants) == 200


async def test_weights_one_two_four_give_their_shares_within_a_tenth(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    async with cell.database(Role.OPERATOR) as operator:
        weights = {await tenants.create_tenant(operator, f"w{weight}"): weight for weight in (1, 2, 4)}
        for tenant, weight in weights.items():
            await tenants.set_tenant(operator, tenant, weight=weight)
    for tenant in weights:
        await enqueue(worker_db, tenant, 1000)
    served = Counter(
        [grant.tenant_id for _ in range(14) for grant in await jobs.claim(worker_db, worker, ["default"], 50)]
    )
    assert all(abs(served[tenant] - weight * 100) <= weight * 10 for tenant, weight in weights.items()), served


@pytest.mark.long
async def test_small_tenants_start_within_ten_claims_whatever_a_large_one_has_queued(
    cell: Cell, worker_db: Database
) -> None:
    worker = await register(worker_db)
    for _ in range(20):
        await enqueue(worker_db, cell.tenant_a, 10_000)
    await jobs.claim(worker_db, worker, ["default"], 100)
    async with cell.database(Role.OPERATOR) as operator:
        small = [await tenants.create_tenant(operator, f"small-{n}") for n in range(19)]
    for tenant in small:
        await enqueue(worker_db, tenant, 10)
    started = Counter(
        [grant.tenant_id for _ in range(10) for grant in await jobs.claim(worker_db, worker, ["default"], 100)]
    )
    assert [started[tenant] for tenant in small] == [10] * 19
