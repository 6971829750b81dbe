"""Slots, queues with limits, kinds that nobody knows."""

import asyncio
import time
from dataclasses import replace
from itertools import accumulate
from typing import Self, Unpack

import pytest

from leasehold.database.database import Database
from leasehold.database.wakeups import Listener
from leasehold.engine import jobs, maintenance
from leasehold.errors import BadSetting
from leasehold.job import State
from leasehold.program.app import Leasehold
from leasehold.program.context import Context
from leasehold.typed_options import HandlerOptions
from leasehold.worker import worker as worker_module
from leasehold.worker.queue_selection import parse_queues
from tests.cell import Cell
from tests.waiting import eventually
from tests.worker.conftest import Lines
from tests.worker.running import FAST, SLOW_POLL, Shop, running


class Gate:
    """A kind whose attempts wait until they are let go, and count how many there are."""

    def __init__(self, app: Leasehold, kind: str, **options: Unpack[HandlerOptions]) -> None:
        self.now = 0
        self.most = 0
        self.open = asyncio.Event()
        app.handler(kind, **options)(self.work)

    async def work(self, ctx: Context) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        await self.open.wait()
        self.now -= 1

    async def holds(self, n: int) -> None:
        async def ask() -> bool:
            return self.now == n

        await eventually(ask, what=f"{n} attempts at once, not {self.now}")


async def test_a_queue_with_a_limit_never_runs_more_and_leaves_the_slots_to_others(cell: Cell, shop: Shop) -> None:
    app = Leasehold()
    money = Gate(app, "t.money", queue="money")
    other = Gate(app, "t.other")
    async with running(cell, app, replace(FAST, slots=5, queues="money=2,default")):
        paid = await shop.enqueue_many("t.money", [None] * 6)
        await money.holds(2)
        rest = await shop.enqueue_many("t.other", [None] * 6)
        await other.holds(3)
        assert len(await cell.look("select * from leasehold.lease")) == 5, "nothing is claimed that cannot start"
        money.open.set()
        other.open.set()
        for job_id in [*paid, *rest]:
            assert (await shop.ended(job_id)).state is State.SUCCEEDED
    assert (money.most, other.most <= 5) == (2, True)


async def test_a_slow_handler_holds_no_other_jobs(cell: Cell, shop: Shop) -> None:
    app = Leasehold()
    gate = Gate(app, "t.slow")
    async with running(cell, app, replace(FAST, slots=1)), running(cell, app, replace(FAST, slots=1)):
        await shop.enqueue_many("t.slow", [None] * 3)
        await gate.holds(2)
        [count] = await cell.look("select count(*) as n from leasehold.ready")
        assert count["n"] == 1, "the third is free for whoever has a slot next"
        gate.open.set()


