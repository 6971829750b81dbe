"""What is kept, where, and for how long: large bodies, partitions, retention, the roll-up."""

import json
from hashlib import sha256

import pytest

from leasehold import json_codec
from leasehold.database.database import Database
from leasehold.engine import jobs, maintenance
from leasehold.errors import NotFound, TooLarge
from leasehold.job import State
from tests.cell import Cell
from tests.engine.test_life import end, enqueue, register

DAY = 86400


async def test_large_payloads_and_results_go_through_bodies(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    large = json_codec.encode({"text": "ä" * 100_000})
    [job] = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", [large], {})
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    assert json.loads(grant.payload) == json.loads(large)
    await end(worker_db, grant, "succeeded", result=large)
    found = await jobs.get_job(worker_db, cell.tenant_a, job.job_id)
    assert found.payload == found.result == json.loads(large)
    [row] = await cell.look("select payload is null as beside from leasehold.job")
    assert row["beside"]
    assert len(await cell.look("select sha256 from leasehold.body")) == 1, "the same bytes are kept once"


async def test_more_than_sixteen_mebibytes_are_refused_by_sql_too(cell: Cell, worker_db: Database) -> None:
    with pytest.raises(TooLarge):
        json_codec.encode("x" * 17_000_000)
    with pytest.raises(TooLarge, match="more than the 16777216"):
        await jobs.enqueue(worker_db, cell.tenant_a, "t.work", [json.dumps("x" * 17_000_000)], {})


async def test_bodies_are_never_shared_between_tenants(cell: Cell, worker_db: Database) -> None:
    digest = await worker_db.value("put_body", b"hello", "text/plain", tenant=cell.tenant_a)
    assert digest == sha256(b"hello").digest()
    [row] = await worker_db.call("get_body", digest, tenant=cell.tenant_a)
    assert (row["bytes"], row["media_type"]) == (b"hello", "text/plain")
    with pytest.raises(NotFound):
        await worker_db.call("get_body", digest, tenant=cell.tenant_b)
    with pytest.raises(TooLarge):
        await worker_db.call("put_body", b"x" * (16 * 1024 * 1024 + 1), "text/plain", tenant=cell.tenant_a)


async def test_todays_jobs_stand_in_todays_partition(cell: Cell, worker_db: Database) -> None:
    await enqueue(worker_db, cell.tenant_a)
    [row] = await cell.look(
        "select tableoid::regclass::text as partition, to_char(created_at at time zone 'UTC', 'YYYYMMDD') as day"
        " from leasehold.job"
    )
    assert row["partition"] == f"leasehold.job_{row['day']}"


async def test_partitions_are_made_ahead_and_only_once(cell: Cell, worker_db: Database) -> None:
    assert await maintenance.make_partitions(worker_db) <= 1, "migration has made them; it may have been yesterday"
    await cell.pass_time(2 * DAY)
    assert await maintenance.make_partitions(worker_db) == 2
    assert await maintenance.make_partitions(worker_db) == 0


async def test_without_upkeep_the_default_partition_catches(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db, lease_s=1e6)
    await cell.pass_time(60 * DAY)
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    assert len(await cell.look("select * from leasehold.job_default")) == 1
    assert await maintenance.make_partitions(worker_db) == 3, "the days ahead, not the one that stands in the default"
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    assert grant.job_id == job_id


async def test_old_days_are_dropped_but_never_a_live_job(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db, lease_s=1e9)
    [done, waiting] = await enqueue(worker_db, cell.tenant_a, 2)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await jobs.append_event(worker_db, grant.token, "progress", progress=10)
    await end(worker_db, grant, "succeeded")
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await end(worker_db, grant, "snoozed", delay_s=200.0 * DAY)

    await cell.pass_time(100 * DAY)
    assert await maintenance.drop_partitions(worker_db, 90) == 4
    with pytest.raises(NotFound):
        await jobs.get_job(worker_db, cell.tenant_a, done)
    assert (await jobs.get_job(worker_db, cell.tenant_a, waiting)).state is State.SCHEDULED
    assert len(await jobs.list_attempts(worker_db, cell.tenant_a, waiting)) == 1

    await cell.pass_time(101 * DAY)
    await maintenance.dispatch_due_jobs(worker_db)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    assert (grant.job_id, grant.attempt) == (waiting, 1)
    await end(worker_db, grant, "succeeded")
    await cell.pass_time(91 * DAY)
    assert await maintenance.purge(worker_db, history_days=90, result_days=7) > 0
    with pytest.raises(NotFound):
        await jobs.get_job(worker_db, cell.tenant_a, waiting)


async def test_results_go_before_the_history_of_their_jobs(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db, lease_s=1e9)
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await end(worker_db, grant, "succeeded", result='{"answer": 42}')
    await cell.pass_time(6 * DAY)
    await maintenance.purge(worker_db, history_days=90, result_days=7)
    assert (await jobs.get_job(worker_db, cell.tenant_a, job_id)).result == {"answer": 42}
    await cell.pass_time(3 * DAY)
    await maintenance.purge(worker_db, history_days=90, result_days=7)
    job = await jobs.get_job(worker_db, cell.tenant_a, job_id)
    assert (job.state, job.result) == (State.SUCCEEDED, None)


async def test_a_result_is_kept_from_its_own_day_on_however_old_its_job_is(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db, lease_s=1e9)
    [job_id] = await enqueue(worker_db, cell.tenant_a, delay_s=20 * DAY)
    await cell.pass_time(21 * DAY)
    await maintenance.purge(worker_db, history_days=90, result_days=7)
    await maintenance.dispatch_due_jobs(worker_db)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await end(worker_db, grant, "succeeded", result="42")
    for result in (42, None):
        await maintenance.purge(worker_db, history_days=90, result_days=7)
        assert (await jobs.get_job(worker_db, cell.tenant_a, job_id)).result == result
        await cell.pass_time(8 * DAY)


async def test_bodies_and_keys_are_collected_when_nobody_needs_them(cell: Cell, worker_db: Database) -> None:
    large = json_codec.encode("x" * 100_000)
    await jobs.enqueue(worker_db, cell.tenant_a, "t.work", [large], {"key_window_s": 60}, keys=["k"])
    await worker_db.value("put_body", b"stray", "text/plain", tenant=cell.tenant_a)
    await cell.pass_time(61)
    await maintenance.purge(worker_db, history_days=90, result_days=7)
    assert await cell.look("select * from leasehold.idempotency") == []
    assert len(await cell.look("select sha256 from leasehold.body")) == 2
    await cell.pass_time(91 * DAY)
    await maintenance.purge(worker_db, history_days=90, result_days=7)
    assert len(await cell.look("select sha256 from leasehold.body")) == 1, "the waiting job keeps its payload"


async def test_the_roll_up_counts_every_attempt_of_every_minute_once(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db, lease_s=1e6)
    for _ in range(3):
        await enqueue(worker_db, cell.tenant_a, 4)
        grants = await jobs.claim(worker_db, worker, ["default"], 4)
        for grant, outcome in zip(grants, ("succeeded", "succeeded", "failed", "canceled"), strict=True):
            await end(worker_db, grant, outcome)
        await cell.pass_time(60)
        await maintenance.roll_up_job_counts(worker_db)
        await maintenance.roll_up_job_counts(worker_db)
    rows = await cell.look("select outcome, sum(n)::int as n from leasehold.stat group by outcome")
    assert {row["outcome"]: row["n"] for row in rows} == {"succeeded": 6, "failed": 3, "canceled": 3}
    minutes = await cell.look("select count(distinct minute) as n from leasehold.stat")
    assert minutes[0]["n"] == 3


async def test_answers_and_tickets_go_when_their_time_is_over(
    cell: Cell, worker_db: Database, api_db: Database
) -> None:
    async with api_db.transaction(tenant=cell.tenant_a) as connection:
        await connection.fetch("select * from leasehold.reserve_request('k', '\\x00', 60)")
        await connection.fetch("select leasehold.store_response('k', 200::smallint, '{}', 'done')")
    [job] = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ["{}"], {})
    await cell.change(
        "insert into leasehold.api_key (key_id, tenant_id, name, scopes, digest, pepper_id, created_by, created_at)"
        f" values (repeat('k', 22), '{cell.tenant_a}', 'n', array['admin'], sha256(''), 'p', 'test', leasehold.now())"
    )
    await api_db.call("create_ticket", b"t", job.job_id, None, "k" * 22, 60.0, tenant=cell.tenant_a)
    left = (
        "select (select count(*) from leasehold.request) as requests,"
        " (select count(*) from leasehold.ticket) as tickets"
    )
    await maintenance.purge(worker_db, history_days=90, result_days=7)
    await worker_db.call("purge_tickets")
    assert await cell.look(left) == [{"requests": 1, "tickets": 1}]
    await cell.pass_time(61)
    await maintenance.purge(worker_db, history_days=90, result_days=7)
    await worker_db.call("purge_tickets")
    assert await cell.look(left) == [{"requests": 0, "tickets": 0}]
