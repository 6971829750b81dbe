"""Groups: so many at once, in the order in which they were asked for."""

from uuid import UUID

import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.engine.maintenance import dispatch_due_jobs
from leasehold.errors import BadInput
from leasehold.job import ClaimedJob, State
from tests.cell import Cell
from tests.engine.test_life import end, register


@pytest.fixture
async def worker(worker_db: Database) -> UUID:
    return await register(worker_db)


async def ask(db: Database, cell: Cell, count: int = 1, group: str = "g", **options: object) -> list[UUID]:
    made = await jobs.enqueue(db, cell.tenant_a, "t.work", ["{}"] * count, {"group": group} | options)
    return [job.job_id for job in made]


async def claim(db: Database, worker: UUID, n: int = 10) -> list[ClaimedJob]:
    return await jobs.claim(db, worker, ["default"], n)


def ids(grants: list[ClaimedJob]) -> list[UUID]:
    return [grant.job_id for grant in grants]


async def state(db: Database, cell: Cell, job: UUID) -> State:
    return (await jobs.get_job(db, cell.tenant_a, job)).state


async def test_one_at_a_time_in_order(cell: Cell, worker_db: Database, worker: UUID) -> None:
    asked = await ask(worker_db, cell, 3) + await ask(worker_db, cell, 2)
    started = []
    for _ in asked:
        [grant] = await claim(worker_db, worker)
        started.append(grant.job_id)
        assert await claim(worker_db, worker) == []
        await end(worker_db, grant)
    assert started == asked
    assert await claim(worker_db, worker) == []
    assert await cell.look("select job_id from leasehold.place union all select job_id from leasehold.blocked") == []


async def test_so_many_at_once(cell: Cell, worker_db: Database, worker: UUID) -> None:
    asked = await ask(worker_db, cell, 5, group_limit=3)
    first = await claim(worker_db, worker)
    assert ids(first) == asked[:3]
    await end(worker_db, first[1])
    assert ids(await claim(worker_db, worker)) == [asked[3]]


async def test_groups_and_other_jobs_do_not_wait_for_each_other(cell: Cell, worker_db: Database, worker: UUID) -> None:
    one = await ask(worker_db, cell, 2, "one")
    two = await ask(worker_db, cell, 2, "two")
    [free] = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ["{}"], {})
    theirs = await jobs.enqueue(worker_db, cell.tenant_b, "t.work", ["{}"], {"group": "one"})
    assert set(ids(await claim(worker_db, worker))) == {one[0], two[0], free.job_id, theirs[0].job_id}


async def test_a_tenant_does_not_wait_behind_anothers_groups(cell: Cell, worker_db: Database, worker: UUID) -> None:
    """Whoever gives a place back rings for the next; that one waits for its own turn, as if it had no group."""
    for number in range(400):
        await ask(worker_db, cell, 1, f"g{number % 40}")
    await jobs.enqueue(worker_db, cell.tenant_b, "t.work", ["{}"] * 200, {})
    shares: list[int] = []
    while sum(shares) < 200:
        grants = await claim(worker_db, worker, 20)
        shares.append(sum(grant.tenant_id == cell.tenant_b for grant in grants))
        for grant in grants:
            await end(worker_db, grant)
    assert shares == [10] * 20


async def test_a_job_keeps_its_place_between_its_attempts(cell: Cell, worker_db: Database, worker: UUID) -> None:
    first, second = await ask(worker_db, cell, 2)
    [grant] = await claim(worker_db, worker)
    await end(worker_db, grant, "errored")
    assert await claim(worker_db, worker) == []
    await cell.pass_time(10)
    await dispatch_due_jobs(worker_db)
    [again] = await claim(worker_db, worker)
    assert (again.job_id, again.attempt) == (first, 2)
    await end(worker_db, again)
    assert ids(await claim(worker_db, worker)) == [second]


@pytest.mark.parametrize("outcome", ["failed", "errored", "lost"])
async def test_a_job_that_is_dead_or_failed_lets_the_next_one_go(
    cell: Cell, worker_db: Database, worker: UUID, outcome: str
) -> None:
    _, second = await ask(worker_db, cell, 2, max_attempts=1)
    await end(worker_db, (await claim(worker_db, worker))[0], outcome)
    assert ids(await claim(worker_db, worker)) == [second]


