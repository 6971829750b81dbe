"""Flows: what waits for what, what becomes of it, and that it is released once."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Unpack
from uuid import UUID

import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs, maintenance
from leasehold.errors import BadInput, Conflict, LeaseLost, NotFound
from leasehold.features.flows import store as flows
from leasehold.features.flows.model import (
    Flow,
    Parent,
    Piece,
    Policy,
    approval,
    chain,
    chord,
    group,
    plain_prepare,
    sleep,
    step,
    wait_for,
)
from leasehold.features.flows.store import Flows
from leasehold.job import AttemptOutcome, ClaimedJob
from leasehold.typed_options import StepOptions
from tests.cell import Cell
from tests.engine.test_life import end, register
from tests.waiting import eventually


@pytest.fixture
async def worker(worker_db: Database) -> UUID:
    return await register(worker_db, slots=1000)


@pytest.fixture
def mine(cell: Cell, worker_db: Database) -> Flows:
    return Flows(worker_db, cell.tenant_a, lambda: None)


def work(name: str, on_failure: Policy = "fail", **options: Unpack[StepOptions]) -> Piece:
    return step("t.work", name=name, on_failure=on_failure, **options)


async def claim(db: Database, worker: UUID, n: int = 100) -> list[ClaimedJob]:
    return await jobs.claim(db, worker, ["default"], n)


async def states(mine: Flows, flow_id: UUID) -> dict[str | None, str]:
    return {one.name: one.state for one in await mine.steps(flow_id)}


async def names(mine: Flows, flow_id: UUID, grants: list[ClaimedJob]) -> list[str | None]:
    """Of the steps that were granted."""
    name = {one.job_id: one.name for one in await mine.steps(flow_id)}
    return [name[grant.job_id] for grant in grants]


async def run_all(db: Database, worker: UUID) -> list[UUID]:
    """Claim and end until nothing is left; in which order."""
    order = []
    while grants := await claim(db, worker):
        for grant in grants:
            order.append(grant.job_id)
            assert await end(db, grant)
    return order


async def test_a_chain_runs_in_order_and_ends_the_flow(mine: Flows, worker_db: Database, worker: UUID) -> None:
    flow_id = await mine.start(chain(work("a"), work("b"), work("c")), name="abc")
    assert await states(mine, flow_id) == {"a": "queued", "b": "blocked", "c": "blocked"}
    for name in "abc":
        [grant] = await claim(worker_db, worker)
        assert await names(mine, flow_id, [grant]) == [name]
        await end(worker_db, grant)
    flow = await mine.get(flow_id)
    assert (flow.state, flow.reason, flow.counts, flow.name) == ("succeeded", None, {"succeeded": 3}, "abc")


async def test_the_next_step_is_granted_by_the_exchange_that_ends_the_last(
    mine: Flows, worker_db: Database, worker: UUID
) -> None:
    await mine.start(chain(work("a"), work("b")))
    [grant] = await claim(worker_db, worker)
    refused, grants = await jobs.exchange(
        worker_db, worker, ["default"], 5, [AttemptOutcome(token=grant.token, outcome="succeeded")]
    )
    assert (refused, len(grants)) == (set(), 1)


async def test_results_of_parents_reach_their_child(mine: Flows, worker_db: Database, worker: UUID) -> None:
    await mine.start(chain(group(work("a"), work("b")), group(work("c"), work("d"))))  # a join stands between
    for grant in await claim(worker_db, worker):
        await end(worker_db, grant, result=f'"{grant.job_id}"')
    for grant in await claim(worker_db, worker):
        parents: list[Parent] = await flows.list_parents(worker_db, grant.token)
        assert [(one.name, one.state, one.result) for one in parents] == [
            ("a", "succeeded", str(parents[0].job_id)),
            ("b", "succeeded", str(parents[1].job_id)),
        ]
        await end(worker_db, grant)


async def test_an_empty_group_is_no_hindrance(mine: Flows, worker_db: Database, worker: UUID) -> None:
    assert (await mine.get(await mine.start(group()))).state == "succeeded"
    flow_id = await mine.start(chord([], work("callback")))
    assert await states(mine, flow_id) == {"callback": "queued"}
    flow_id = await mine.start(chain(work("a"), group(), work("b")))
    assert await states(mine, flow_id) == {"a": "queued", "b": "blocked"}


@pytest.mark.parametrize(
    ("policy", "after", "state", "then"),
    [
        ("fail", {"b": "canceled", "c": "canceled"}, "failed", 0),
        ("skip", {"b": "skipped", "c": "skipped"}, "succeeded", 0),
        ("continue", {"b": "queued", "c": "blocked"}, "succeeded", 2),
    ],
)
async def test_the_policy_of_an_edge_decides_when_a_parent_fails(
    mine: Flows, worker_db: Database, worker: UUID, policy: Policy, after: dict[str, str], state: str, then: int
) -> None:
    flow_id = await mine.start(chain(work("a"), work("b", policy), work("c")))
    [grant] = await claim(worker_db, worker)
    await end(worker_db, grant, "failed")
    assert await states(mine, flow_id) == {"a": "failed"} | after
    assert len(await run_all(worker_db, worker)) == then
    flow = await mine.get(flow_id)
    assert flow.state == state
    assert flow.reason == ("step a is failed" if state == "failed" else None)


async def test_a_failure_stops_what_has_not_started_and_asks_what_runs(
    cell: Cell, mine: Flows, worker_db: Database, worker: UUID
) -> None:
    flow_id = await mine.start(chord([work("a"), work("b"), work("c")], work("d")))
    first, second = await claim(worker_db, worker, 2)
    await end(worker_db, first, "failed")
    await flows.tend_flows(worker_db)
    assert await states(mine, flow_id) == {"a": "failed", "b": "running", "c": "canceled", "d": "blocked"}
    assert (await jobs.get_job(worker_db, cell.tenant_a, second.job_id)).cancel_requested
    flow = await mine.get(flow_id)
    assert (flow.state, flow.stopping) == ("running", True)
    await end(worker_db, second, "canceled")
    assert await states(mine, flow_id) == {"a": "failed", "b": "canceled", "c": "canceled", "d": "canceled"}
    assert (await mine.get(flow_id)).state == "failed"


async def test_a_barrier_waits_for_all_and_is_released_once(mine: Flows, worker_db: Database, worker: UUID) -> None:
    flow_id = await mine.start(chord([work(f"p{n}") for n in range(40)], work("sum")))
    grants = await claim(worker_db, worker)
    await asyncio.gather(*(end(worker_db, grant) for grant in grants))  # on four connections at once
    await flows.tend_flows(worker_db)
    [barrier] = await claim(worker_db, worker)
    assert await names(mine, flow_id, [barrier]) == ["sum"]
    assert len(await flows.list_parents(worker_db, barrier.token)) == 40
    await end(worker_db, barrier)
    assert (await mine.get(flow_id)).counts == {"succeeded": 41}


async def test_the_last_two_at_once_leave_the_barrier_to_the_next_look(
    cell: Cell, mine: Flows, worker_db: Database, worker: UUID
) -> None:
    flow_id = await mine.start(chord([work("a"), work("b")], work("sum")))
    first, second = await claim(worker_db, worker)
    async with worker_db.transaction() as one, worker_db.transaction() as two:
        for connection, grant in ((one, first), (two, second)):
            ended = AttemptOutcome(token=grant.token, outcome="succeeded")
            assert await jobs.finish(worker_db, [ended], connection=connection) == {grant.token}
    assert (await states(mine, flow_id))["sum"] == "blocked"
    assert len(await cell.look("select * from leasehold.unsettled")) == 1  # of the second; the first saw a free row
    assert await flows.tend_flows(worker_db) == 1
    assert (await states(mine, flow_id))["sum"] == "queued"
    assert len(await claim(worker_db, worker)) == 1


async def test_a_rolled_back_end_does_not_lose_the_barrier(mine: Flows, worker_db: Database, worker: UUID) -> None:
    flow_id = await mine.start(chord([work("a"), work("b")], work("sum")))
    first, second = await claim(worker_db, worker)
    with pytest.raises(ZeroDivisionError):
        async with worker_db.transaction() as connection:
            await jobs.finish(
                worker_db, [AttemptOutcome(token=first.token, outcome="succeeded")], connection=connection
            )
            await end(worker_db, second)  # sees only a row that is being deleted
            raise ZeroDivisionError
    await flows.tend_flows(worker_db)
    assert (await states(mine, flow_id))["sum"] == "blocked"
    await end(worker_db, first)
    assert (await states(mine, flow_id))["sum"] == "queued"


async def test_steps_are_added_in_the_transaction_that_ends_their_step(
    mine: Flows, worker_db: Database, worker: UUID
) -> None:
    flow_id = await mine.start(chain(work("find"), work("sum")))
    [grant] = await claim(worker_db, worker)
    pages = group(step("t.page", {"n": n}) for n in range(3))
    async with worker_db.transaction() as connection:
        await flows.add_steps(worker_db, grant.token, pages, plain_prepare, connection=connection)
        await jobs.finish(worker_db, [AttemptOutcome(token=grant.token, outcome="succeeded")], connection=connection)
    assert (await states(mine, flow_id))["sum"] == "blocked"
    grants = await claim(worker_db, worker)
    assert [one.kind for one in grants] == ["t.page"] * 3
    async with worker_db.transaction() as connection:  # one of them finds two more
        more = chain(step("t.page"), step("t.page"))
        await flows.add_steps(worker_db, grants[0].token, more, plain_prepare, connection=connection)
        await jobs.finish(
            worker_db, [AttemptOutcome(token=grants[0].token, outcome="succeeded")], connection=connection
        )
    for one in grants[1:]:
        await end(worker_db, one)
    assert [len(await run_all(worker_db, worker)), (await mine.get(flow_id)).state] == [3, "succeeded"]
    with pytest.raises(LeaseLost):
        async with worker_db.transaction() as connection:
            await flows.add_steps(worker_db, grant.token, more, plain_prepare, connection=connection)


async def test_an_added_step_needs_a_name_of_its_own(mine: Flows, worker_db: Database, worker: UUID) -> None:
    await mine.start(chain(work("find"), work("sum")))
    [grant] = await claim(worker_db, worker)
    with pytest.raises(Conflict, match="a step named 'sum' already"):
        async with worker_db.transaction() as connection:
            await flows.add_steps(worker_db, grant.token, work("sum"), plain_prepare, connection=connection)


async def test_a_job_outside_a_flow_has_no_parents_and_adds_no_steps(
    cell: Cell, worker_db: Database, worker: UUID
) -> None:
    await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ["{}"], {})
    [grant] = await claim(worker_db, worker)
    assert await flows.list_parents(worker_db, grant.token) == []
    with pytest.raises(Conflict, match="no step of a flow"):
        async with worker_db.transaction() as connection:
            await flows.add_steps(worker_db, grant.token, work("x"), plain_prepare, connection=connection)


async def test_the_delay_of_a_kind_begins_when_the_turn_of_its_step_comes(
    cell: Cell, mine: Flows, worker_db: Database, worker: UUID
) -> None:
    await register(worker_db, kinds={"t.slow": {"delay_s": 60}})
    moment = await worker_db.value("now") + timedelta(seconds=90)
    parts = group(
        step("t.slow", name="kind's"),
        step("t.slow", name="none", delay=0),
        step("t.slow", name="then", run_at=moment),
    )
    flow_id = await mine.start(chain(work("first"), parts))
    await cell.pass_time(100)  # before that, no delay has begun
    await end(worker_db, (await claim(worker_db, worker))[0])
    at_once = await claim(worker_db, worker)
    assert set(await names(mine, flow_id, at_once)) == {"none", "then"}
    await cell.pass_time(61)
    await maintenance.dispatch_due_jobs(worker_db)
    assert await names(mine, flow_id, await claim(worker_db, worker)) == ["kind's"]


async def test_what_a_step_cannot_have_is_refused(mine: Flows) -> None:
    with pytest.raises(BadInput, match="step 1 of kind t.work cannot have the option 'unique'") as problem:
        await mine.start(chain(work("a"), work("b", unique="u")))  # type: ignore[call-arg]
    assert "enqueue a job outside the flow" in str(problem.value.hint)
    for option in ({"on_duplicate": "push"}, {"key_window_s": 5}, {"key": "k"}):
        with pytest.raises(BadInput, match="option"):
            await mine.start(work("a", **option))


async def test_steps_keep_their_groups_and_delays(cell: Cell, mine: Flows, worker_db: Database, worker: UUID) -> None:
    lined = group(work("one", group="g"), work("two", group="g"), work("later", delay=60))
    flow_id = await mine.start(chain(work("a"), lined))
    [grant] = await claim(worker_db, worker)
    await end(worker_db, grant)
    assert await states(mine, flow_id) == {
        "a": "succeeded", "one": "blocked", "two": "blocked", "later": "scheduled"
    }  # fmt: skip
    [first] = await claim(worker_db, worker)
    await end(worker_db, first)
    [second] = await claim(worker_db, worker)
    await end(worker_db, second)
    assert await names(mine, flow_id, [first, second]) == ["one", "two"]
    assert (await states(mine, flow_id))["later"] == "scheduled"
    await cell.pass_time(61)
    await maintenance.dispatch_due_jobs(worker_db)
    assert len(await run_all(worker_db, worker)) == 1
    assert (await mine.get(flow_id)).state == "succeeded"


async def test_a_step_that_expired_counts_as_not_succeeded(
    cell: Cell, mine: Flows, worker_db: Database, worker: UUID
) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=60)
    flow_id = await mine.start(chain(work("a", expires_at=soon), work("b")))
    await cell.pass_time(120)
    assert await claim(worker_db, worker) == []
    assert await states(mine, flow_id) == {"a": "canceled", "b": "canceled"}
    assert (await mine.get(flow_id)).state == "failed"


async def test_a_canceled_flow_ends_when_what_runs_has_ended(mine: Flows, worker_db: Database, worker: UUID) -> None:
    flow_id = await mine.start(chord([work("a"), work("b")], work("sum")))
    [grant] = await claim(worker_db, worker, 1)
    assert await mine.cancel(flow_id, "no longer wanted") == "requested"
    assert await states(mine, flow_id) == {"a": "running", "b": "canceled", "sum": "blocked"}
    await end(worker_db, grant)
    flow = await mine.get(flow_id)
    assert (flow.state, flow.reason, flow.counts) == ("canceled", "no longer wanted", {"succeeded": 1, "canceled": 2})
    assert await mine.cancel(flow_id) == "canceled"
    assert await claim(worker_db, worker) == []


async def test_a_single_step_is_canceled_after_what_it_waits_for(
    cell: Cell, mine: Flows, worker_db: Database, worker: UUID
) -> None:
    flow_id = await mine.start(chain(work("a"), work("b"), work("c", "continue")))
    steps = {one.name: one.job_id for one in await mine.steps(flow_id)}
    assert await jobs.cancel(worker_db, cell.tenant_a, steps["b"]) == "requested"
    [grant] = await claim(worker_db, worker)
    await end(worker_db, grant)
    assert await states(mine, flow_id) == {"a": "succeeded", "b": "canceled", "c": "queued"}


async def test_a_cancel_waits_for_a_release_under_way_and_none_waits_for_a_cancel(
    cell: Cell, mine: Flows, worker_db: Database, worker: UUID
) -> None:
    async def started() -> tuple[UUID, UUID, ClaimedJob]:
        flow_id = await mine.start(chain(work("a"), work("b")))
        [grant] = await claim(worker_db, worker)
        return flow_id, (await mine.steps(flow_id))[1].job_id, grant

    flow_id, step_b, grant = await started()
    async with worker_db.transaction() as connection:
        await jobs.finish(worker_db, [AttemptOutcome(token=grant.token, outcome="succeeded")], connection=connection)
        canceling = asyncio.create_task(jobs.cancel(worker_db, cell.tenant_a, step_b))
        await eventually(lambda: waits_for_lock(cell), what="the cancel that waits")
    assert await canceling == "canceled"
    assert (await mine.get(flow_id)).state == "failed"

    flow_id, step_b, grant = await started()
    async with worker_db.transaction(tenant=cell.tenant_a) as connection:
        await worker_db.call("cancel", step_b, None, connection=connection)
        assert await end(worker_db, grant)
    await flows.tend_flows(worker_db)
    assert await states(mine, flow_id) == {"a": "succeeded", "b": "canceled"}


async def waits_for_lock(cell: Cell) -> bool:
    return bool(
        await cell.look(
            "select l.pid from pg_locks l join pg_stat_activity a on a.pid = l.pid"
            " where not l.granted and a.datname = current_database()"
        )
    )


async def test_steps_are_not_retried_or_moved_on_their_own(
    cell: Cell, mine: Flows, worker_db: Database, worker: UUID
) -> None:
    flow_id = await mine.start(chain(work("a"), work("b")))
    [grant] = await claim(worker_db, worker)
    [_, waits] = await mine.steps(flow_id)
    with pytest.raises(Conflict, match="waits for its flow"):
        await jobs.reschedule(worker_db, cell.tenant_a, waits.job_id, datetime.now(UTC))
    await end(worker_db, grant, "failed")
    with pytest.raises(Conflict, match="retried as a whole"):
        await jobs.retry(worker_db, cell.tenant_a, grant.job_id)


async def test_a_retry_keeps_what_succeeded(cell: Cell, mine: Flows, worker_db: Database, worker: UUID) -> None:
    flow_id = await mine.start(chain(work("a"), group(work("b"), work("c")), work("d"), work("e")))
    [a] = await claim(worker_db, worker)
    await end(worker_db, a)
    b, c = await claim(worker_db, worker)
    await end(worker_db, b)
    await end(worker_db, c, "failed")
    assert (await mine.get(flow_id)).state == "failed"
    assert await mine.retry(flow_id) == 3
    assert await states(mine, flow_id) == {
        "a": "succeeded", "b": "succeeded", "c": "queued", "d": "blocked", "e": "blocked"
    }  # fmt: skip
    [again] = await claim(worker_db, worker)
    assert (again.job_id, again.attempt) == (c.job_id, 2)
    await end(worker_db, again)
    assert len(await run_all(worker_db, worker)) == 2
    assert (await mine.get(flow_id)).state == "succeeded"
    with pytest.raises(Conflict, match="only failed and canceled"):
        await mine.retry(flow_id)
    assert [row["action"] for row in await cell.look("select action from leasehold.audit")] == ["flow.retry"]


async def test_a_flow_past_its_deadline_fails(cell: Cell, mine: Flows, worker_db: Database, worker: UUID) -> None:
    flow_id = await mine.start(flow_with(chain(work("a"), work("b")), deadline=60))
    await flows.tend_flows(worker_db)
    assert (await mine.get(flow_id)).state == "running"
    await cell.pass_time(61)
    await flows.tend_flows(worker_db)
    flow = await mine.get(flow_id)
    assert (flow.state, flow.counts) == ("failed", {"canceled": 2})
    assert "deadline" in str(flow.reason)


def flow_with(part: Piece, **options: object) -> Flow:
    flow = Flow("f", **options)  # type: ignore[arg-type]
    flow.include(part)
    return flow


async def test_events_of_a_flow_are_numbered_without_gaps(mine: Flows, worker_db: Database, worker: UUID) -> None:
    flow_id = await mine.start(chain(work("a"), approval("go on?", name="ask"), work("b")))
    await flows.tend_flows(worker_db)
    [grant] = await claim(worker_db, worker)
    await end(worker_db, grant)
    await flows.tend_flows(worker_db)
    [asked] = await mine.approvals()
    await mine.approve(asked.job_id)
    await run_all(worker_db, worker)
    await flows.tend_flows(worker_db)
    events = await mine.events(flow_id)
    assert [(one.seq, one.type, round(one.progress or 0)) for one in events] == [
        (1, "started", 0), (2, "progress", 33), (3, "waiting", 33), (4, "progress", 100), (5, "succeeded", 100),
    ]  # fmt: skip
    assert [one.type for one in await mine.events(flow_id, after=3)] == ["progress", "succeeded"]
    assert events[2].message == "ask"


async def test_an_approval_holds_no_worker_and_says_who_decided(
    cell: Cell, mine: Flows, worker_db: Database, worker: UUID
) -> None:
    flow_id = await mine.start(chain(approval("start watching?", name="ask", site=7), work("watch")))
    assert await claim(worker_db, worker) == []
    [asked] = await mine.approvals()
    assert (asked.flow_id, asked.payload, asked.expires_at) == (
        flow_id,
        {"message": "start watching?", "site": 7},
        None,
    )
    [reason] = await jobs.explain(worker_db, cell.tenant_a, asked.job_id)
    assert reason.reason == "flow"
    await mine.approve(asked.job_id, "looks fine")
    [grant] = await claim(worker_db, worker)
    [parent] = await flows.list_parents(worker_db, grant.token)
    assert parent.result == {"approved": True, "actor": "leasehold_worker", "note": "looks fine"}
    with pytest.raises(Conflict, match="no approval that waits"):
        await mine.reject(asked.job_id)
    assert [
        (row["action"], row["target"]) for row in await cell.look("select action, target from leasehold.audit")
    ] == [("approval.approve", str(asked.job_id))]


async def test_a_rejection_fails_the_step_and_the_policy_decides(
    mine: Flows, worker_db: Database, worker: UUID
) -> None:
    flow_id = await mine.start(chain(approval("go?", name="ask"), group(work("no", "skip"), work("sorry", "continue"))))
    [asked] = await mine.approvals()
    await mine.reject(asked.job_id, "too dear")
    assert await states(mine, flow_id) == {"ask": "failed", "no": "skipped", "sorry": "queued"}
    steps = {one.name: one.reason for one in await mine.steps(flow_id)}
    assert steps["ask"] == "too dear"


@pytest.mark.parametrize(("default", "state"), [("approve", "succeeded"), ("reject", "failed")])
async def test_an_approval_that_nobody_gave_in_time_is_what_it_is_by_default(
    cell: Cell, mine: Flows, worker_db: Database, default: str, state: str
) -> None:
    flow_id = await mine.start(approval("go?", expires=60, default=default))  # type: ignore[arg-type]
    await flows.tend_flows(worker_db)
    assert (await mine.get(flow_id)).state == "running"
    await cell.pass_time(61)
    await flows.tend_flows(worker_db)
    assert (await mine.get(flow_id)).state == state


async def test_a_sleep_ends_by_the_databases_clock(cell: Cell, mine: Flows, worker_db: Database, worker: UUID) -> None:
    await mine.start(chain(sleep(3600), work("a")))
    assert await flows.tend_flows(worker_db) == 0
    await cell.pass_time(3601)
    assert await flows.tend_flows(worker_db) == 1
    assert len(await claim(worker_db, worker)) == 1


async def test_a_signal_ends_the_step_that_waits_for_it(mine: Flows, worker_db: Database, worker: UUID) -> None:
    await mine.start(chain(wait_for("payment", "order-7", name="paid"), work("ship")))
    assert not await mine.send_signal("payment", "order-8")
    assert await claim(worker_db, worker) == []
    assert await mine.send_signal("payment", "order-7", {"sum": 12})
    [grant] = await claim(worker_db, worker)
    [parent] = await flows.list_parents(worker_db, grant.token)
    assert parent.result == {"sum": 12}


async def test_a_signal_that_came_first_is_kept_for_one_step(mine: Flows, worker_db: Database, worker: UUID) -> None:
    assert not await mine.send_signal("payment", "order-7", 1)
    await mine.start(chain(wait_for("payment", "order-7"), work("ship")))
    assert len(await claim(worker_db, worker)) == 1
    await mine.start(chain(wait_for("payment", "order-7"), work("ship")))
    assert await claim(worker_db, worker) == []


async def test_a_signal_and_a_step_that_miss_each_other_are_brought_together(
    mine: Flows, cell: Cell, worker_db: Database, worker: UUID
) -> None:
    async with worker_db.transaction(tenant=cell.tenant_a) as connection:
        await worker_db.call("send_signal", "payment", "k", "{}", connection=connection)
        await mine.start(chain(wait_for("payment", "k"), work("ship")))
    assert await claim(worker_db, worker) == []
    assert await flows.tend_flows(worker_db) == 1
    assert len(await claim(worker_db, worker)) == 1


async def test_a_signal_without_a_key_is_for_its_flow(cell: Cell, mine: Flows, worker_db: Database) -> None:
    flow_id = await mine.start(wait_for("go", timeout=60))
    assert await mine.send_signal("go", flow_id)
    assert (await mine.get(flow_id)).state == "succeeded"
    flow_id = await mine.start(wait_for("go", timeout=60))
    await cell.pass_time(61)
    await flows.tend_flows(worker_db)
    assert (await mine.get(flow_id)).reason == "step flow.signal is failed"


async def test_tenants_neither_see_nor_decide_nor_signal_each_others(
    cell: Cell, mine: Flows, worker_db: Database
) -> None:
    flow_id = await mine.start(chain(approval("go?"), wait_for("go", "k")))
    [asked] = await mine.approvals()
    theirs = Flows(worker_db, cell.tenant_b, lambda: None)
    assert (await theirs.list(), await theirs.approvals()) == ([], [])
    for refused in (
        theirs.get(flow_id), theirs.steps(flow_id), theirs.cancel(flow_id), theirs.retry(flow_id),
        theirs.events(flow_id), theirs.approve(asked.job_id), theirs.reject(asked.job_id),
    ):  # fmt: skip
        with pytest.raises(NotFound):
            await refused
    await mine.approve(asked.job_id)
    assert not await theirs.send_signal("go", "k")
    assert (await mine.get(flow_id)).state == "running"


async def test_steps_are_listed_as_they_were_written_page_after_page(mine: Flows) -> None:
    flow_id = await mine.start(chain(approval("a"), work("b"), approval("c"), work("d")))
    first = await mine.steps(flow_id, limit=3)
    rest = await mine.steps(flow_id, after=first[-1].job_id)
    assert [one.name for one in (*first, *rest)] == ["flow.approval", "b", "flow.approval-3", "d"]


async def test_what_cannot_be_is_refused_with_a_sentence(cell: Cell, mine: Flows, worker_db: Database) -> None:
    async def ask(steps: str, name: str = "f") -> None:
        await worker_db.call("start_flow", name, steps, "{}", tenant=cell.tenant_a)

    for steps, why in {
        '[{"kind": "t.work", "after": [0]}]': "does not stand before it",
        '[{"kind": "t.work", "after": [-1]}]': "does not stand before it",
        '[{"kind": "t.work", "on_failure": "explode"}]': "not fail, skip or continue",
        '[{"kind": "t.work", "name": "x"}, {"kind": "t.work", "name": "x"}]': "same name",
        '[{"kind": "t.work", "wait": {"seconds": 1}}]': "waits for nothing",
        '[{"kind": "flow.sleep", "wait": {}}]': "either seconds or until",
        '[{"kind": "flow.nap"}]': "waits for nothing",
        '[{"kind": "flow.signal", "wait": {"signal": "NO"}}]': "no name of a signal",
        '[{"kind": "flow.approval", "wait": {"by_default": "maybe"}}]': "approve or reject",
        '[{"kind": "t.work", "options": {"wats": 1}}]': "no option 'wats'",
        '[{"kind": "Bad"}]': "not of the form",
        '{"kind": "t.work"}': "a list",
        '["t.work"]': "a step is an object",
    }.items():
        with pytest.raises(BadInput, match=why):
            await ask(steps)
    with pytest.raises(BadInput, match="no name of a flow"):
        await ask("[]", "No Name")
    with pytest.raises(BadInput, match="no option 'waits'"):
        await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ["{}"], {"waits": True})
    assert await mine.list() == []
