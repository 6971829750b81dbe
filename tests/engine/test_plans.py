"""The hot functions keep their plans and their promises, whatever the planner is told and however full tables are."""

from uuid import UUID, uuid4

import pytest

from leasehold.database import sql_files
from leasehold.database.database import Database
from leasehold.engine import jobs
from tests.cell import Cell
from tests.engine.test_life import enqueue, register

SWITCHES = [
    "enable_seqscan", "enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan", "enable_tidscan", "enable_sort",
    "enable_nestloop", "enable_hashjoin", "enable_mergejoin", "enable_material", "enable_hashagg",
]  # fmt: skip


@pytest.mark.parametrize("switch", SWITCHES)
async def test_claim_takes_exactly_n_under_a_hostile_planner(cell: Cell, worker_db: Database, switch: str) -> None:
    """`where id in (select … limit 5 for update skip locked)` once took a thousand rows under a nested loop."""
    worker = await register(worker_db, slots=1000)
    await enqueue(worker_db, cell.tenant_a, 300)
    async with worker_db.transaction() as connection:
        await connection.execute(f"set local {switch} = off")
        rows = await connection.fetch("select * from leasehold.claim($1, array['default'], 5)", worker)
    assert len(rows) == 5
    tokens = [row["token"] for row in rows]
    async with worker_db.transaction() as connection:
        await connection.execute(f"set local {switch} = off")
        accepted = await connection.fetchval(
            "select leasehold.finish($1, $2, null, null, null)", tokens[:3], ["succeeded", "errored", "released"]
        )
    assert sorted(accepted) == sorted(tokens[:3])
    assert len(await jobs.list_jobs(worker_db, cell.tenant_a, {"state": "running"})) == 2


#: By which a row of ready is found, whether it is placed or not.
BY_JOB = ["job_default_pkey", "lane_queue_priority_key", "ready_pkey", "ready_job"]
#: By which it is found in every other place.
BY_PLACE = [
    "outcome_default_pkey", "lease_job_id_key", "parked_job_id_key", "deferred_job_id_key", "blocked_job_id_key",
    "waiting_pkey", "gated_job_id_key",
]  # fmt: skip
#: The statements at the heart of the hot functions, with a fixed value for each variable.
STATEMENTS = {
    "claim: rows": (
        "select r.ctid from leasehold.ready r where r.lane = 2 and r.pass >= 0 order by r.pass limit 100"
        " for update skip locked",
        ["ready_pkey"],
    ),
    "enqueue: newest pass of the tenant": (
        "select pass from leasehold.ready where lane = 2 and (tenant_id, pass) > ('{tenant}', 0)"
        " and (tenant_id, pass) <= ('{tenant}', 9223372036854775807) order by tenant_id desc, pass desc nulls last"
        " limit 1",
        ["ready_tenant"],
    ),
    "enqueue plainly: newest pass of the tenant": (
        "select pass from leasehold.ready where lane = 2 and tenant_id = '{tenant}' and pass > 0"
        " order by pass desc nulls last limit 1",
        ["ready_tenant"],
    ),
    "claim for one tenant: rows": (
        "select r.ctid from leasehold.ready r where r.lane = 2"
        " and (r.tenant_id, r.pass) >= ('{tenant}', 0) and (r.tenant_id, r.pass) <= ('{tenant}', 9223372036854775807)"
        " order by r.tenant_id, r.pass nulls first limit 100 for update skip locked",
        ["ready_tenant"],
    ),
    "finish: leases": (
        "delete from leasehold.lease l using ("
        " select token from unnest(array[1, 2, 3]::bigint[]) g(token) order by token) g where l.token = g.token",
        ["lease_pkey"],
    ),
    "finish plainly: leases": (
        "delete from leasehold.lease l where l.token = any(array[1, 2, 3]::bigint[])",
        ["lease_pkey"],
    ),
    "claim: whether a lane is empty": (
        "select (select r.lane from leasehold.ready r where r.lane = l.lane and r.pass >= f.floor"
        " order by r.pass limit 1) from leasehold.lane l"
        " cross join lateral (select pg_sequence_last_value(l.floor) - 1 as floor offset 0) f"
        " where l.queue = any(array['default'])",
        ["ready_pkey"],
    ),
    "promote: due": (
        "select ctid from leasehold.deferred where run_at <= now() order by run_at limit 100 for update skip locked",
        ["deferred_pkey"],
    ),
    "cancel: ready by job": (
        "delete from leasehold.ready where ctid = (select spot from leasehold.ready_of('{job}'))",
        BY_JOB,
    ),
    "state: wherever the job is": (
        "select w.state from leasehold.job j"
        " cross join lateral leasehold.whereabouts_at(j.job_id, j.queue, j.priority, j.pass,"
        " '{job}', '{job}') w where j.job_id = '{job}'",
        [*BY_JOB[1:], *BY_PLACE],
    ),
    "heads: wherever the jobs are": (
        "select w.job_id, w.events, w.place = 'outcome' from leasehold.whereabouts(array['{job}']::uuid[]) w",
        [*BY_JOB, *BY_PLACE],
    ),
    "start: others of a group": (
        "select exists (select from leasehold.ready r where r.job_id = p.job_id and r.attempt = 0 and not r.placed)"
        " from leasehold.place p where p.group_id = 1",
        ["ready_job"],
    ),
    "beat: cancels of a worker": (
        "select token from leasehold.lease where worker_id = '{tenant}' and cancel_requested",
        ["lease_cancel"],
    ),
}
PINNED = (
    "set enable_seqscan = off; set enable_bitmapscan = off; set enable_hashjoin = off; set enable_mergejoin = off;"
    " set jit = off; set plan_cache_mode = force_generic_plan"
)


