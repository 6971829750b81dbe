"""Late commits: the floor never passes a row that may still appear."""

import asyncio
import random

import asyncpg
import pytest

from leasehold.database.database import Database, Role
from leasehold.engine import jobs, leases, maintenance
from leasehold.worker import leader as leader_module
from leasehold.worker.leader import Leader, Snapshot, TokenWalk, Walk
from tests.cell import Cell
from tests.engine.test_life import end, enqueue, register


@pytest.fixture(autouse=True)
def _tokens_with_each_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leader walks them once a second; nobody here waits that long."""
    monkeypatch.setattr(leader_module, "_TOKENS_SECONDS", 0.0)


async def late_enqueue(cell: Cell) -> asyncpg.Connection:
    """A connection whose open transaction has enqueued one job."""
    connection = await asyncpg.connect(cell.url(Role.API))
    await connection.execute("begin")
    await connection.execute("select set_config('leasehold.tenant', $1, true)", str(cell.tenant_a))
    await connection.fetch("select * from leasehold.enqueue('t.late', array['{}'::jsonb])")
    return connection


async def drain(cell: Cell, db: Database, n: int) -> None:
    worker = await register(db)
    for _ in range(n // 50):
        await enqueue(db, cell.tenant_b, 50)
        for grant in await jobs.claim(db, worker, ["default"], 50):
            await end(db, grant, "succeeded")


async def test_a_late_commit_is_claimable_two_ticks_after_it(cell: Cell, worker_db: Database) -> None:
    leader, worker = Leader(worker_db), await register(worker_db)
    late = await late_enqueue(cell)
    await drain(cell, worker_db, 200)
    for _ in range(3):
        await leader.tick()
    [floor] = await cell.look("select pg_sequence_last_value(floor) as floor from leasehold.lane where priority = 2")
    assert floor["floor"] > 1000, "the floor has passed the invisible row"

    await late.execute("commit")
    await late.close()
    assert [await leader.tick() for _ in range(3)] == [0, 1, 0]
    assert [grant.kind for grant in await jobs.claim(worker_db, worker, ["default"], 10)] == ["t.late"]


async def test_a_leader_is_busy_as_long_as_jobs_are_taken(cell: Cell, worker_db: Database) -> None:
    """Then it walks more often: claims look at everything that was taken since the newest floor."""
    leader = Leader(worker_db)
    for _ in range(2):
        await leader.tick()
    assert not leader.is_busy
    for _ in range(2):
        await drain(cell, worker_db, 50)
        await leader.tick()
        assert leader.is_busy
    await leader.tick()
    assert not leader.is_busy


async def test_without_the_sweep_a_late_commit_would_be_lost(cell: Cell, worker_db: Database) -> None:
    """The checker's own test: the floor alone, moved without watching transactions, skips the row."""
    worker = await register(worker_db)
    late = await late_enqueue(cell)
    await drain(cell, worker_db, 200)
    await cell.change("select setval(floor, pg_sequence_last_value(clock)) from leasehold.lane where priority = 2")
    await late.execute("commit")
    await late.close()
    assert await jobs.claim(worker_db, worker, ["default"], 10) == []


async def test_two_leaders_at_once_lose_nothing(cell: Cell, worker_db: Database) -> None:
    leaders, worker = [Leader(worker_db), Leader(worker_db)], await register(worker_db)
    held = [await late_enqueue(cell) for _ in range(5)]
    for connection in held:
        await drain(cell, worker_db, 50)
        await asyncio.gather(*(leader.tick() for leader in leaders))
        await connection.execute("commit")
        await connection.close()
        await asyncio.gather(*(leader.tick() for leader in leaders))
    for _ in range(3):
        await asyncio.gather(*(leader.tick() for leader in leaders))
    grants = await jobs.claim(worker_db, worker, ["default"], 50)
    assert len(grants) == 5


