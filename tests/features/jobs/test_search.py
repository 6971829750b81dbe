"""What people look at: the right jobs, for whom they are, and so many rows at most."""

import json
from typing import Any
from uuid import UUID

import pytest

from leasehold.database.database import Database, Role
from leasehold.engine import jobs
from leasehold.errors import BadInput, LeaseholdError, NotFound
from leasehold.features.jobs import store as look
from leasehold.job import State
from tests.cell import Cell
from tests.engine.test_life import end, enqueue, register

#: Jobs in the tables of the test of plans; the bound is the same at any number.
MANY = 50_000
MOST_ROWS = 5000
ROWS_READ = (
    "select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint from pg_stat_xact_user_tables"
    " where schemaname = 'leasehold'"
)


@pytest.fixture
async def operator(cell: Cell) -> Any:
    async with cell.database(Role.OPERATOR, connections=1) as db:
        yield db


async def fail(db: Database, worker: UUID, tenant: UUID, message: str, type_: str = "Broken") -> UUID:
    [job_id] = await enqueue(db, tenant, max_attempts=1)
    [grant] = await jobs.claim(db, worker, ["default"], 1)
    await end(db, grant, "failed", error=json.dumps({"type": type_, "message": message}))
    return job_id


async def found(db: Database, tenant: UUID | None, **filters: str) -> list[UUID]:
    return (await look.find_jobs(db, tenant, filters)).jobs


async def test_a_tenant_sees_its_own_and_the_operator_sees_all(
    cell: Cell, worker_db: Database, api_db: Database, operator: Database
) -> None:
    worker = await register(worker_db)
    broken = await fail(worker_db, worker, cell.tenant_a, "no answer after 30 s")
    [of_a], [of_b] = await enqueue(api_db, cell.tenant_a), await enqueue(api_db, cell.tenant_b)
    assert await found(api_db, cell.tenant_a) == [of_a, broken]
    assert await found(api_db, cell.tenant_b) == [of_b]
    assert await found(operator, None) == [of_b, of_a, broken]
    assert [job.tenant_id for job in await look.see_jobs(operator, None, [of_b, of_a])] == [
        cell.tenant_b,
        cell.tenant_a,
    ]
    assert [job.job_id for job in await look.see_jobs(api_db, cell.tenant_b, [of_b, of_a])] == [of_b]
    assert await look.count_states(api_db, cell.tenant_a) == {"queued": 1, "failed": 1}
    assert await look.count_states(operator, None) == {"queued": 2, "failed": 1}
    assert await look.list_failures(api_db, cell.tenant_b) == []
    assert (await look.oldest_waiting(operator, None)).job_id == of_a  # type: ignore[union-attr]
    assert (await look.oldest_waiting(api_db, cell.tenant_b)).job_id == of_b  # type: ignore[union-attr]
    with pytest.raises(LeaseholdError, match="no tenant is set"):
        await found(api_db, None)


async def test_every_state_and_filter_finds_its_jobs(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db, slots=10)
    outcomes = ("succeeded", "failed", "errored", "canceled", "keep")
    made = await enqueue(worker_db, cell.tenant_a, len(outcomes), max_attempts=1)
    for grant, outcome in zip(await jobs.claim(worker_db, worker, ["default"], 5), outcomes, strict=True):
        if outcome != "keep":
            await end(worker_db, grant, outcome, error='{"type": "T", "message": "the Bank is shut"}')
    [queued] = await enqueue(worker_db, cell.tenant_a, tags=["vip"])
    [later] = await enqueue(worker_db, cell.tenant_a, delay_s=60)
    [first, second] = await enqueue(worker_db, cell.tenant_a, 2, group="g")
    async with cell.database(Role.API) as db:
        expected = {
            State.SUCCEEDED: [made[0]], State.FAILED: [made[1]], State.DEAD: [made[2]], State.CANCELED: [made[3]],
            State.RUNNING: [made[4]], State.QUEUED: [queued], State.SCHEDULED: [later], State.BLOCKED: [second, first],
        }  # fmt: skip
        for state, ids in expected.items():
            assert await found(db, cell.tenant_a, state=state) == ids, state
            assert await found(db, cell.tenant_b, state=state) == []
        assert await found(db, cell.tenant_a, tag="vip") == [queued]
        values: Any = {"order.id": "4711", "vip": "true"}
        [asked] = await jobs.enqueue(db, cell.tenant_a, "t.work", ['{"order": {"id": 4711}, "vip": true}'], {})
        assert await found(db, cell.tenant_a, payload=values) == [asked.job_id]
        assert await found(db, cell.tenant_a, payload=values, kind="t.none") == []
        assert await found(db, cell.tenant_b, payload=values) == []
        assert await found(db, cell.tenant_a, error="bank") == [made[2], made[1]]
        assert await found(db, cell.tenant_a, error="bank", state="dead") == [made[2]]
        assert await found(db, cell.tenant_a, kind="t.none") == []
        with pytest.raises(BadInput, match="there is no filter"):
            await found(db, cell.tenant_a, knd="t.work")


