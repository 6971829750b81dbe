"""An attempt in its task: when its first step runs, and what is left of it at its end."""

import asyncio
import gc
import sys
import weakref
from contextvars import ContextVar
from typing import Any
from uuid import uuid4

import pytest

from leasehold.database.database import Database, Role, Target
from leasehold.job import AttemptOutcome, ClaimedJob
from leasehold.program.app import Leasehold
from leasehold.program.context import Context
from leasehold.program.running_attempt import RunningAttempt, Stop
from leasehold.worker import Worker
from leasehold.worker.attempt import AttemptRunner, run_attempt
from tests.cell import Cell
from tests.worker.running import FAST

user: ContextVar[str] = ContextVar("user", default="nobody")
holder: ContextVar[object] = ContextVar("holder")


class Held:
    """What the context of an attempt holds."""


JOB = ClaimedJob(
    token=1,
    job_id=uuid4(),
    tenant_id=uuid4(),
    kind="t.work",
    queue="default",
    attempt=1,
    max_attempts=3,
    payload="{}",
    version=1,
    timeout_s=60.0,
    traceparent=None,
)


def runner_of(cell: Cell, app: Leasehold) -> tuple[AttemptRunner, asyncio.Queue[AttemptOutcome | None]]:
    """The part of a worker that runs attempts, and the outcomes that it hands on."""
    db = Database(Target(url=cell.url(Role.WORKER), role=Role.WORKER))
    runner = Worker(db, app, FAST)._runner
    outcomes: asyncio.Queue[AttemptOutcome | None] = asyncio.Queue()
    runner.ended = lambda _, outcome: outcomes.put_nowait(outcome)
    return runner, outcomes


@pytest.mark.parametrize(
    ("stop", "outcome"),
    [(Stop.LOST, None), (Stop.RELEASED, None), (Stop.CANCELED, "canceled"), (Stop.TIMED_OUT, "errored")],
)
async def test_an_attempt_that_is_interrupted_before_its_first_step_does_not_call_its_handler(
    stop: Stop, outcome: str | None
) -> None:
    app = Leasehold()

    @app.handler("t.work")
    async def work(ctx: Context) -> None: ...

    async def run_handler(attempt: RunningAttempt, ctx: Context) -> str | None:
        pytest.fail("the handler was called")

    attempt = RunningAttempt(JOB, app.handlers["t.work"])
    attempt.interrupt(stop)
    nothing: Any = None
    found = await run_attempt(attempt, run_handler, nothing)
    assert (found and found.outcome) == outcome


async def test_a_handler_that_never_waits_has_ended_as_it_starts_from_python_3_12_on(cell: Cell) -> None:
    app = Leasehold()
    tasks = []

    @app.handler("t.work")
    async def work(ctx: Context) -> None:
        tasks.append(asyncio.current_task())

    runner, outcomes = runner_of(cell, app)
    assert runner.start(JOB, uuid4())
    assert outcomes.qsize() == (1 if sys.version_info >= (3, 12) else 0)
    outcome = await outcomes.get()
    assert outcome is not None
    assert outcome.outcome == "succeeded"
    assert tasks[0] not in (None, asyncio.current_task()), "it has a task of its own"
    assert not runner.running


async def test_what_a_handler_sets_in_its_context_the_next_one_does_not_see(cell: Cell) -> None:
    app = Leasehold()
    seen = []

    @app.handler("t.work")
    async def work(ctx: Context) -> None:
        seen.append(user.get())
        user.set("anna")
        await asyncio.sleep(0)
        seen.append(user.get())

    runner, outcomes = runner_of(cell, app)
    for token in range(3):
        runner.start(JOB._replace(token=token), uuid4())
        await outcomes.get()
    assert seen == ["nobody", "anna"] * 3
    assert user.get() == "nobody"


@pytest.mark.parametrize("waits", [False, True])
async def test_an_attempt_that_has_ended_is_freed_without_the_garbage_collector(cell: Cell, waits: bool) -> None:
    app = Leasehold()

    @app.handler("t.work")
    async def work(ctx: Context) -> None:
        held = Held()
        holder.set(held)
        left.append(weakref.ref(held))
        if waits:
            await asyncio.sleep(0)

    left: list[weakref.ref[Held]] = []
    runner, outcomes = runner_of(cell, app)
    gc.collect()
    gc.disable()
    try:
        runner.start(JOB, uuid4())
        await outcomes.get()
        await asyncio.sleep(0)
        assert left[0]() is None, "its task, and so its context, is held by a cycle"
    finally:
        gc.enable()


async def test_a_task_that_is_cancelled_in_its_first_step_reports_its_attempt(cell: Cell) -> None:
    app = Leasehold()

    @app.handler("t.work")
    async def work(ctx: Context) -> None:
        task = asyncio.current_task()
        assert task
        task.cancel()
        await asyncio.sleep(10)

    runner, outcomes = runner_of(cell, app)
    runner.start(JOB, uuid4())
    outcome = await outcomes.get()
    assert outcome is not None
    assert outcome.outcome == "errored"
    assert not runner.running