def test_the_statements_here_are_those_of_the_functions() -> None:
    texts = " ".join(" ".join(file.text.split()) for file in sql_files.read_all())
    for part in (
        "where r.lane = p_lane and r.pass >= p_start and r.ctid <> all(p_not) order by r.pass"
        " limit p_n for update skip locked",
        "where r.lane = p_lane and (r.tenant_id, r.pass) > (t.tenant_id, p_clock)",
        "g(token, outcome, result, error, delay_s) order by token ) g where l.token = g.token",
        "where l.token = any(p_tokens)",
        "where r.lane = l.lane and r.pass >= f.ahead order by r.pass limit 1",
        "where r.lane = l.lane and r.pass >= f.floor order by r.pass limit 1",
        "where r.lane = p_lane.lane and r.tenant_id = p_tenant and r.pass > v_clock"
        " order by r.pass desc nulls last limit 1",
        "(r.tenant_id, r.pass) <= (p_tenant, 9223372036854775807) order by r.tenant_id, r.pass nulls first",
        "where run_at <= v_now order by run_at limit p_limit for update skip locked",
        "delete from leasehold.ready where ctid = (select spot from leasehold.ready_of(p_job))",
        "cross join lateral leasehold.whereabouts_at(j.job_id, j.queue, j.priority, j.pass, v_from, v_to) w",
        "select w.job_id, w.events, w.place = 'outcome' from leasehold.whereabouts(p_jobs) w",
        "exists (select from leasehold.ready r where r.job_id = p.job_id and r.attempt = 0 and not r.placed)",
        "where worker_id = p_worker and cancel_requested",
    ):
        assert part in texts


async def fill(cell: Cell, rows: int) -> None:
    """So many jobs that wait: of ten, nine stand where they were enqueued and one came back."""
    await cell.change(
        "with made as materialized (select i, gen_random_uuid() as job_id, case when i % 10 > 0 then i end as pass"
        f" from generate_series(1, {rows}) i), job as (insert into leasehold.job (job_id, tenant_id, kind, queue,"
        " priority, payload, created_at, run_at, max_attempts, retry_base_s, retry_cap_s, timeout_s, version, xid,"
        f" pass) select job_id, '{cell.tenant_a}', 't.work', 'default', 2, '{{}}', now(), now(), 5, 1, 1, 1, 1, 0, pass"
        " from made)"
        " insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, placed)"
        f" select 2, i, job_id, '{cell.tenant_a}', 0, 5, 1, pass is not null from made"
    )