async def test_pages_of_a_search_follow_one_another_through_the_window(cell: Cell, api_db: Database) -> None:
    [oldest] = await enqueue(api_db, cell.tenant_a, tags=["rare"])
    await enqueue(api_db, cell.tenant_a, 30)
    looks, before = 0, None
    while True:
        looks += 1
        rows = await api_db.call("find_jobs", '{"tag": "rare"}', before, 10, 12, tenant=cell.tenant_a)
        before = rows[0]["looked_to"]
        if rows[0]["jobs"]:
            break
    assert (rows[0]["jobs"], looks) == ([oldest], 3)  # 31 jobs, 12 at a time


async def test_errors_of_one_cause_have_one_fingerprint(cell: Cell, worker_db: Database, api_db: Database) -> None:
    worker = await register(worker_db)
    for message in (
        'order 17 of "ada" timed out after 3 s',
        'order 18 of "max" timed out after 30 s',
        "order 0190a000-0000-7000-8000-00000000000a of 'eve' timed out after 4 s",
    ):
        newest = await fail(worker_db, worker, cell.tenant_a, message)
    await fail(worker_db, worker, cell.tenant_a, "something else")
    common, other = await look.list_failures(api_db, cell.tenant_a)
    assert (common.n, common.newest, common.type, other.n) == (3, newest, "Broken", 1)
    assert len(await found(api_db, cell.tenant_a, fingerprint=common.fingerprint)) == 3


async def test_many_are_retried_and_canceled_but_none_of_another_tenant(
    cell: Cell, worker_db: Database, api_db: Database
) -> None:
    worker = await register(worker_db)
    failed = [await fail(worker_db, worker, cell.tenant_a, "x") for _ in range(2)]
    theirs = await fail(worker_db, worker, cell.tenant_b, "x")
    [waits] = await enqueue(api_db, cell.tenant_a)
    everything = [*failed, theirs, waits]
    assert await look.act_on_chosen(api_db, cell.tenant_a, "retry", everything) == 2
    assert await look.act_on_chosen(api_db, cell.tenant_a, "retry", everything) == 0
    assert await look.act_on_chosen(api_db, cell.tenant_a, "cancel", everything, "enough") == 3
    with pytest.raises(BadInput, match="there is no action"):
        await look.act_on_chosen(api_db, cell.tenant_a, "delete", everything)
    assert (await jobs.get_job(api_db, cell.tenant_b, theirs)).state is State.FAILED
    [ended] = await look.see_jobs(api_db, cell.tenant_a, [waits])
    assert (ended.state, ended.error and ended.error["message"]) == (State.CANCELED, "enough")


