"""A success and its attempt are one row of outcome. Whoever reads attempts sees them all, wherever they are kept."""

import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.job import AttemptOutcome
from tests.cell import Cell
from tests.engine.test_life import end, enqueue, register

OWN_ROWS = "select outcome from leasehold.attempt_row order by token"
ALL = "select outcome, attempt, started_seq, finished_seq from leasehold.attempt order by token"


async def test_a_success_has_no_row_besides_its_outcome(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await end(worker_db, grant, "succeeded")
    assert await cell.look(OWN_ROWS) == []
    assert await cell.look(ALL) == [{"outcome": "succeeded", "attempt": 1, "started_seq": 2, "finished_seq": 3}]
    [attempt] = await jobs.list_attempts(worker_db, cell.tenant_a, job_id)
    [outcome] = await cell.look("select * from leasehold.outcome")
    assert attempt.token == grant.token == outcome["token"]
    assert attempt.outcome == outcome["state"] == "succeeded"


async def test_attempts_before_the_success_have_rows_and_come_first(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    for outcome in ("lost", "released", "succeeded"):
        [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
        await end(worker_db, grant, outcome)
    assert [row["outcome"] for row in await cell.look(OWN_ROWS)] == ["lost", "released"]
    told = await jobs.list_attempts(worker_db, cell.tenant_a, job_id)
    assert [(attempt.attempt, attempt.outcome) for attempt in told] == [(1, "lost"), (2, "released"), (2, "succeeded")]
    job = await jobs.get_job(worker_db, cell.tenant_a, job_id)
    assert (job.attempt, job.started_at) == (2, told[-1].started_at)


async def test_a_job_that_has_not_succeeded_has_no_attempt_in_its_outcome(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    for outcome in ("failed", "canceled", "errored"):
        await enqueue(worker_db, cell.tenant_a, max_attempts=1)
        [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
        await end(worker_db, grant, outcome)
    [waiting] = await enqueue(worker_db, cell.tenant_a)
    await jobs.cancel(worker_db, cell.tenant_a, waiting)
    assert [row["outcome"] for row in await cell.look(ALL)] == ["failed", "canceled", "errored"]
    assert await cell.look("select from leasehold.outcome where token is not null") == []


async def test_a_success_with_something_to_say_keeps_its_words(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    await enqueue(worker_db, cell.tenant_a)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await jobs.finish(worker_db, [AttemptOutcome(token=grant.token, outcome="succeeded", error='{"gate_after_s": 3}')])
    [row] = await cell.look("select outcome, error from leasehold.attempt")
    assert row == {"outcome": "succeeded", "error": {"gate_after_s": 3}}


@pytest.mark.parametrize("rows", [0, 1000])
async def test_the_attempts_of_a_job_are_looked_up_by_the_job(cell: Cell, rows: int) -> None:
    await cell.change(
        "insert into leasehold.outcome (job_id, tenant_id, state, finished_at, seq, token, attempt, worker_id,"
        f" started_at, started_seq) select gen_random_uuid(), '{cell.tenant_a}', 'succeeded', now(), 3, n, 1,"
        f" gen_random_uuid(), now(), 2 from generate_series(1, {rows}) n; analyze leasehold.outcome"
    )
    plan = await cell.plan(
        "select * from unnest(array[gen_random_uuid()]) j(job_id)"
        " left join lateral leasehold.attempts_of(j.job_id) a on a.token = 1",
        "set enable_seqscan = off; set jit = off",
    )
    assert "Function Scan on attempts_of" not in plan
    assert "Seq Scan" not in plan
    for table in ("outcome", "attempt_row"):
        assert f"on {table}_default_pkey" in plan or f"using {table}_default_pkey" in plan, plan