async def test_an_idle_worker_reports_at_once_and_a_busy_one_in_batches(
    cell: Cell, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[int] = []
    finish = jobs.finish

    async def counted(db, ended):  # type: ignore[no-untyped-def]
        batches.append(len(ended))
        return await finish(db, ended)

    monkeypatch.setattr(jobs, "finish", counted)
    app = Leasehold()

    @app.handler("t.quick")
    async def quick(ctx: Context) -> None: ...

    async with running(cell, app, replace(SLOW_POLL, slots=50)) as worker:
        job_ids = await shop.enqueue_many("t.quick", [None] * 200)
        worker.wake()
        for job_id in job_ids:
            await shop.ended(job_id)
        assert len(batches) < 50, f"200 jobs in {len(batches)} reports"
        began = time.monotonic()
        job_id = await shop.enqueue("t.quick")
        worker.wake()
        await shop.ended(job_id)
        assert time.monotonic() - began < 5, "no poll (60 s) was waited for"


async def test_an_unknown_kind_goes_back_uncounted_for_a_while_and_is_logged_once(
    cell: Cell, shop: Shop, log_lines: Lines
) -> None:
    app = Leasehold()

    @app.handler("t.known")
    async def known(ctx: Context) -> None: ...

    async with running(cell, app):
        strange = await shop.enqueue_many("t.strange", [None] * 5)
        for job_id in strange:
            assert await shop.attempted(job_id) == [(1, "released")]
        assert (await shop.run("t.known")).state is State.SUCCEEDED
        assert [await shop.history(job_id) for job_id in strange] == [[(1, "released")]] * 5, "no hot loop"
    assert log_lines.count("unknown kind") == 1
    rows = await cell.look("select extract(epoch from run_at - leasehold.now()) as s, attempt from leasehold.deferred")
    assert len(rows) == 5
    assert all(15 < row["s"] < 40 and row["attempt"] == 0 for row in rows)

    both = Leasehold()

    @both.handler("t.strange")
    async def strange_one(ctx: Context) -> str:
        return "mine"

    async with running(cell, both):
        await cell.pass_time(60)
        assert (await shop.ended(strange[0])).result == "mine"


@pytest.mark.parametrize("text", ["", "money=0", "money=two", "=3", "money,money", "money=-1"])
def test_bad_queues_are_refused(text: str) -> None:
    with pytest.raises(BadSetting, match="queue"):
        parse_queues(text)


def test_queues_are_read_with_their_limits() -> None:
    assert parse_queues("money=2, default") == {"money": 2, "default": None}


async def test_two_exchanges_at_once_hold_no_more_leases_than_slots_and_no_more_of_a_queue_than_its_limit(
    cell: Cell, shop: Shop
) -> None:
    app = Leasehold()

    @app.handler("t.free")
    async def free(ctx: Context) -> None: ...

    @app.handler("t.limited", queue="limited")
    async def limited(ctx: Context) -> None:
        await asyncio.sleep(0)

    async with running(cell, app, replace(FAST, slots=10, queues="limited=3,default")):
        job_ids = await shop.enqueue_many("t.free", [None] * 300)
        job_ids += await shop.enqueue_many("t.limited", [None] * 100, queue="limited")
        for job_id in job_ids:
            await shop.ended(job_id)
    rows = await cell.look(
        "select a.started_at, a.finished_at, j.queue"
        " from leasehold.attempt a join leasehold.job j on j.job_id = a.job_id"
    )
    for most, queues in ((10, {"default", "limited"}), (3, {"limited"})):
        some = [row for row in rows if row["queue"] in queues]
        moments = sorted([(row["started_at"], 1) for row in some] + [(row["finished_at"], -1) for row in some])
        assert 0 < max(accumulate(step for _, step in moments)) <= most


def noting(started: list[str]) -> Leasehold:
    """An app whose jobs say that they began."""
    app = Leasehold()

    @app.handler("t.work")
    async def work(ctx: Context) -> None:
        started.append("job")

    return app


async def test_a_worker_with_plenty_to_do_listens_when_it_has_less(
    cell: Cell, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    app = noting(started)

    class Noted(Listener):
        async def __aenter__(self) -> Self:
            started.append("listener")
            return await super().__aenter__()

    monkeypatch.setattr(worker_module, "Listener", Noted)
    for _ in range(6):
        await shop.enqueue("t.work")

    async def listens() -> bool:
        return "listener" in started

    async with running(cell, app, replace(SLOW_POLL, slots=2)):
        await eventually(listens, what="a listener")
    assert started.index("listener") >= 5, "the last may still be on its way"


@pytest.mark.parametrize("waiting", [0, 6])
async def test_a_new_worker_begins_its_upkeep_in_the_first_lull(
    cell: Cell, shop: Shop, monkeypatch: pytest.MonkeyPatch, waiting: int
) -> None:
    """Connections and plans for upkeep are dear: what waits for the worker goes first."""
    started: list[str] = []
    app = noting(started)

    async def make_partitions(db: Database, days_ahead: int = 3) -> int:
        started.append("upkeep")
        return 0

    monkeypatch.setattr(maintenance, "make_partitions", make_partitions)
    for _ in range(waiting):
        await shop.enqueue("t.work")

    async def upkeep_began() -> bool:
        return "upkeep" in started

    async with running(cell, app, replace(SLOW_POLL, slots=2)):
        await eventually(upkeep_began, what="upkeep")
    assert started.index("upkeep") >= waiting - 1, "the last may still be on its way"