async def test_a_group_that_holds_waits_for_a_person(cell: Cell, worker_db: Database, worker: UUID) -> None:
    first, second = await ask(worker_db, cell, 2, group_hold=True)
    await end(worker_db, (await claim(worker_db, worker))[0], "failed")
    assert await claim(worker_db, worker) == []
    assert [one.reason for one in await jobs.explain(worker_db, cell.tenant_a, second)][-1] == "group"
    await jobs.retry(worker_db, cell.tenant_a, first, None)
    await dispatch_due_jobs(worker_db)
    [again] = await claim(worker_db, worker)
    assert again.job_id == first
    await end(worker_db, again)
    assert ids(await claim(worker_db, worker)) == [second]


async def test_one_that_is_canceled_is_passed_over_and_one_that_ran_makes_room(
    cell: Cell, worker_db: Database, worker: UUID
) -> None:
    first, second, third, fourth = await ask(worker_db, cell, 4)
    assert await jobs.cancel(worker_db, cell.tenant_a, second, None) == "canceled"
    [grant] = await claim(worker_db, worker)
    await end(worker_db, grant, "snoozed", delay_s=1000)
    assert await claim(worker_db, worker) == []
    assert await jobs.cancel(worker_db, cell.tenant_a, first, None) == "canceled"
    [grant] = await claim(worker_db, worker)
    assert grant.job_id == third
    await end(worker_db, grant)
    assert ids(await claim(worker_db, worker)) == [fourth]


async def test_one_moved_to_later_lets_the_others_go_and_lines_up_again(
    cell: Cell, worker_db: Database, worker: UUID
) -> None:
    first, second, third = await ask(worker_db, cell, 3)
    await jobs.reschedule(worker_db, cell.tenant_a, first, (await worker_db.value("now")).replace(year=2035))
    [grant] = await claim(worker_db, worker)
    assert grant.job_id == second
    await cell.pass_time(10 * 366 * 86400)
    await dispatch_due_jobs(worker_db)
    assert await state(worker_db, cell, first) is State.BLOCKED
    await end(worker_db, grant)
    [grant] = await claim(worker_db, worker)
    assert grant.job_id == third
    await end(worker_db, grant)
    assert ids(await claim(worker_db, worker)) == [first]


async def test_a_delayed_job_lines_up_when_its_time_has_come(cell: Cell, worker_db: Database, worker: UUID) -> None:
    [later] = await ask(worker_db, cell, delay_s=60)
    [now] = await ask(worker_db, cell)
    [grant] = await claim(worker_db, worker)
    assert grant.job_id == now
    await cell.pass_time(61)
    await dispatch_due_jobs(worker_db)
    assert await claim(worker_db, worker) == []
    await end(worker_db, grant)
    assert ids(await claim(worker_db, worker)) == [later]


async def test_one_that_expires_in_the_line_lets_the_next_one_go(cell: Cell, worker_db: Database, worker: UUID) -> None:
    soon = (await worker_db.value("now")).isoformat()
    await cell.pass_time(-60)
    [expiring] = await ask(worker_db, cell, expires_at=soon)
    [second] = await ask(worker_db, cell)
    await cell.pass_time(120)
    grants = await claim(worker_db, worker) + await claim(worker_db, worker)
    assert ids(grants) == [second]
    assert await state(worker_db, cell, expiring) is State.CANCELED


async def test_order_holds_across_priorities(cell: Cell, worker_db: Database, worker: UUID) -> None:
    [low] = await ask(worker_db, cell, priority=3)
    [high] = await ask(worker_db, cell, priority=0)
    [grant] = await claim(worker_db, worker) or await claim(worker_db, worker)
    assert grant.job_id == low
    await end(worker_db, grant)
    assert ids(await claim(worker_db, worker)) == [high]


async def test_a_claim_that_is_rolled_back_changes_nothing(cell: Cell, worker_db: Database, worker: UUID) -> None:
    first, second = await ask(worker_db, cell, 2)
    with pytest.raises(ZeroDivisionError):
        async with worker_db.transaction() as connection:
            await worker_db.call("claim", worker, ["default"], 10, connection=connection)
            raise ZeroDivisionError
    [grant] = await claim(worker_db, worker)
    assert grant.job_id == first
    await end(worker_db, grant)
    assert ids(await claim(worker_db, worker)) == [second]


