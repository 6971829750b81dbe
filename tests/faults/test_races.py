"""Two who want the same job in the same moment: one of them gets it, and the history shows who."""

import asyncio
import random
from uuid import UUID

import asyncpg
import pytest

from leasehold.database.database import Database, Role, Target
from leasehold.database.wakeups import Listener, Notifier
from leasehold.engine import jobs, maintenance
from leasehold.engine.leases import end_worker, register_worker
from leasehold.errors import Conflict, LeaseholdError
from leasehold.features.limits.store import Gates
from leasehold.job import AttemptOutcome, ClaimedJob, Enqueued
from leasehold.program.app import Leasehold
from tests.cell import Cell
from tests.faults.history import Expected, check, read
from tests.waiting import eventually


async def register(db: Database, name: str = "w", *, lease_s: float = 60.0) -> UUID:
    return await register_worker(db, name=name, version="t", queues=["default"], kinds={}, slots=1000, lease_s=lease_s)


async def enqueue(db: Database, cell: Cell, n: int, **options: object) -> list[UUID]:
    made = await jobs.enqueue(db, cell.tenant_a, "t.work", ["{}"] * n, options)
    return [job.job_id for job in made]


# -- cancel against claim, finish and retry -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
async def test_cancel_races_claim_finish_and_retry_and_each_job_has_one_story(cell: Cell, seed: int) -> None:
    dice = random.Random(seed)
    async with cell.database(Role.WORKER, connections=8) as db:
        worker = await register(db)
        made = await enqueue(db, cell, 80, max_attempts=2, retry_base_s=0.001, retry_cap_s=0.002)
        await jobs.cancel(db, cell.tenant_a, made[-1])
        told = {made[-1]}  # canceled, and not retried by us since
        quiet = asyncio.Event()

        async def work() -> None:
            while not quiet.is_set() or not await _ended(cell, len(made)):
                await maintenance.dispatch_due_jobs(db)
                for grant in await jobs.claim(db, worker, ["default"], dice.choice((1, 5))):
                    assert grant.job_id not in told, "I11: it started after its cancel was acknowledged"
                    outcome = dice.choice(("succeeded", "failed", "errored", "released"))
                    await jobs.finish(db, [AttemptOutcome(token=grant.token, outcome=outcome)])

        async def meddle(mine: list[UUID]) -> None:
            """Cancel and retry one's own part of the jobs, so that what one was told stays true."""
            for job_id in dice.choices(mine, k=60):
                if dice.random() < 0.6:
                    if await jobs.cancel(db, cell.tenant_a, job_id) == "canceled":
                        told.add(job_id)
                    continue
                told.discard(job_id)
                try:
                    await jobs.retry(db, cell.tenant_a, job_id)
                except Conflict:
                    if (await jobs.get_job(db, cell.tenant_a, job_id)).state == "canceled":
                        told.add(job_id)

        async def all_meddle() -> None:
            await asyncio.gather(meddle(made[:40]), meddle(made[40:-1]))
            quiet.set()

        await asyncio.gather(work(), work(), all_meddle())
        await end_worker(db, worker)
    expected = Expected(acknowledged=dict.fromkeys(made, cell.tenant_a), canceled=list(told), stopped=["w"])
    history = await check(cell, expected)
    assert {row["state"] for row in history.outcome} >= {"succeeded", "canceled"}
    assert any(row["type"] == "retried" for row in history.event)


async def _ended(cell: Cell, n: int) -> bool:
    rows = await cell.look("select count(*) as n from leasehold.outcome")
    return bool(rows[0]["n"] == n)


@pytest.mark.parametrize("where", ["group", "gate"])
@pytest.mark.parametrize("end", ["commit", "rollback"])
async def test_what_is_being_canceled_at_the_head_of_a_line_does_not_start(cell: Cell, where: str, end: str) -> None:
    """A claim that meets the head of a group or of a gate while its cancel is not committed waits for its end."""
    async with cell.database(Role.WORKER, connections=4) as db:
        worker = await register(db)
        if where == "gate":  # the first is through: the others line up
            await Gates(db, cell.tenant_a).set("g", rate=1, per_s=60)
            await enqueue(db, cell, 1, gate="g")
            await jobs.claim(db, worker, ["default"], 10)
        head, after = await enqueue(db, cell, 2, **{where: "g"})
        if where == "gate":
            assert await jobs.claim(db, worker, ["default"], 10) == []
            await cell.pass_time(61)
        connection = await asyncpg.connect(cell.url(Role.WORKER))
        await connection.execute("begin")
        await connection.execute("select set_config('leasehold.tenant', $1, true)", str(cell.tenant_a))
        assert await connection.fetchval("select leasehold.cancel($1)", head) == "canceled"
        claiming = asyncio.create_task(first_start(db, worker))
        blocked = "select 1 from pg_locks where not granted and locktype = 'transactionid'"
        await eventually(lambda: cell.look(blocked), what="the claim waits for the cancel")
        await connection.execute(end)
        await connection.close()
        assert await claiming == (after if end == "commit" else head)
        expected = "canceled" if end == "commit" else "running"
        assert (await jobs.get_job(db, cell.tenant_a, head)).state == expected


