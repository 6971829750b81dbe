"""Flows on a real worker: results reach children, steps are added as a step ends, waits hold nobody."""

from typing import Any

import pytest

from leasehold.database.database import Database, Role
from leasehold.features.flows.model import approval, chain, group, sleep, step
from leasehold.features.flows.store import Flows
from leasehold.program.app import Leasehold
from leasehold.program.context import Context, SyncContext
from leasehold.program.outcomes import Fail
from tests.cell import Cell
from tests.waiting import eventually
from tests.worker import apps
from tests.worker.running import running

app = Leasehold()


@app.handler("t.find")
async def find(ctx: Context, count: int) -> int:
    async with ctx.transaction() as tx:
        await tx.add(group(step("t.page", n) for n in range(count)))
        return await tx.complete(count)


@app.handler("t.find_sync")
def find_sync(ctx: SyncContext, count: int) -> int:
    with ctx.transaction() as tx:
        tx.add(group(step("t.page", n) for n in range(count)))
        return tx.complete(count)


@app.handler("t.begin")
async def begin(ctx: Context, fails: bool) -> str:
    async with ctx.transaction() as tx:
        flow_id = await tx.start(chain(step("t.page", 2), step("t.page", 3)), name="begun")
        if fails:
            raise Fail("the flow goes with it")
        return await tx.complete(str(flow_id))


@app.handler("t.begin_sync")
def begin_sync(ctx: SyncContext, fails: bool) -> str:
    with ctx.transaction() as tx:
        flow_id = tx.start(step("t.page", 2), name="begun")
        return tx.complete(str(flow_id))


@app.handler("t.page")
async def page(ctx: Context, n: int) -> int:
    return n * n


@app.handler("t.sum")
async def total(ctx: Context) -> dict[str, Any]:
    parents = await ctx.parents()
    return {"sum": sum(one.result for one in parents if one.kind == "t.page"), "parents": len(parents)}


@app.handler("t.sum_sync")
def total_sync(ctx: SyncContext) -> dict[str, Any]:
    return {"sum": sum(one.result for one in ctx.parents() if one.kind == "t.page"), "parents": len(ctx.results())}


@pytest.fixture
async def flows(cell: Cell, worker_db: Database) -> Flows:
    return Flows(worker_db, cell.tenant_a, lambda: None)


async def result(cell: Cell, flows: Flows, flow_id: Any, name: str) -> Any:
    [one] = [one for one in await flows.steps(flow_id) if one.name == name]
    [row] = await cell.look(f"select result from leasehold.outcome where job_id = '{one.job_id}'")
    return row["result"]


@pytest.mark.parametrize("suffix", ["", "_sync"])
async def test_a_handler_fans_out_and_another_sums_up(cell: Cell, flows: Flows, suffix: str) -> None:
    async with running(cell, app):
        flow_id = await flows.start(chain(step(f"t.find{suffix}", 5), step(f"t.sum{suffix}", name="sum")))
        flow = await flows.wait(flow_id, timeout=60)
        assert (flow.state, flow.counts) == ("succeeded", {"succeeded": 7}), flow
        assert await result(cell, flows, flow_id, "sum") == {"sum": 30, "parents": 6}


async def test_a_handler_starts_a_flow_of_its_own_in_its_transaction_or_not_at_all(cell: Cell, flows: Flows) -> None:
    async with running(cell, app):
        outer = await flows.start(
            chain(step("t.begin", True), step("t.begin", False, on_failure="continue")), name="outer"
        )
        await flows.wait(outer, timeout=60)
        other = await flows.start(step("t.begin_sync", False), name="outer")
        await flows.wait(other, timeout=60)
        begun = await cell.look("select flow_id from leasehold.flow where name = 'begun'")
        assert len(begun) == 2, "the one that failed has started none"
        ends = [await flows.wait(row["flow_id"], timeout=60) for row in begun]
    assert sorted((end.counts or {})["succeeded"] for end in ends) == [1, 2]
    assert {end.state for end in ends} == {"succeeded"}


async def test_events_of_a_flow_are_followed_to_its_end(cell: Cell, flows: Flows) -> None:
    async with running(cell, app):
        flow_id = await flows.start(
            chain(step("t.page", 1), sleep(0.1), approval("go?", name="ask"), step("t.page", 2))
        )
        seen = []
        async for event in flows.follow(flow_id):
            seen.append(event.type)
            if event.message == "ask":
                [asked] = await flows.approvals()
                await flows.approve(asked.job_id, actor="ada")
    assert (seen[0], seen[-1], seen.count("waiting")) == ("started", "succeeded", 2)
    assert (await result(cell, flows, flow_id, "ask"))["actor"] == "ada"


async def test_an_approval_survives_the_worker_that_asked(cell: Cell, flows: Flows) -> None:
    async with running(cell, app):
        flow_id = await flows.start(chain(step("t.page", 1), approval("go?"), step("t.page", 2)))

        async def waits() -> bool:
            return len(await flows.approvals()) == 1

        await eventually(waits, what="the question")
    [asked] = await flows.approvals()
    await flows.approve(asked.job_id)
    async with running(cell, app):
        assert (await flows.wait(flow_id, timeout=60)).state == "succeeded"


async def test_an_isolated_step_hears_of_its_parents(cell: Cell, flows: Flows) -> None:
    async with running(cell, apps.app):
        flow_id = await flows.start(chain(step("t.fine", name="first"), step("i.results", name="second")))
        assert (await flows.wait(flow_id, timeout=60)).state == "succeeded"
    assert (await result(cell, flows, flow_id, "second")).keys() == {"first"}


async def test_an_app_starts_a_flow_with_the_types_of_its_handlers(cell: Cell, flows: Flows) -> None:
    from leasehold.settings import Settings

    asking = Leasehold(Settings(api_url=cell.url(Role.API), tenant="a"))
    asking.include(app)
    async with running(cell, app), asking:
        flow = asking.flow("pages", deadline=600)
        flow.add("t.sum", name="sum", after=[flow.add("t.page", n) for n in range(3)])
        flow_id = await flow.start()
        assert (await flows.wait(flow_id, timeout=60)).name == "pages"
        assert await result(cell, flows, flow_id, "sum") == {"sum": 5, "parents": 3}