async def test_a_bell_waits_while_another_transaction_is_at_its_group(
    cell: Cell, worker_db: Database, worker: UUID
) -> None:
    first, second = await ask(worker_db, cell, 2, group_limit=2)
    async with worker_db.transaction() as connection:
        rows = await worker_db.call("claim", worker, ["default"], 1, connection=connection)
        assert [row["job_id"] for row in rows] == [first]
        assert await claim(worker_db, worker) == [], "who is at the group decides first"
    assert ids(await claim(worker_db, worker)) == [second]


async def test_the_tenants_limit_holds_for_groups(cell: Cell, worker_db: Database, worker: UUID) -> None:
    await cell.change(f"update leasehold.tenant set max_running = 2 where tenant_id = '{cell.tenant_a}'")
    asked = await ask(worker_db, cell, 4, group_limit=4)
    grants = await claim(worker_db, worker)
    assert ids(grants) == asked[:2]
    await end(worker_db, grants[0])
    assert ids(await claim(worker_db, worker)) + ids(await claim(worker_db, worker)) == [asked[2]]


async def test_who_has_a_place_waits_for_the_one_before_it_that_another_claim_is_about_to_start(
    cell: Cell, worker_db: Database, worker: UUID
) -> None:
    await cell.change(f"update leasehold.tenant set max_running = 1 where tenant_id = '{cell.tenant_a}'")
    await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ["{}"], {})
    [running] = await claim(worker_db, worker)
    first, second = await ask(worker_db, cell, 2, group_limit=2)
    assert await claim(worker_db, worker) == []
    assert len(await cell.look("select 1 from leasehold.parked")) == 2, "both were let in, and wait for their tenant"
    await cell.change("update leasehold.tenant set max_running = 100")
    await end(worker_db, running)
    await worker_db.call("unpark", [cell.tenant_a])
    async with worker_db.transaction() as starting:
        rows = await worker_db.call("claim", worker, ["default"], 1, connection=starting)
        assert [row["job_id"] for row in rows] == [first]
        assert await claim(worker_db, worker) == []
    assert ids(await claim(worker_db, worker)) == [second]


@pytest.mark.parametrize(
    "options", [{"group": ""}, {"group": 7}, {"group": "g", "group_limit": 0}, {"group": "g", "group_limit": 1.5}]
)
async def test_what_cannot_be_a_group_is_refused(cell: Cell, worker_db: Database, options: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="group"):
        await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ["{}"], options)


async def test_a_blocked_job_is_seen_counted_and_explained(cell: Cell, worker_db: Database, worker: UUID) -> None:
    first, second, third = await ask(worker_db, cell, 3)
    [grant] = await claim(worker_db, worker)
    assert [await state(worker_db, cell, job) for job in (first, second)] == [State.RUNNING, State.BLOCKED]
    blocked = await jobs.list_jobs(worker_db, cell.tenant_a, {"state": "blocked"})
    assert [job.job_id for job in blocked] == [third, second]
    assert blocked[0].group == "g"
    [reason] = [one for one in await jobs.explain(worker_db, cell.tenant_a, third) if one.reason == "group"]
    assert reason.detail == "group g runs as many as it may (1)"
    assert [job.job_id for job in await jobs.list_jobs(worker_db, cell.tenant_a, {"state": "queued"})] == []
    await end(worker_db, grant)


async def test_who_is_let_in_and_cannot_start_stands_where_every_claim_looks(
    cell: Cell, worker_db: Database, worker: UUID
) -> None:
    await cell.change(f"update leasehold.tenant set max_running = 2 where tenant_id = '{cell.tenant_a}'")
    [asked] = await ask(worker_db, cell)
    async with worker_db.transaction() as other, worker_db.transaction() as connection:
        await other.execute("select pg_advisory_xact_lock(7505, hashtext($1))", str(cell.tenant_a))
        # as in an exchange that has counted other tenants before: it does not wait for this one
        await connection.execute("select set_config('leasehold.locks_tenants', 'on', true)")
        assert await worker_db.call("claim", worker, ["default"], 10, connection=connection) == []
    [row] = await cell.look(
        "select r.job_id, r.pass >= pg_sequence_last_value(l.floor) as seen"
        " from leasehold.ready r join leasehold.lane l on l.lane = r.lane"
    )
    assert row == {"job_id": str(asked), "seen": True}
    assert ids(await claim(worker_db, worker)) == [asked]
