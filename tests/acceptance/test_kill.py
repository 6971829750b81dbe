"""Workers that are killed, frozen and stopped: real processes, real signals."""

import signal
from typing import Any
from uuid import UUID

import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.errors import LeaseLost
from leasehold.job import AttemptOutcome, State
from leasehold.program.client import Backend, Client
from leasehold.settings import Settings
from tests.cell import Cell
from tests.cli.program import leasehold, started
from tests.waiting import eventually

FAST = {"LEASEHOLD_LEASE_SECONDS": "2", "LEASEHOLD_BEAT_SECONDS": "0.5", "LEASEHOLD_POLL_SECONDS": "0.05"}


def settings(cell: Cell, **more: str) -> dict[str, str]:
    return cell.environment() | FAST | {"LEASEHOLD_TENANT": "a"} | more


async def enqueue_slow(db: Database, cell: Cell, seconds: float) -> UUID:
    [job] = await jobs.enqueue(db, cell.tenant_a, "demo.slow", [f'{{"seconds": {seconds}}}'], {})
    return job.job_id


async def lease_of(cell: Cell, worker: str) -> dict[str, Any] | None:
    """The lease that the worker of this name holds, once its handler has said something."""
    rows = await cell.look(
        "select l.token, l.job_id, l.worker_id from leasehold.lease l join leasehold.worker w using (worker_id)"
        f" where w.name = '{worker}' and l.events > l.started_seq"
    )
    return rows[0] if rows else None


async def works(cell: Cell, worker: str) -> dict[str, Any]:
    async def ask() -> dict[str, Any] | None:
        return await lease_of(cell, worker)

    found = await eventually(ask, what=f"worker {worker} at work")
    assert found is not None
    return found


async def has_state(db: Database, cell: Cell, job_id: UUID, state: State) -> None:
    async def reached() -> bool:
        return (await jobs.get_job(db, cell.tenant_a, job_id)).state is state

    await eventually(reached, what=f"{job_id} {state}")


async def history(db: Database, cell: Cell, job_id: UUID) -> list[tuple[int, str, str]]:
    return [(a.attempt, a.outcome, a.worker) for a in await jobs.list_attempts(db, cell.tenant_a, job_id)]


async def test_the_job_of_a_killed_worker_is_finished_by_another_and_the_dead_ones_words_are_refused(
    cell: Cell, worker_db: Database
) -> None:
    with (
        started("worker", "--name", "first", env=settings(cell)) as first,
        started("worker", "--name", "second", env=settings(cell)) as second,
    ):
        second.said("worker started")
        first.said("worker started")
        second.kill(signal.SIGSTOP)  # so that the first gets the job
        job_id = await enqueue_slow(worker_db, cell, 1.5)
        lease = await works(cell, "first")
        first.kill()
        second.kill(signal.SIGCONT)

        await has_state(worker_db, cell, job_id, State.SUCCEEDED)
        second.stopped()
    assert await history(worker_db, cell, job_id) == [(1, "lost", "first"), (2, "succeeded", "second")]

    assert await jobs.finish(worker_db, [AttemptOutcome(token=lease["token"], outcome="failed")]) == set()
    with pytest.raises(LeaseLost):
        await jobs.append_event(worker_db, lease["token"], "progress", progress=99)
    assert (await jobs.get_job(worker_db, cell.tenant_a, job_id)).state is State.SUCCEEDED
    events = await jobs.events_since(worker_db, cell.tenant_a, job_id)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


async def test_a_worker_that_was_frozen_past_its_lease_is_refused_and_works_on_under_a_new_id(
    cell: Cell, worker_db: Database
) -> None:
    with started("worker", "--name", "frozen", env=settings(cell)) as frozen:
        job_id = await enqueue_slow(worker_db, cell, 1.5)
        old = await works(cell, "frozen")
        frozen.kill(signal.SIGSTOP)
        with started("worker", "--name", "other", env=settings(cell)) as other:
            await works(cell, "other")
            frozen.kill(signal.SIGCONT)
            frozen.said("worker declared lost")
            await has_state(worker_db, cell, job_id, State.SUCCEEDED)
            assert other.stopped().code == 0
        assert await history(worker_db, cell, job_id) == [(1, "lost", "frozen"), (2, "succeeded", "other")]
        assert await jobs.finish(worker_db, [AttemptOutcome(token=old["token"], outcome="failed")]) == set()

        again = await enqueue_slow(worker_db, cell, 0.2)
        await has_state(worker_db, cell, again, State.SUCCEEDED)
        assert await history(worker_db, cell, again) == [(1, "succeeded", "frozen")]
        assert frozen.stopped().code == 0
    ids = await cell.look("select worker_id, ended_at from leasehold.worker where name = 'frozen' order by started_at")
    assert ids[0]["worker_id"] == old["worker_id"]
    assert len(ids) == 2, "it came back once, under one new id"
    assert all(row["ended_at"] for row in ids)