async def test_a_copy_is_like_the_first_but_for_its_payload_and_key(cell: Cell, api_db: Database) -> None:
    options = {"priority": 1, "max_attempts": 7, "timeout_s": 12.5, "tags": ["vip"], "group": "g", "retry_cap_s": 90}
    [first] = await jobs.enqueue(api_db, cell.tenant_a, "t.work", ['{"n": 1}'], options, keys=["k"])
    copied = await look.copy_job(api_db, cell.tenant_a, first.job_id, {"n": 2})
    same = "kind, queue, priority, max_attempts, timeout_s, retry_cap_s, tags, group_key"
    [one] = await cell.look(f"select distinct {same} from leasehold.job")
    assert one["timeout_s"] == 12.5
    made = await jobs.get_job(api_db, cell.tenant_a, copied)
    assert (made.payload, made.key, made.copied_from) == ({"n": 2}, None, first.job_id)
    with pytest.raises(NotFound):
        await look.copy_job(api_db, cell.tenant_b, first.job_id, {})


async def test_a_copy_has_the_gate_that_the_caller_gave_the_first(cell: Cell, api_db: Database) -> None:
    """Its kind makes none of the payload."""
    [first] = await jobs.enqueue(api_db, cell.tenant_a, "t.work", ["{}"], {"gate": "bank"})
    copied = await look.copy_job(api_db, cell.tenant_a, first.job_id, {"n": 2})
    [row] = await cell.look(f"select gate from leasehold.job where job_id = '{copied}'")
    assert row["gate"] == "bank"


@pytest.fixture
async def full(cell: Cell) -> Cell:
    await fill(cell, MANY)
    return cell


async def fill(cell: Cell, many: int) -> None:
    """Two tenants with so many jobs, most of them succeeded, many in every other state; and flows, gates, minutes."""
    made = "leasehold_test.made"
    part = f"""
      insert into leasehold.job (job_id, tenant_id, kind, queue, priority, payload, created_at, run_at, max_attempts,
        retry_base_s, retry_cap_s, timeout_s, version)
      select leasehold.new_id(n), case when n % 2 = 0 then '{cell.tenant_a}' else '{cell.tenant_b}' end::uuid,
        't.' || n % 7, 'default', 2, '{{}}', now(), now(), 5, 1, 60, 60, 1
      from generate_series(1, {many}) n;
      create table {made} as
        select job_id, tenant_id, row_number() over (order by job_id) as n from leasehold.job;
      insert into leasehold.outcome (job_id, tenant_id, state, finished_at, error, seq)
      select job_id, tenant_id, (array['failed', 'dead', 'canceled'])[1 + n % 3], now(), '{{"type": "T"}}', 3
      from {made} where n % 10 = 0;
      insert into leasehold.outcome (job_id, tenant_id, state, finished_at, seq)
      select job_id, tenant_id, 'succeeded', now(), 3 from {made} where n % 10 between 1 and 6;
      insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events)
      select (select lane from leasehold.lane where priority = 2 limit 1), n, job_id, tenant_id, 0, 5, 1
      from {made} where n % 20 = 7;
      insert into leasehold.deferred (run_at, job_id, tenant_id, lane, attempt, max_attempts, events, why)
      select now() + interval '1 hour', job_id, tenant_id, 1, 0, 5, 1, 'scheduled' from {made} where n % 10 = 8;
      insert into leasehold.blocked (group_id, seq, job_id, tenant_id, lane, attempt, max_attempts, events, group_limit,
        group_hold)
      select n % 5, n, job_id, tenant_id, 1, 0, 5, 1, 1, false from {made} where n % 10 = 9;
      insert into leasehold.gated (gate_id, lane, tenant_id, job_id, attempt, max_attempts, events)
      select leasehold.gate_id(tenant_id, 'host:' || n % 7), 1, tenant_id, job_id, 0, 5, 1 from {made} where n % 20 = 9;
      insert into leasehold.parked (tenant_id, job_id, lane, attempt, max_attempts, events)
      select tenant_id, job_id, 1, 0, 5, 1 from {made} where n % 20 = 17;
      insert into leasehold.waiting (job_id, tenant_id, what, since)
      select job_id, tenant_id, 'approval', now() from {made} where n % 20 = 19;
      insert into leasehold.flow (flow_id, tenant_id, name, state, created_at)
      select job_id, tenant_id, 'f', case n when 1 then 'running' else 'succeeded' end, now()
      from {made} where n % 20 = 1;
      insert into leasehold.step (job_id, flow_id, tenant_id, place, name, what)
      select job_id, (select job_id from {made} where n = 1), tenant_id, n, 's' || n, 'job'
      from {made} where n % 20 = 19;
      insert into leasehold.edge (flow_id, child, parent, on_failure)
      select (select job_id from {made} where n = 1), job_id, (select job_id from {made} where n = 19), 'fail'
      from {made} where n % 20 = 19 and n > 19;
      insert into leasehold.gate_rule (gate, tenant_id, rate, per_s, every, burst, failures, ratio, window_s,
        cooldown_s, probes, updated_at)
      select 'host:' || m, t, 1, 1, '1 second', 1, 5, 0.5, 60, 30, 1, now()
      from generate_series(1, 2000) m, unnest(array['{cell.tenant_a}', '{cell.tenant_b}']::uuid[]) t;
      insert into leasehold.gate_now (gate_id, v, tenant_id, gate, tat, last_at, state, since, probes_left, window_at,
        starts, before_at, before)
      select leasehold.gate_id(tenant_id, gate), 1, tenant_id, gate, now(), now(), 'closed', now(), 0, now(), 0, now(),
        0
      from leasehold.gate_rule;
      insert into leasehold.stat (minute, tenant_id, queue, kind, outcome, n, wait_ms, run_ms)
      select date_trunc('minute', now()) - make_interval(mins => m), t, 'default', 't.' || k, 'succeeded', 1, 1, 1
      from generate_series(1, 200) m, generate_series(1, 20) k,
        unnest(array['{cell.tenant_a}', '{cell.tenant_b}']::uuid[]) t;
      drop table {made};
    """
    await cell.change(part)
    await cell.change("analyze")