async def first_start(db: Database, worker: UUID) -> UUID:
    while True:
        await maintenance.ring_gates(db, ["default"])
        for grant in await jobs.claim(db, worker, ["default"], 10):
            return grant.job_id


# -- the reaper against the report of a worker that fell silent -----------------------------------------------------


class Duel:
    """Two connections, one lease: the worker's report, and the reaper that takes it."""

    def __init__(self, report: asyncpg.Connection, reaper: asyncpg.Connection, watch: asyncpg.Connection) -> None:
        self._connections = {"report": report, "reap": reaper}
        self._watch = watch

    async def act(self, who: str, token: int) -> bool:
        """Whether it got the lease."""
        connection = self._connections[who]
        if who == "reap":
            return bool(await connection.fetchval("select leasehold.rescue_silent_workers()"))
        finish = "select leasehold.finish($1, '{succeeded}', '{1}', null, null)"
        return bool(await connection.fetchval(finish, [token]))

    async def one_holds_while_the_other_waits(self, first: str, second: str, token: int, *, end: str) -> bool:
        """The first has done it and not committed; the second begins, and waits for it; then the first ends."""
        await self._connections[first].execute("begin")
        assert await self.act(first, token)
        waiting = asyncio.create_task(self.act(second, token))
        await eventually(lambda: self._waits(second), what=f"{second} waits for {first}")
        assert not waiting.done()
        await self._connections[first].execute(end)
        return await waiting

    async def _waits(self, who: str) -> bool:
        pid = self._connections[who].get_server_pid()
        return bool(await self._watch.fetchval("select cardinality(pg_blocking_pids($1)) > 0", pid))


async def lease_of_a_silent_worker(cell: Cell, db: Database) -> tuple[UUID, ClaimedJob]:
    worker = await register(db, lease_s=1.0)
    await enqueue(db, cell, 1, max_attempts=2)
    [grant] = await jobs.claim(db, worker, ["default"], 1)
    await cell.change(f"update leasehold.worker set beat_at = beat_at - interval '1 h' where worker_id = '{worker}'")
    return worker, grant


@pytest.mark.long
async def test_the_reaper_races_two_hundred_reports_and_no_outcome_is_overwritten(
    cell: Cell, worker_db: Database
) -> None:
    """Two hundred rounds: forty of each order with a commit or a rollback in between, and forty at once."""
    made, won = [], {"report": 0, "reap": 0}
    async with (
        asyncpg.create_pool(cell.url(Role.WORKER), min_size=3, max_size=3) as pool,
        pool.acquire() as one,
        pool.acquire() as two,
        pool.acquire() as three,
    ):
        duel = Duel(one, two, three)
        for turn in range(200):
            _, grant = await lease_of_a_silent_worker(cell, worker_db)
            made.append(grant.job_id)
            first, second = ("report", "reap") if turn % 2 else ("reap", "report")
            if turn % 5 == 4:
                got = await asyncio.gather(duel.act(first, grant.token), duel.act(second, grant.token))
                assert sum(got) == 1, "exactly one"
                winner = first if got[0] else second
            else:
                end = "commit" if turn % 4 < 2 else "rollback"
                took = await duel.one_holds_while_the_other_waits(first, second, grant.token, end=end)
                assert took is (end == "rollback")
                winner = second if took else first
            won[winner] += 1
            if winner == "reap":
                await _finish_again(worker_db, grant)
            assert await jobs.finish(worker_db, [AttemptOutcome(token=grant.token, outcome="failed")]) == set()
    assert min(won.values()) > 40
    history = await check(cell, Expected(acknowledged=dict.fromkeys(made, cell.tenant_a)))
    assert {row["state"] for row in history.outcome} == {"succeeded"}


async def _finish_again(db: Database, lost: ClaimedJob) -> None:
    """The job is free for the next worker, under a new token."""
    next_ = await register(db, "next")
    [grant] = await jobs.claim(db, next_, ["default"], 5)
    assert (grant.job_id, grant.attempt) == (lost.job_id, 2)
    assert await jobs.finish(db, [AttemptOutcome(token=grant.token, outcome="succeeded")]) == {grant.token}
    await end_worker(db, next_)


