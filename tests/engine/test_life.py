"""The functions called by the bare driver: one job through its life."""

from typing import Any
from uuid import UUID

import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs, leases, maintenance
from leasehold.errors import BadInput, LeaseLost, NotFound, WorkerLost
from leasehold.job import AttemptOutcome, ClaimedJob, State
from tests.cell import Cell


async def register(db: Database, **options: object) -> UUID:
    values = {"name": "w", "version": "0", "queues": ["default"], "kinds": {}, "slots": 10, "lease_s": 60.0} | options
    return await leases.register_worker(db, **values)  # type: ignore[arg-type]


async def enqueue(db: Database, tenant: UUID, n: int = 1, **options: Any) -> list[UUID]:
    return [job.job_id for job in await jobs.enqueue(db, tenant, "t.work", ["{}"] * n, options)]


async def end(db: Database, grant: ClaimedJob, outcome: str = "succeeded", **values: object) -> bool:
    return grant.token in await jobs.finish(db, [AttemptOutcome(token=grant.token, outcome=outcome, **values)])  # type: ignore[arg-type]


async def test_a_job_is_claimed_once_and_succeeds(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    [job_id] = await enqueue(worker_db, cell.tenant_a)

    [grant] = await jobs.claim(worker_db, worker, ["default"], 10)
    assert await jobs.claim(worker_db, worker, ["default"], 10) == []
    assert (grant.job_id, grant.tenant_id, grant.attempt) == (job_id, cell.tenant_a, 1)
    assert (await jobs.get_job(worker_db, cell.tenant_a, job_id)).state is State.RUNNING

    assert await end(worker_db, grant, "succeeded", result='{"answer": 42}')
    job = await jobs.get_job(worker_db, cell.tenant_a, job_id)
    assert (job.state, job.result, job.attempt) == (State.SUCCEEDED, {"answer": 42}, 1)


async def test_only_the_first_finish_of_a_token_is_accepted(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    assert await end(worker_db, grant, "succeeded")
    assert not await end(worker_db, grant, "failed")
    assert (await jobs.get_job(worker_db, cell.tenant_a, job_id)).state is State.SUCCEEDED
    assert len(await jobs.list_attempts(worker_db, cell.tenant_a, job_id)) == 1


@pytest.mark.parametrize(
    ("outcome", "state", "counted"),
    [
        ("succeeded", State.SUCCEEDED, 1),
        ("failed", State.FAILED, 1),  # permanent: no second attempt although four are left
        ("errored", State.SCHEDULED, 1),  # backs off
        ("lost", State.QUEUED, 1),  # at once
        ("snoozed", State.SCHEDULED, 0),  # does not count
        ("released", State.SCHEDULED, 0),  # does not count
        ("canceled", State.CANCELED, 1),
    ],
)
async def test_the_outcome_of_an_attempt_decides_the_state_of_the_job(
    cell: Cell, worker_db: Database, outcome: str, state: State, counted: int
) -> None:
    worker = await register(worker_db)
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await end(worker_db, grant, outcome, delay_s=30.0 if outcome in ("snoozed", "released") else None)
    job = await jobs.get_job(worker_db, cell.tenant_a, job_id)
    assert (job.state, job.attempt) == (state, counted)


async def test_errors_back_off_and_end_dead(cell: Cell, worker_db: Database) -> None:
    """Delay before attempt k + 1 is uniform in [d/2, d] with d = min(cap, base × 2^(k−1))."""
    worker = await register(worker_db)
    [job_id] = await enqueue(worker_db, cell.tenant_a, max_attempts=5, retry_base_s=10, retry_cap_s=50)
    for attempt, full in enumerate((10, 20, 40, 50), start=1):
        [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
        assert grant.attempt == attempt
        await end(worker_db, grant, "errored", error='{"type": "E", "message": "no"}')
        [row] = await cell.look("select extract(epoch from run_at - leasehold.now()) as delay from leasehold.deferred")
        assert full / 2 - 1 <= row["delay"] <= full
        await cell.pass_time(full)
        assert await maintenance.dispatch_due_jobs(worker_db) == 1
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await end(worker_db, grant, "errored", error='{"type": "E", "message": "no"}')

    job = await jobs.get_job(worker_db, cell.tenant_a, job_id)
    attempts = await jobs.list_attempts(worker_db, cell.tenant_a, job_id)
    assert job.state is State.DEAD
    assert job.error == {"type": "E", "message": "no"}
    assert [(a.attempt, a.outcome) for a in attempts] == [(n, "errored") for n in range(1, 6)]


async def test_a_thousand_attempts_do_not_overflow_the_back_off(cell: Cell, worker_db: Database) -> None:
    [job_id] = await enqueue(worker_db, cell.tenant_a, retry_cap_s=60)
    [row] = await cell.look(f"select leasehold.backoff('{job_id}', 1000) as delay")
    assert 30 <= row["delay"] <= 60


async def test_a_delayed_job_waits_for_its_time(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    [job_id] = await enqueue(worker_db, cell.tenant_a, delay_s=60)
    assert (await jobs.get_job(worker_db, cell.tenant_a, job_id)).state is State.SCHEDULED
    assert await maintenance.dispatch_due_jobs(worker_db) == 0
    await cell.pass_time(61)
    assert await maintenance.dispatch_due_jobs(worker_db) == 1
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    assert grant.job_id == job_id


async def test_a_silent_worker_loses_its_leases_and_is_told(cell: Cell, worker_db: Database) -> None:
    silent = await register(worker_db, name="silent", lease_s=60.0)
    lively = await register(worker_db, name="lively", lease_s=600.0)
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    [first] = await jobs.claim(worker_db, silent, ["default"], 1)
    assert await maintenance.rescue_silent_workers(worker_db) == 0

    await cell.pass_time(61)
    assert await maintenance.rescue_silent_workers(worker_db) == 1
    [second] = await jobs.claim(worker_db, lively, ["default"], 1)
    assert (second.job_id, second.attempt) == (job_id, 2)
    assert second.token > first.token

    assert not await end(worker_db, first, "succeeded"), "the zombie's finish is fenced"
    with pytest.raises(WorkerLost):
        await leases.heartbeat(worker_db, silent)
    with pytest.raises(WorkerLost):
        await jobs.claim(worker_db, silent, ["default"], 1)
    assert await end(worker_db, second, "succeeded")
    attempts = await jobs.list_attempts(worker_db, cell.tenant_a, job_id)
    assert [(a.attempt, a.outcome, a.worker) for a in attempts] == [(1, "lost", "silent"), (2, "succeeded", "lively")]


async def test_a_beating_worker_keeps_its_leases(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    await enqueue(worker_db, cell.tenant_a)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await cell.pass_time(59)
    assert await leases.heartbeat(worker_db, worker) == set()
    await cell.pass_time(59)
    assert await maintenance.rescue_silent_workers(worker_db) == 0
    assert await end(worker_db, grant, "succeeded")


async def test_a_lease_past_its_deadline_is_taken_from_a_worker_that_still_beats(
    cell: Cell, worker_db: Database
) -> None:
    worker = await register(worker_db, lease_s=1000.0)
    await enqueue(worker_db, cell.tenant_a, timeout_s=10)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await cell.pass_time(10 + 31)
    assert await maintenance.rescue_orphaned_leases(worker_db) == 1
    assert not await end(worker_db, grant, "succeeded")


async def test_leases_of_a_worker_that_is_not_there_any_more_are_strays(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    await enqueue(worker_db, cell.tenant_a)
    await jobs.claim(worker_db, worker, ["default"], 1)
    await cell.change("delete from leasehold.worker")
    assert await maintenance.rescue_silent_workers(worker_db) == 0
    assert await maintenance.rescue_orphaned_leases(worker_db) == 1


async def test_a_leaving_worker_gives_its_jobs_back_uncounted(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    ids = await enqueue(worker_db, cell.tenant_a, 3)
    await jobs.claim(worker_db, worker, ["default"], 3)
    assert await leases.end_worker(worker_db, worker) == 3
    found = [await jobs.get_job(worker_db, cell.tenant_a, job_id) for job_id in ids]
    assert [(job.state, job.attempt) for job in found] == [(State.QUEUED, 0)] * 3


async def test_a_poison_job_is_dead_after_its_attempts(cell: Cell, worker_db: Database) -> None:
    """Attempts are counted at claim: a job that kills its worker each time does not come back for ever."""
    [job_id] = await enqueue(worker_db, cell.tenant_a, max_attempts=3)
    for _ in range(3):
        worker = await register(worker_db, lease_s=1.0)
        assert len(await jobs.claim(worker_db, worker, ["default"], 1)) == 1
        await cell.pass_time(2)
        assert await maintenance.rescue_silent_workers(worker_db) == 1
    assert (await jobs.get_job(worker_db, cell.tenant_a, job_id)).state is State.DEAD


async def test_ids_grow_in_the_order_of_the_payloads(cell: Cell, worker_db: Database) -> None:
    ids = await enqueue(worker_db, cell.tenant_a, 1000)
    assert ids == sorted(ids)
    assert len(set(ids)) == 1000
    assert {job_id.version for job_id in ids} == {7}


async def test_jobs_of_one_tenant_are_claimed_in_the_order_they_came(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    ids = [*await enqueue(worker_db, cell.tenant_a, 5), *await enqueue(worker_db, cell.tenant_a, 5)]
    assert [grant.job_id for grant in await jobs.claim(worker_db, worker, ["default"], 10)] == ids


async def test_a_tenant_does_not_wait_behind_anothers_backlog(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    await enqueue(worker_db, cell.tenant_a, 1000)
    await enqueue(worker_db, cell.tenant_b, 5)
    grants = await jobs.claim(worker_db, worker, ["default"], 10)
    assert sum(grant.tenant_id == cell.tenant_b for grant in grants) == 5


async def test_higher_priorities_go_first_and_no_priority_starves(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    for priority in range(4):
        await enqueue(worker_db, cell.tenant_a, 1000, priority=priority)
    claimed = [
        job.priority
        for _ in range(800)  # one claim in 48 begins at each lower priority: 800 miss one once in ten million
        for grant in await jobs.claim(worker_db, worker, ["default"], 1)
        for job in [await jobs.get_job(worker_db, cell.tenant_a, grant.job_id)]
    ]
    shares = [claimed.count(priority) for priority in range(4)]
    assert shares[0] > 600
    assert min(shares) > 0


async def test_a_paused_queue_hands_out_nothing(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    await enqueue(worker_db, cell.tenant_a)
    await cell.change("update leasehold.queue set paused = true")
    assert await jobs.claim(worker_db, worker, ["default"], 1) == []


async def test_events_are_numbered_without_a_gap_from_the_first_to_the_outcome(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db)
    [job_id] = await enqueue(worker_db, cell.tenant_a, retry_base_s=0.001)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await jobs.append_event(worker_db, grant.token, "progress", message="half", progress=50)
    await end(worker_db, grant, "errored", error='{"message": "no"}')
    await cell.pass_time(1)
    await maintenance.dispatch_due_jobs(worker_db)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await end(worker_db, grant, "succeeded")

    events = await jobs.events_since(worker_db, cell.tenant_a, job_id)
    assert [(e.seq, e.type) for e in events] == [
        (1, "queued"), (2, "started"), (3, "progress"), (4, "errored"), (5, "started"), (6, "succeeded"),
    ]  # fmt: skip
    assert await jobs.events_since(worker_db, cell.tenant_a, job_id, 4) == events[4:]


async def test_nobody_speaks_for_a_lease_that_is_gone(cell: Cell, worker_db: Database) -> None:
    with pytest.raises(LeaseLost):
        await jobs.append_event(worker_db, 12345, "progress", progress=1)


async def test_kinds_bring_their_own_defaults(cell: Cell, worker_db: Database) -> None:
    await register(
        worker_db, queues=["default", "money"], kinds={"t.work": {"queue": "money", "max_attempts": 2, "priority": 0}}
    )
    [plain] = await enqueue(worker_db, cell.tenant_a)
    [asked] = await enqueue(worker_db, cell.tenant_a, max_attempts=7)
    found = [await jobs.get_job(worker_db, cell.tenant_a, job_id) for job_id in (plain, asked)]
    assert [(j.queue, j.priority, j.max_attempts) for j in found] == [("money", 0, 2), ("money", 0, 7)]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"queue": "nowhere"}, NotFound, "known queues"),
        ({"quue": "default"}, BadInput, "known options"),
        ({"priority": 4}, BadInput, "priority 4"),
        ({"priority": "high"}, BadInput, "high"),
        ({"max_attempts": 0}, BadInput, "max_attempts 0"),
        ({"max_attempts": 99999}, BadInput, "max_attempts 99999"),
        ({"delay_s": -1}, BadInput, "delay_s -1"),
        ({"delay_s": 1e12}, BadInput, "ten years"),
        ({"run_at": "next tuesday"}, BadInput, "next tuesday"),
        ({"run_at": "9999-01-01"}, BadInput, "ten years"),
        ({"timeout_s": 0}, BadInput, "timeout_s 0"),
        ({"retry_base_s": -5}, BadInput, "retry_base_s"),
    ],
)
async def test_options_that_cannot_be_are_refused_by_name(
    cell: Cell, worker_db: Database, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as problem:
        await enqueue(worker_db, cell.tenant_a, **options)
    assert words in f"{problem.value} {getattr(problem.value, 'hint', '')}"
    assert await cell.look("select * from leasehold.job") == []


@pytest.mark.parametrize("kind", ["", "work", "Work.It", "a..b", "a.b;drop", "x" * 101 + ".y"])
async def test_kinds_are_of_the_form_pack_dot_verb(cell: Cell, worker_db: Database, kind: str) -> None:
    with pytest.raises(BadInput):
        await jobs.enqueue(worker_db, cell.tenant_a, kind, ["{}"], {})


async def test_an_unknown_tenant_is_not_found(worker_db: Database) -> None:
    with pytest.raises(NotFound):
        await enqueue(worker_db, UUID(int=7))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"queue": "mail", "priority": 0, "max_attempts": 2, "timeout_s": 7.5, "retry_base_s": 2.0, "retry_cap_s": 9.0},
        {"version": 3, "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
        {"tags": ["a", "b"]},
        {"delay_s": 60},
        {"group": "g"},
        {"gate": "host:x"},
    ],
    ids=str,
)
async def test_a_job_alone_is_like_one_of_many(cell: Cell, worker_db: Database, options: dict[str, Any]) -> None:
    """Those that are asked for one by one have a way of their own into the tables."""
    await register(worker_db, queues=["default", "mail"], kinds={"t.work": {"max_attempts": 7, "timeout_s": 30}})
    [alone] = await enqueue(worker_db, cell.tenant_a, **options)
    [_, second] = await enqueue(worker_db, cell.tenant_a, 2, **options)
    assert await everything_of(cell, alone) == await everything_of(cell, second)


async def everything_of(cell: Cell, job_id: UUID) -> list[dict[str, Any]]:
    """Its rows without what differs between two jobs: ids, moments, places in line."""
    tables = ("job", "ready", "deferred", "blocked")
    found = [
        {"table": table} | row
        for table in tables
        for row in await cell.look(f"select * from leasehold.{table} where job_id = '{job_id}'")
    ]
    unlike = {"job_id", "created_at", "run_at", "pass", "seq", "xid"}
    return [{name: value for name, value in row.items() if name not in unlike} for row in found]


async def test_a_plain_end_is_like_one_that_says_more(cell: Cell, worker_db: Database) -> None:
    """finish has a short way for attempts that just succeeded; one that asks for a delay as well goes the long way."""
    worker = await register(worker_db)
    made = await enqueue(worker_db, cell.tenant_a, 2)
    plain, other = await jobs.claim(worker_db, worker, ["default"], 2)
    ends = [
        AttemptOutcome(token=plain.token, outcome="succeeded"),
        AttemptOutcome(token=other.token, outcome="succeeded", delay_s=0.0),
    ]
    for ended in ends:
        assert await jobs.finish(worker_db, [ended]) == {ended.token}
        assert await jobs.finish(worker_db, [ended]) == set()
    rows = []
    for job_id in made:
        [attempt] = await cell.look(f"select * from leasehold.attempt where job_id = '{job_id}'")
        [outcome] = await cell.look(f"select * from leasehold.outcome where job_id = '{job_id}'")
        assert attempt["xid"] == outcome["xid"] > attempt["started_xid"]
        assert attempt["finished_at"] == outcome["finished_at"] > attempt["started_at"]
        own = ("job_id", "token", "finished_at", "xid")
        rows.append([{name: value for name, value in row.items() if name not in own} for row in (attempt, outcome)])
    assert rows[0] == rows[1]
    assert await cell.look("select * from leasehold.lease") == []
