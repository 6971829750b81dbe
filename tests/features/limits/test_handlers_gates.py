"""Real workers at gates: a far end that breaks and mends, and one that says when to come back."""

from itertools import pairwise

from leasehold.database.database import Database
from leasehold.features.limits.store import Gates
from leasehold.job import State
from leasehold.program.app import Leasehold
from leasehold.program.context import Context
from leasehold.program.outcomes import Retry
from tests.cell import Cell
from tests.waiting import eventually
from tests.worker.running import Shop, running

HOST = "host:example.com"


class FarEnd:
    """What the handler calls."""

    def __init__(self) -> None:
        self.works = False
        self.calls = 0

    def app(self) -> Leasehold:
        app = Leasehold()

        @app.handler("t.call", attempts=100, retry=(0.01, 0.02), gate=HOST)
        async def call(ctx: Context) -> None:
            self.calls += 1
            if not self.works:
                raise ConnectionError("down")

        return app


async def test_a_broken_far_end_is_left_alone_and_tried_until_it_is_mended(
    cell: Cell, shop: Shop, worker_db: Database
) -> None:
    gates, far_end = Gates(worker_db, cell.tenant_a), FarEnd()
    await gates.set(HOST, failures=5, ratio=0.1, cooldown_s=0.3)
    async with running(cell, far_end.app()):
        asked = await shop.enqueue_many("t.call", [None] * 20)

        async def opened() -> bool:
            return (await gates.get(HOST)).state == "open"

        async def tried_twice() -> bool:
            return far_end.calls >= before + 2

        await eventually(opened, what="an open breaker")
        before = far_end.calls
        await eventually(tried_twice, what="two probes")
        far_end.works = True
        assert {(await shop.ended(job_id)).state for job_id in asked} == {State.SUCCEEDED}
    assert (await gates.get(HOST)).state == "closed"
    moments = await cell.look("select leasehold.micros(started_at) as at, outcome from leasehold.attempt order by 1")
    failed = [row["at"] for row in moments if row["outcome"] == "errored"]
    assert all(later - earlier >= 300_000 for earlier, later in pairwise(failed[-2:])), "one probe in a cool-down"


async def test_what_a_far_end_says_holds_its_gate_for_every_job(cell: Cell, shop: Shop, worker_db: Database) -> None:
    app = Leasehold()

    @app.handler("t.call", gate=HOST)
    async def call(ctx: Context) -> None:
        if ctx.attempt == 1 and not said:
            said.append(ctx.job_id)
            raise Retry("too many requests", after=0.5, gate=True)

    said: list[object] = []
    gates = Gates(worker_db, cell.tenant_a)
    await gates.set(HOST, rate=1, per_s=0.02)  # one at a time, so that the first is told before the second goes
    async with running(cell, app):
        first = await shop.enqueue("t.call")
        await shop.attempted(first)
        others = await shop.enqueue_many("t.call", [None] * 3)
        assert [(await shop.ended(job_id)).state for job_id in (first, *others)] == [State.SUCCEEDED] * 4
    [told] = await cell.look(
        "select finished_at + interval '0.5 s' as at from leasehold.attempt where outcome = 'errored'"
    )
    early = f"select job_id from leasehold.attempt where outcome = 'succeeded' and started_at < '{told['at']}'"
    assert await cell.look(early) == []