@pytest.mark.parametrize("rows", [0, 1000, pytest.param(1_000_000, marks=pytest.mark.long)])
async def test_the_hot_statements_walk_their_indexes_at_any_size(cell: Cell, worker_db: Database, rows: int) -> None:
    await fill(cell, rows)
    for analyze in (False, True):
        if analyze:
            await cell.change("analyze leasehold.ready; analyze leasehold.job")
        for name, (statement, indexes) in STATEMENTS.items():
            plan = await cell.plan(statement.format(tenant=cell.tenant_a, job=uuid4()), PINNED)
            for index in indexes:
                assert f"using {index}" in plan, f"{name} with {rows} rows, analyzed: {analyze}\n{plan}"
            assert "Seq Scan" not in plan


#: What a person or a caller asks about a job that waits. Some are planned by the server as it
#: likes.
LOOKS = {
    "cancel": "select leasehold.cancel('{job}')",
    "reschedule": "select leasehold.reschedule('{job}', now() + interval '1 hour')",
    "get": "select leasehold.get_job('{job}')",
    "stream": "select leasehold.job_heads(array['{job}']::uuid[])",
    "hold": "select leasehold.lock_job('{job}')",
}


@pytest.mark.parametrize("rows", [1000, pytest.param(1_000_000, marks=pytest.mark.long)])
async def test_one_job_that_waits_is_found_without_a_look_at_the_others(
    cell: Cell, api_db: Database, rows: int
) -> None:
    await fill(cell, rows)
    for analyze in (False, True):
        if analyze:
            await cell.change("analyze leasehold.ready; analyze leasehold.job")
        for name, statement in LOOKS.items():
            for placed in (True, False):
                [row] = await cell.look(f"select job_id from leasehold.ready where placed = {placed} limit 1")
                async with api_db.transaction(tenant=cell.tenant_a) as connection:
                    before = await connection.fetchval(READ)
                    await connection.execute(statement.format(job=UUID(row["job_id"])))
                    read = await connection.fetchval(READ) - before
                assert 0 < read <= 3, f"{name} of {rows} jobs, placed: {placed}, analyzed: {analyze}"


#: Rows of ready that this session has read and not yet reported.
READ = "select seq_tup_read + idx_tup_fetch from pg_stat_xact_all_tables where relid = 'leasehold.ready'::regclass"


async def test_every_hot_function_pins_its_plans(cell: Cell) -> None:
    rows = await cell.look(
        "select proname, proconfig from pg_proc where pronamespace = 'leasehold'::regnamespace"
        " and proname in ('exchange', 'finish', 'insert_jobs',"
        " 'dispatch_due_jobs', 'advance_lane_floor')"
    )
    assert len(rows) == 5
    for row in rows:
        assert {"enable_seqscan=off", "enable_indexscan=on", "jit=off", "plan_cache_mode=force_generic_plan"} <= set(
            row["proconfig"]
        ), row["proname"]


async def test_functions_that_should_vanish_into_their_callers_do(cell: Cell) -> None:
    """One word of theirs too strict, and each call is parsed and planned anew: that was a third of an enqueue once."""
    functions = await cell.look(
        "select proname, array_agg(a.type::regtype::text order by a.o) as types from pg_proc"
        " left join lateral unnest(proargtypes) with ordinality a(type, o) on true"
        " where pronamespace = 'leasehold'::regnamespace and not proretset"
        " and proname in ('bell', 'first_id_of_day', 'gate_id', 'group_id', 'is_kind', 'micros', 'new_id', 'new_token')"
        " group by proname"
    )
    assert len(functions) == 8
    for function in functions:
        columns = ", ".join(
            f"null::{type_} as a{number}" for number, type_ in enumerate(filter(None, function["types"]))
        )
        arguments = ", ".join(f"a{number}" for number, _ in enumerate(filter(None, function["types"])))
        call = (
            f"(verbose) select leasehold.{function['proname']}({arguments}) from (select {columns or '1'} offset 0) x"
        )
        plan = await cell.plan(call, "set jit = off")
        assert f"leasehold.{function['proname']}(" not in plan, plan


async def test_a_sequences_last_value_can_be_read(cell: Cell) -> None:
    """pg_sequence_last_value(regclass) is what the view pg_sequences calls; it is not documented by itself."""
    [row] = await cell.look("select pg_sequence_last_value('leasehold.clock_2'::regclass) as clock")
    assert row["clock"] == 1