async def test_a_new_leader_starts_from_zero_and_finds_what_the_old_one_left(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    late = await late_enqueue(cell)
    await drain(cell, worker_db, 100)
    old = Leader(worker_db)
    for _ in range(3):
        await old.tick()
    await late.execute("commit")
    await late.close()
    new = Leader(worker_db)
    for _ in range(2):
        await new.tick()
    assert len(await jobs.claim(worker_db, worker, ["default"], 10)) == 1


async def test_upkeep_with_nothing_to_do_takes_no_transaction_ids(cell: Cell, worker_db: Database) -> None:
    """It is asked ten times a second, for ever."""
    await drain(cell, worker_db, 100)
    leader = Leader(worker_db)
    for _ in range(4):
        await leader.tick()
    walks = leader._lanes
    idle = {
        "advance_lane_floor": (
            list(walks),
            [walk.start for walk in walks.values()],
            [walk.publish for walk in walks.values()],
        ),
        "advance_token_floor": (leader._publish_token,),
        "unpark": (None,),
        "dispatch_due_jobs": (1000,),
        "rescue_silent_workers": (),
    }
    for function, arguments in idle.items():
        async with worker_db.transaction() as connection:
            await worker_db.call(function, *arguments, connection=connection)
            assert await connection.fetchval("select pg_current_xact_id_if_assigned()::text") is None, function


async def test_only_one_worker_leads_until_it_falls_silent_and_beats_tell(cell: Cell, worker_db: Database) -> None:
    first, second = await register(worker_db), await register(worker_db)
    assert not (await leases.heartbeat_and_check_leader(worker_db, second))[1]
    assert (await maintenance.lead(worker_db, first, 3)).leads
    assert not (await maintenance.lead(worker_db, second, 3)).leads
    assert (await leases.heartbeat_and_check_leader(worker_db, second))[1]
    await cell.pass_time(2)
    assert (await maintenance.lead(worker_db, first, 3)).leads, "renewed"
    await cell.pass_time(2)
    assert not (await maintenance.lead(worker_db, second, 3)).leads
    await cell.pass_time(2)
    assert not (await leases.heartbeat_and_check_leader(worker_db, second))[1]
    assert (await maintenance.lead(worker_db, second, 3)).leads


async def test_a_look_of_the_leader_that_keeps_its_lead_takes_no_transaction_id(worker_db: Database) -> None:
    """An idle system writes no more than beats, and now and then the lead."""
    worker = await register(worker_db)
    await maintenance.lead(worker_db, worker, 3000)
    async with worker_db.transaction() as connection:
        assert (await worker_db.call("lead", worker, 3000.0, connection=connection))[0]["leads"]
        assert await connection.fetchval("select pg_current_xact_id_if_assigned()::text") is None


async def test_the_token_floor_waits_for_open_claims(cell: Cell, worker_db: Database) -> None:
    """A claim that is open while the leader walks may hold a lower token than any lease that is visible."""
    worker = await register(worker_db)
    await enqueue(worker_db, cell.tenant_a, 2)
    leader = Leader(worker_db)
    claiming = await asyncpg.connect(cell.url(Role.WORKER))
    await claiming.execute("begin")
    first = await claiming.fetchval("select token from leasehold.claim($1, array['default'], 1)", worker)
    [second] = await jobs.claim(worker_db, worker, ["default"], 1)
    for _ in range(3):
        await leader.tick()
    await claiming.execute("commit")
    await claiming.close()
    for _ in range(3):
        await leader.tick()
    [row] = await cell.look("select pg_sequence_last_value('leasehold.token_floor') as floor")
    assert row["floor"] <= first < second.token


@pytest.mark.parametrize("seed", range(20))
def test_a_walk_never_starts_above_a_row_that_may_appear(seed: int) -> None:
    """A model: transactions get an id, read the clock, place a row above it, and commit whenever they like."""
    dice = random.Random(seed)
    walk, clock, next_xid = Walk(), 1, 100
    open_: dict[int, int] = {}  # xid → pass of its row
    visible: set[int] = set()
    for _ in range(500):
        act = dice.random()
        if act < 0.4:
            open_[next_xid] = clock + dice.randint(1, 20)
            next_xid += 1
        elif act < 0.6 and open_:
            visible.add(open_.pop(dice.choice(list(open_))))
        elif act < 0.8 and (above := [row for row in visible if row >= walk.start]):
            row = min(above)
            visible.discard(row)
            clock = max(clock, row)
        else:
            snapshot = Snapshot(min(open_, default=next_xid), next_xid, frozenset(open_))
            lowest = min((row for row in visible if row >= walk.start), default=clock)
            late = {row for row in visible if lowest <= row < clock}
            visible = (visible - late) | ({clock + 1} if late else set())
            walk.saw(snapshot, min(lowest, clock))
    for row in [*open_.values()]:
        visible.add(row)
    ended = Snapshot(next_xid, next_xid, frozenset())
    walk.saw(ended, walk.publish or 0)
    assert min(visible, default=walk.start) >= walk.start


def test_a_token_floor_is_settled_only_when_all_that_was_open_has_ended() -> None:
    walk = TokenWalk()
    assert walk.saw(Snapshot.parse("10:12:10"), 500) is None
    assert walk.saw(Snapshot.parse("10:15:10,14"), 700) is None
    assert walk.saw(Snapshot.parse("14:16:14"), 900) == 500
    assert walk.saw(Snapshot.parse("17:17:"), 950) == 950


async def test_a_leader_that_was_silent_itself_judges_nobody_before_it_has_beaten(
    cell: Cell, worker_db: Database
) -> None:
    """As after a freeze of the database, or a jump of its clock: all beats are old, and nobody is dead."""
    leader, other = await register(worker_db), await register(worker_db)
    await cell.change(f"update leasehold.worker set beat_at = beat_at - interval '1 hour' where worker_id = '{other}'")
    assert "rescue silent workers" in (await maintenance.lead(worker_db, leader, 60.0)).due
    await cell.pass_time(3600)
    assert "rescue silent workers" not in (await maintenance.lead(worker_db, leader, 60.0)).due
    await leases.heartbeat(worker_db, leader)
    assert "rescue silent workers" in (await maintenance.lead(worker_db, leader, 60.0)).due