async def first_flow(cell: Cell) -> UUID:
    """The one with thousands of steps."""
    [row] = await cell.look("select flow_id from leasehold.flow where state = 'running'")
    await cell.change(f"update leasehold.flow set tenant_id = '{cell.tenant_a}' where flow_id = '{row['flow_id']}'")
    flow_id: UUID = row["flow_id"]
    return flow_id


async def rows_read(full: Cell) -> dict[tuple[str, str], int]:
    """By role and call: the rows that it reads."""
    of_all = [
        "count_states()",
        "list_failures()",
        "list_job_counts(60)",
        "oldest_waiting()",
        *(f"""find_jobs('{{"state": "{state}"}}')""" for state in State),
        *(f"""find_jobs('{{"state": "{state}", "kind": "t.none"}}')""" for state in State),
        "find_jobs()",
        """find_jobs('{"kind": "t.none"}')""",
        """find_jobs('{"payload": {"n": "nowhere"}}')""",
        """find_jobs('{"error": "nowhere"}')""",
        "list_jobs_operator((select jobs from leasehold.find_jobs()))",
        "find_flows()",
        "find_flows('running')",
        "list_flows_operator((select flows from leasehold.find_flows()))",
        "list_approvals(null, 51)",
        "see_lines()",
    ]
    of_one = ["list_gates(null, '', 21, 100)", f"list_steps('{await first_flow(full)}', null, 151)"]
    read: dict[tuple[str, str], int] = {}
    for role, tenant in ((Role.API, full.tenant_a), (Role.OPERATOR, None)):
        async with full.database(role, connections=1) as db:
            for call in of_all + (of_one if tenant else []):
                async with db.transaction(tenant=tenant) as connection:
                    before = await connection.fetchval(ROWS_READ)
                    await connection.fetch(f"select * from leasehold.{call}")
                    read[role, call] = await connection.fetchval(ROWS_READ) - before
    return read


async def test_no_look_reads_more_than_five_thousand_rows(full: Cell) -> None:
    read = await rows_read(full)
    assert {call: n for call, n in read.items() if n > MOST_ROWS} == {}
    assert read[Role.API, "count_states()"] > 1000  # it is counted, indeed
    assert read[Role.OPERATOR, "list_approvals(null, 51)"] > 100  # there are such