# -- enqueues -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("payloads", ["same", "different"])
async def test_a_hundred_batches_of_the_same_keys_in_any_order_make_each_job_once(cell: Cell, payloads: str) -> None:
    """Overlapping batches in different orders would deadlock if keys were taken in the order given."""
    dice, keys = random.Random(25), [f"k{n}" for n in range(8)]

    async def ask(db: Database, caller: int) -> list[Enqueued]:
        mine = dice.sample(keys, 4)
        texts = [f'{{"n": {caller % 2 if payloads == "different" else 0}}}'] * len(mine)
        return await jobs.enqueue(db, cell.tenant_a, "t.work", texts, {}, keys=mine)

    async with cell.database(Role.WORKER, connections=20) as db:
        answers = await asyncio.gather(*(ask(db, caller) for caller in range(100)), return_exceptions=True)
        refused = [answer for answer in answers if isinstance(answer, BaseException)]
        assert all(isinstance(answer, Conflict) for answer in refused)
        assert bool(refused) == (payloads == "different")
        told = {job.job_id for answer in answers if not isinstance(answer, BaseException) for job in answer}
        worker = await register(db)
        grants = await jobs.claim(db, worker, ["default"], 100)
        await jobs.finish(db, [AttemptOutcome(token=grant.token, outcome="succeeded") for grant in grants])
        await end_worker(db, worker)
    assert {grant.job_id for grant in grants} == told
    assert len(told) == len(grants) == len(keys)
    await check(cell, Expected(acknowledged=dict.fromkeys(told, cell.tenant_a), stopped=["w"]))


async def test_an_enqueue_that_is_rolled_back_never_was_and_wakes_nobody(cell: Cell) -> None:
    heard: list[str] = []
    last = asyncio.Event()

    def hear(queue: str) -> None:
        heard.append(queue)
        if queue == "last":
            last.set()

    app = Leasehold()
    target = Target(url=cell.url(Role.API), role=Role.API)
    async with Database(target) as db, Listener(target, hear) as listener:
        await listener.listening.wait()
        heard.clear()
        connection = await asyncpg.connect(cell.url(Role.API))
        try:
            transaction = connection.transaction()
            await transaction.start()
            made = await app.enqueue("t.work", {}, tenant=cell.tenant_a, key="k", conn=connection)
            assert made.created
            with pytest.raises(LeaseholdError):
                await jobs.get_job(db, cell.tenant_a, made.job_id)
            await transaction.rollback()
        finally:
            await connection.close()
        notifier = Notifier(db)
        notifier.notify("last")
        await last.wait()
        await notifier.close()
        assert heard == ["last"]
        with pytest.raises(LeaseholdError):
            await jobs.get_job(db, cell.tenant_a, made.job_id)
        history = await read(cell)
        assert (history.job, history.ready) == ([], [])
        [again] = await jobs.enqueue(db, cell.tenant_a, "t.work", ['{"other": 1}'], {}, keys=["k"])
        assert again.created, "the key is free"


# -- deadlocks ------------------------------------------------------------------------------------------------------

#: Whoever enqueues takes two tables, the second one first.
_CROSSWISE = """
create table leasehold_test.first ();
create table leasehold_test.second ();
create function leasehold_test.take_both() returns trigger language plpgsql
as $$ begin lock table leasehold_test.second; lock table leasehold_test.first; return new; end $$;
create trigger take_both before insert on leasehold.job for each row execute function leasehold_test.take_both();
"""


async def test_a_call_that_a_deadlock_ended_is_made_again(cell: Cell) -> None:
    await cell.change(_CROSSWISE)
    # Whoever waits looks for a deadlock once, after this time: long enough that there is one by
    # then, and shorter than
    # the lock_timeout of the role.
    await cell.cluster.administer(cell.name, f"alter database {cell.name} set deadlock_timeout = '2s'")

    async def waits() -> bool:
        return bool(await cell.look("select from pg_locks where not granted and database is not null"))

    async def happened() -> bool:
        [row] = await cell.look("select deadlocks from pg_stat_database where datname = current_database()")
        return bool(row["deadlocks"] == 1)

    other = await asyncpg.connect(
        cell.cluster.url(cell.name), server_settings={"application_name": "leasehold-migrate"}
    )
    try:
        async with cell.database(Role.API, connections=1) as db:
            await other.execute("set deadlock_timeout = '10min'")  # the call notices
            await other.execute("begin; lock table leasehold_test.first")
            asking = asyncio.create_task(enqueue(db, cell, 1))
            await eventually(waits, what="a call that waits")
            await other.execute("lock table leasehold_test.second")
            await other.execute("commit")
            assert len(await asking) == 1
    finally:
        await other.close()
    await eventually(happened, what="PostgreSQL's count of deadlocks")


async def test_a_call_is_made_again_when_the_partition_of_its_rows_was_made_meanwhile(cell: Cell) -> None:
    """As where no worker has run for days: their partitions are made while others enqueue."""
    await cell.pass_time(10 * 86_400)
    maintenance = await asyncpg.connect(
        cell.cluster.url(cell.name), server_settings={"application_name": "leasehold-migrate"}
    )

    async def waits() -> bool:
        return bool(await cell.look("select from pg_locks where not granted and database is not null"))

    try:
        async with cell.database(Role.API, connections=1) as db:
            await maintenance.execute("begin; select leasehold.make_partitions()")
            asking = asyncio.create_task(enqueue(db, cell, 1))
            await eventually(waits, what="a call that waits")
            await maintenance.execute("commit")
            assert len(await asking) == 1
    finally:
        await maintenance.close()
