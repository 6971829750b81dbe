"""Attempts in processes of their own: whatever happens to them, the worker lives and the reason is told."""

import os
from dataclasses import replace
from typing import Any

import pytest

from leasehold.job import State
from tests.cell import Cell
from tests.waiting import eventually
from tests.worker.apps import app
from tests.worker.conftest import Lines
from tests.worker.running import FAST, Shop, running


async def test_an_isolated_handler_has_everything_another_has(cell: Cell, shop: Shop, log_lines: Lines) -> None:
    async with running(cell, app):
        job = await shop.run("i.fine", {"number": 7})
        again = await shop.run("i.fine", {"number": 8})
    assert job.state is State.SUCCEEDED, job.error
    assert job.result["pid"] not in (os.getpid(), again.result["pid"])
    assert (job.result["order"], job.result["attempt"], job.result["job"]) == ({"number": 7}, 1, str(job.job_id))
    assert [(e.progress, e.message) for e in await shop.events(job.job_id, "progress")] == [(50, "half")]
    [line] = await shop.events(job.job_id, "log")
    assert line.data == {"level": "info", "pid": job.result["pid"]}
    assert log_lines.count("handler says") == 2


async def test_an_isolated_sync_handler_with_a_memory_limit(cell: Cell, shop: Shop) -> None:
    async with running(cell, app):
        job = await shop.run("i.sync", {})
    assert (job.state, job.result) == (State.SUCCEEDED, "sync"), job.error
    assert len(await shop.events(job.job_id, "log")) == 1


async def test_a_handler_that_eats_memory_fails_with_the_reason(cell: Cell, shop: Shop) -> None:
    async with running(cell, app):
        job = await shop.run("i.greedy")
        assert (await shop.run("t.fine")).state is State.SUCCEEDED
    assert job.state is State.DEAD
    error = await shop.error(job.job_id)
    assert (error["type"], error["message"]) == ("MemoryError", "needed more than its 64 MB")


@pytest.mark.parametrize(
    ("how", "state", "type_", "words"),
    [
        ("exit", State.DEAD, "ProcessDied", "exit code 3"),
        ("segfault", State.DEAD, "ProcessDied", "SIGSEGV"),
        ("killed", State.DEAD, "ProcessDied", "SIGKILL (out of memory?)"),
        ("abort", State.DEAD, "ProcessDied", "SIGABRT"),
        ("fail", State.FAILED, "Fail", "on purpose"),
        ("raise", State.DEAD, "ValueError", "an error inside"),
        ("system exit", State.DEAD, "SystemExit", "the handler itself raised SystemExit: 9"),
    ],
)
async def test_the_end_of_a_process_is_the_end_of_one_attempt(
    cell: Cell, shop: Shop, how: str, state: State, type_: str, words: str
) -> None:
    async with running(cell, app):
        job = await shop.run("i.die", how)
        assert (await shop.run("t.fine")).state is State.SUCCEEDED
    assert job.state is state
    error = await shop.error(job.job_id)
    assert (error["type"], words in error["message"]) == (type_, True), error


async def test_a_process_that_never_returns_is_killed_at_the_hard_timeout(cell: Cell, shop: Shop) -> None:
    async with running(cell, app):
        job = await shop.run("i.die", "spin", timeout_s=1.5)
    assert job.state is State.DEAD
    assert (await shop.error(job.job_id))["type"] == "TimeoutError"


@pytest.mark.parametrize(("grace", "state"), [(60.0, State.SUCCEEDED), (0.001, State.CANCELED)], ids=["told", "forced"])
async def test_a_cancel_reaches_the_process(cell: Cell, shop: Shop, grace: float, state: State) -> None:
    async with running(cell, app, replace(FAST, cancel_grace_seconds=grace)):
        job_id = await shop.enqueue("i.wait")

        async def begun() -> Any:
            return await shop.events(job_id, "progress")

        await eventually(begun, what="a word from the process")
        await shop.cancel(job_id)
        assert (await shop.ended(job_id)).state is state


async def test_no_process_is_left_behind(cell: Cell, shop: Shop) -> None:
    async with running(cell, app):
        pids = [(await shop.run("i.fine", {})).result["pid"] for _ in range(2)]
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
