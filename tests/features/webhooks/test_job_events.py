"""Events that tell of jobs: every outcome once, and only to those who want it."""

from collections import Counter
from typing import Any
from uuid import UUID

from leasehold import Context, Fail, Leasehold
from leasehold.database.database import Database
from leasehold.engine import jobs, leases
from leasehold.features.webhooks import store as webhooks
from leasehold.job import AttemptOutcome, ClaimedJob
from tests.cell import Cell
from tests.features.webhooks.hooks import Hooks, Receiver, hooks_to, receiving, working
from tests.worker.running import Shop

app = Leasehold()


@app.handler("t.end", attempts=1)
async def end(ctx: Context, how: str) -> str:
    match how:
        case "failed":
            raise Fail("a bad card")
        case "dead":
            raise RuntimeError("tried in vain")
    return how


async def told(cell: Cell) -> list[dict[str, Any]]:
    return await cell.look("select type, subject_id, subject_seq, data from leasehold.webhook_event order by event_id")


async def test_every_way_a_job_ends_is_told_once(cell: Cell, shop: Shop, worker_db: Database) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        await hooks.add(receiver, "job.*")
        async with working(cell, hooks.settings, app):
            ended = {state: await shop.run("t.end", state) for state in ("succeeded", "failed", "dead")}
            later = await shop.enqueue("t.end", "x", delay_s=1000)
            assert await jobs.cancel(worker_db, cell.tenant_a, later, "no longer") == "canceled"
            await receiver.wait_for(4)
            await hooks.settled()
        assert await webhooks.collect_job_events(worker_db) == 0
    assert sorted(event["type"] for event in receiver.events) == [
        "job.canceled",
        "job.dead",
        "job.failed",
        "job.succeeded",
    ]
    by_state = {event["data"]["state"]: event for event in receiver.events}
    for state, job in ended.items():
        data = by_state[state]["data"]
        assert (by_state[state]["subject_id"], data["job_id"]) == (str(job.job_id), str(job.job_id))
        assert (data["kind"], data["attempts"]) == ("t.end", 1)
    assert by_state["failed"]["data"]["error"] == {"type": "Fail", "message": "a bad card"}
    assert by_state["canceled"]["data"]["error"]["message"] == "no longer"
    assert by_state["succeeded"]["data"]["error"] is None


class Ends:
    """Ends jobs of tenant A by hand."""

    def __init__(self, db: Database, worker: UUID, cell: Cell) -> None:
        self._db, self._worker, self._cell = db, worker, cell

    @classmethod
    async def of(cls, db: Database, cell: Cell) -> "Ends":
        worker = await leases.register_worker(
            db, name="w", version="0", queues=["default"], kinds={}, slots=10, lease_s=600.0
        )
        return cls(db, worker, cell)

    async def grant(self, tenant: UUID | None = None) -> ClaimedJob:
        await jobs.enqueue(self._db, tenant or self._cell.tenant_a, "t.by_hand", ["{}"], {})
        [grant] = await jobs.claim(self._db, self._worker, ["default"], 1)
        return grant

    async def finish(self, grant: ClaimedJob, connection: Any = None) -> None:
        ended = AttemptOutcome(token=grant.token, outcome="succeeded")
        assert await jobs.finish(self._db, [ended], connection=connection) == {grant.token}

    async def collect(self) -> list[str]:
        """Ids of the jobs that are told of by now."""
        await webhooks.collect_job_events(self._db)
        return [row["subject_id"] for row in await told(self._cell)]


async def subscribed(cell: Cell, hooks: Hooks) -> None:
    await hooks.add(Receiver(port=80), "job.*")


def somewhere() -> Receiver:
    return Receiver(port=80)


async def test_an_outcome_that_commits_late_is_told_and_none_is_told_twice(cell: Cell, worker_db: Database) -> None:
    async with hooks_to(cell, somewhere()) as hooks:
        await subscribed(cell, hooks)
        ends = await Ends.of(worker_db, cell)
        late, soon, last = [await ends.grant() for _ in range(3)]
        async with worker_db.transaction() as connection:
            await ends.finish(late, connection)
            await ends.finish(soon)
            assert await ends.collect() == [str(soon.job_id)]
            assert await ends.collect() == [str(soon.job_id)]
            await ends.finish(last)
            assert Counter(await ends.collect()) == Counter([str(soon.job_id), str(last.job_id)])
        everybody = Counter(str(grant.job_id) for grant in (late, soon, last))
        for _ in range(3):
            assert Counter(await ends.collect()) == everybody


async def test_two_who_collect_at_once_do_not_wait_for_each_other(cell: Cell, worker_db: Database) -> None:
    async with hooks_to(cell, somewhere()) as hooks:
        await subscribed(cell, hooks)
        ends = await Ends.of(worker_db, cell)
        await ends.finish(await ends.grant())
        async with worker_db.transaction() as connection:
            await connection.execute("select leasehold.collect_job_events()")
            assert await ends.collect() == []
        assert len(await ends.collect()) == 1


async def test_a_job_that_is_retried_tells_of_both_ends(cell: Cell, shop: Shop, worker_db: Database) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        await hooks.add(receiver, "job.*")
        async with working(cell, hooks.settings, app):
            job = await shop.run("t.end", "failed")
            await receiver.wait_for(1)
            await jobs.retry(worker_db, cell.tenant_a, job.job_id)
            await receiver.wait_for(2)
    assert [event["subject_id"] for event in receiver.events] == [str(job.job_id)] * 2
    assert len(receiver.counts) == 2


async def test_nothing_is_written_for_those_who_do_not_want_it(cell: Cell, worker_db: Database) -> None:
    async with hooks_to(cell, somewhere()) as hooks:
        ends = await Ends.of(worker_db, cell)
        await ends.finish(await ends.grant())  # before there was an endpoint
        await hooks.add(somewhere(), "order.*", "job.dead")
        await ends.finish(await ends.grant())
        await ends.finish(await ends.grant(cell.tenant_b))
        assert await ends.collect() == []
        await subscribed(cell, hooks)
        assert await ends.collect() == []


async def test_deliveries_do_not_tell_of_themselves(cell: Cell, shop: Shop, worker_db: Database) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        await hooks.add(receiver, "*")
        async with working(cell, hooks.settings, app):
            await shop.run("t.end", "fine")
            await receiver.wait_for(1)
            await hooks.settled()
            for _ in range(2):  # it has looked after the delivery's own end
                await webhooks.collect_job_events(worker_db)
        assert len(await told(cell)) == 1


async def test_a_dump_that_was_loaded_elsewhere_goes_on_with_the_numbers_there(cell: Cell, worker_db: Database) -> None:
    """Told is what was still to be told, and what ended there before the first look; once."""
    async with hooks_to(cell, somewhere()) as hooks:
        await subscribed(cell, hooks)
        ends = await Ends.of(worker_db, cell)
        before, late, there, later = [await ends.grant() for _ in range(4)]
        for grant, number in ((before, 4000000000), (late, 4000000010)):
            await ends.finish(grant)
            await cell.change(f"update leasehold.outcome set xid = {number} where job_id = '{grant.job_id}'")
        await cell.change("update leasehold.collected set snapshot = '4000000005:4000000005:'")
        await ends.finish(there)
        news = Counter([str(late.job_id), str(there.job_id)])
        assert Counter(await ends.collect()) == news
        await ends.finish(later)
        for _ in range(2):
            assert Counter(await ends.collect()) == news + Counter([str(later.job_id)])
