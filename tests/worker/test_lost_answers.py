"""The answer to an exchange is lost: what it granted is not left lying, what it reported is not reported as lost."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from leasehold.engine import jobs
from leasehold.errors import Unreachable
from leasehold.job import State
from leasehold.metrics import LoopLag
from leasehold.program.app import Leasehold
from leasehold.program.context import Context
from tests.cell import Cell
from tests.engine.test_life import enqueue
from tests.waiting import eventually
from tests.worker.running import FAST, running


async def test_grants_that_were_never_seen_go_back_and_run(
    cell: Cell, worker_db: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = Leasehold()
    ran: list[int] = []
    lost: list[Any] = []
    real = jobs.exchange

    @app.handler("t.work")
    async def work(ctx: Context) -> None:
        ran.append(ctx.attempt)

    async def losing(*args: Any) -> Any:
        answer = await real(*args)
        if answer[1] and not lost:
            lost.extend(answer[1])
            raise Unreachable("the connection broke after the commit")
        return answer

    monkeypatch.setattr(jobs, "exchange", losing)
    ids = await enqueue(worker_db, cell.tenant_a, 3)
    async with running(cell, app):

        async def all_ended() -> bool:
            found = [await jobs.get_job(worker_db, cell.tenant_a, job_id) for job_id in ids]
            return all(job.state is State.SUCCEEDED for job in found)

        await eventually(all_ended, what="all three ended")
    assert lost
    assert ran == [1, 1, 1], "given back uncounted"
    histories = [await jobs.list_attempts(worker_db, cell.tenant_a, job_id) for job_id in ids]
    outcomes = sorted(attempt.outcome for history in histories for attempt in history)
    assert outcomes == sorted(["released"] * len(lost) + ["succeeded"] * 3)


async def test_an_end_whose_answer_was_lost_is_not_called_a_lost_lease(
    cell: Cell, worker_db: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    app, lost = Leasehold(), asyncio.Event()
    real = jobs.exchange

    @app.handler("t.work")
    async def work(ctx: Context) -> None: ...

    async def losing(*args: Any) -> Any:
        answer = await real(*args)
        if args[-1] and not lost.is_set():
            lost.set()
            raise Unreachable("the connection broke after the commit")
        return answer

    monkeypatch.setattr(jobs, "exchange", losing)
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    async with running(cell, app):
        await asyncio.wait_for(lost.wait(), 20)
    assert [a.outcome for a in await jobs.list_attempts(worker_db, cell.tenant_a, job_id)] == ["succeeded"]
    assert "finish refused" not in caplog.text


async def test_an_end_that_never_arrived_and_came_too_late_again_is_fenced_and_counted_as_that(
    cell: Cell, worker_db: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The history has the attempt, but as lost: that is not our report."""
    app, lost = Leasehold(), asyncio.Event()
    real = jobs.exchange

    @app.handler("t.work")
    async def work(ctx: Context) -> None: ...

    async def losing(*args: Any) -> Any:
        if args[-1] and not lost.is_set():
            await cell.change("select leasehold.lose(array(select token from leasehold.lease))")
            lost.set()
            raise Unreachable("the connection broke before the message arrived")
        return await real(*args)

    monkeypatch.setattr(jobs, "exchange", losing)
    [job_id] = await enqueue(worker_db, cell.tenant_a)
    async with running(cell, app, replace(FAST, worker_port=0)) as worker:

        async def ended() -> bool:
            return (await jobs.get_job(worker_db, cell.tenant_a, job_id)).state is State.SUCCEEDED

        await eventually(ended, what="the second attempt")
        counted = {(one.name, one.labels.get("outcome")): one.value for one in worker.samples(LoopLag())}
    assert [a.outcome for a in await jobs.list_attempts(worker_db, cell.tenant_a, job_id)] == ["lost", "succeeded"]
    assert (counted["fenced_total", None], counted["attempts_total", "succeeded"]) == (1, 1)
    assert "finish refused" in caplog.text