async def test_a_stopping_worker_finishes_what_it_runs(cell: Cell, worker_db: Database) -> None:
    with started("worker", "--name", "w", env=settings(cell)) as worker:
        job_id = await enqueue_slow(worker_db, cell, 1)
        await works(cell, "w")
        assert worker.stopped().code == 0
    assert await history(worker_db, cell, job_id) == [(1, "succeeded", "w")]


async def test_a_worker_whose_terminal_is_closed_finishes_what_it_runs(
    cell: Cell,
    worker_db: Database,
) -> None:
    with started("worker", "--name", "w", env=settings(cell)) as worker:
        job_id = await enqueue_slow(worker_db, cell, 1)
        await works(cell, "w")
        worker.kill(signal.SIGHUP)
        worker.kill(signal.SIGHUP)  # the shell says it, and the kernel
        assert worker.ended().code == 0
    assert await history(worker_db, cell, job_id) == [(1, "succeeded", "w")]


async def test_a_stopping_worker_gives_back_uncounted_what_outlasts_its_grace(
    cell: Cell,
    worker_db: Database,
) -> None:
    with started("worker", "--name", "w", env=settings(cell, LEASEHOLD_GRACE_SECONDS="0.3")) as worker:
        job_id = await enqueue_slow(worker_db, cell, 60)
        await works(cell, "w")
        said = worker.stopped()
    assert (said.code, said.out) == (0, "")
    job = await jobs.get_job(worker_db, cell.tenant_a, job_id)
    assert (job.state, job.attempt) == (State.QUEUED, 0)
    assert await history(worker_db, cell, job_id) == [(1, "released", "w")]
    assert await cell.look("select * from leasehold.lease") == []
    assert await cell.look("select * from leasehold.worker where ended_at is null") == []


async def test_a_second_signal_does_not_wait_for_the_grace(cell: Cell, worker_db: Database) -> None:
    with started("worker", "--name", "w", env=settings(cell, LEASEHOLD_GRACE_SECONDS="600")) as worker:
        job_id = await enqueue_slow(worker_db, cell, 60)
        await works(cell, "w")
        worker.kill(signal.SIGTERM)
        worker.kill(signal.SIGINT)  # not SIGTERM again: the system makes one of two equal signals in one instant
        assert worker.ended(seconds=10).code == 0
    assert await cell.look("select * from leasehold.lease") == []
    assert await history(worker_db, cell, job_id) == [(1, "released", "w")]


async def test_a_followed_job_shows_its_progress_and_its_result(cell: Cell) -> None:
    with started("worker", env=settings(cell)):
        said = leasehold("run", "demo.hello", "name=Ada", "steps=2", "--follow", env=settings(cell))
    assert (said.code, said.out) == (0, "Hello, Ada!\n")
    assert "50 %: step 1 of 2" in said.err
    assert "100 %: step 2 of 2" in said.err
    assert "succeeded" in said.err


async def test_a_followed_job_that_fails_shows_each_attempt_and_ends_with_exit_code_1(
    cell: Cell,
) -> None:
    with started("worker", env=settings(cell)) as worker:
        worker.said("worker started")  # it brings the kind's three attempts and short delays
        said = leasehold("run", "demo.fail", "--follow", env=settings(cell))
    assert (said.code, said.out) == (1, "")
    for attempt in (1, 2, 3):
        assert f"started attempt {attempt}" in said.err
        assert f"attempt {attempt} of 3 failed on purpose" in said.err
    assert "dead after 3 of 3 attempts" in said.err


async def test_ctrl_c_while_following_ends_with_exit_code_130(cell: Cell, api_db: Database) -> None:
    with started("run", "demo.hello", "--follow", env=settings(cell)) as follower:
        follower.said("queued")
        follower.kill(signal.SIGINT)
        said = follower.ended()
    assert said.code == 130
    assert "Traceback" not in said.err
    [job] = await Client(Backend(Settings(), api_db), cell.tenant_a).list_jobs()
    assert job.state is State.QUEUED, "the job does not care who watches it"
