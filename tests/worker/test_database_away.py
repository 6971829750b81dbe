"""The database goes away, and comes back: restarts, lost connections, lost answers."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from uuid import UUID

import pytest

from leasehold.app import Leasehold
from leasehold.context import Context
from leasehold.engine import jobs, migrate, tenants
from leasehold.engine.database import Database, Role, Target
from leasehold.errors import Unreachable
from leasehold.job import Job, State
from leasehold.postgres import Endpoint, Home, Server, ephemeral_home
from leasehold.worker import Worker
from tests.cell import Cell
from tests.waiting import eventually
from tests.worker.conftest import Lines
from tests.worker.proxy import proxied
from tests.worker.running import FAST, Shop, running


async def test_a_report_whose_answer_was_lost_is_sent_again_and_is_no_lost_lease(
    cell: Cell, shop: Shop, log_lines: Lines
) -> None:
    app = Leasehold()
    effects = 0

    @app.handler("t.answer")
    async def answer(ctx: Context) -> str:
        nonlocal effects
        effects += 1
        return "magic-answer"

    async with proxied(cell.url(Role.WORKER)) as (proxy, url), running(cell, app, url=url):
        proxy.lose_answer_to(b"magic-answer")
        job = await shop.run("t.answer")
        assert job.result == "magic-answer"
        assert proxy.lost_answers == 1
        assert (await shop.run("t.answer")).state is State.SUCCEEDED
    assert await shop.history(job.job_id) == [(1, "succeeded")]
    assert effects == 2
    assert log_lines.count("database unreachable") >= 1
    assert log_lines.count("finish refused") == 0


async def test_a_report_that_is_refused_because_the_lease_is_gone_is_logged(
    cell: Cell, shop: Shop, log_lines: Lines
) -> None:
    app = Leasehold()
    started, leave = asyncio.Event(), asyncio.Event()

    @app.handler("t.stolen")
    async def stolen(ctx: Context) -> str:
        started.set()
        await leave.wait()
        return "too late"

    async with running(cell, app):
        job_id = await shop.enqueue("t.stolen", max_attempts=1)
        await started.wait()
        await cell.change(
            "select leasehold.finish(array(select token from leasehold.lease), '{lost}', null, null, null)"
        )
        leave.set()

        async def refused() -> bool:
            return log_lines.count("finish refused") == 1

        await eventually(refused, what="a refused report")
    assert (await shop.get(job_id)).state is State.DEAD


async def test_a_report_that_the_database_refuses_for_a_while_is_made_when_it_takes_it(
    cell: Cell, shop: Shop, log_lines: Lines
) -> None:
    """A deadlock, say; here a trigger that stands in the way."""
    app = Leasehold()

    @app.handler("t.quick")
    async def quick(ctx: Context) -> str:
        return "done"

    refuse = (
        "create or replace function leasehold_test.refuse() returns trigger language plpgsql as $$ begin {}; end $$"
    )
    await cell.change(
        refuse.format("raise exception 'not now' using errcode = '40P01'")
        + "; create trigger refuse before insert on leasehold.outcome for each row"
        " execute function leasehold_test.refuse();"
    )
    async with running(cell, app):
        job_id = await shop.enqueue("t.quick")

        async def failed() -> bool:
            return log_lines.count("database unreachable") > 0

        await eventually(failed, what="a report that failed")
        await cell.change(refuse.format("return new"))  # a trigger could not be dropped without a lock on the table
        assert (await shop.ended(job_id)).result == "done"
    assert await shop.history(job_id) == [(1, "succeeded")]


async def test_attempts_outlive_cut_connections(cell: Cell, shop: Shop) -> None:
    app = Leasehold()
    said = asyncio.Event()

    @app.handler("t.steps")
    async def steps(ctx: Context) -> str:
        for step in range(5):
            await ctx.progress(step * 20)
            said.set()
            await asyncio.sleep(0.1)
        return "all steps"

    async with proxied(cell.url(Role.WORKER)) as (proxy, url), running(cell, app, url=url):
        for _ in range(3):
            said.clear()
            job_id = await shop.enqueue("t.steps")
            await said.wait()
            proxy.cut()
            assert (await shop.ended(job_id)).result == "all steps"
            assert await shop.history(job_id) == [(1, "succeeded")]


async def test_attempts_outlive_terminated_backends(cell: Cell, shop: Shop) -> None:
    app = Leasehold()

    @app.handler("t.step")
    async def step(ctx: Context) -> str:
        await ctx.progress(1)
        await asyncio.sleep(0.2)
        await ctx.progress(2)
        return "done"

    async with running(cell, app):
        job_ids = await shop.enqueue_many("t.step", [None] * 30)
        for _ in range(5):
            for row in await cell.look(
                "select pid from pg_stat_activity where datname = current_database()"
                " and application_name like 'leasehold-worker/%' order by random() limit 2"
            ):
                with suppress(ProcessLookupError):
                    os.kill(row["pid"], signal.SIGTERM)
            await asyncio.sleep(0.1)  # between two faults, not for an effect
        ended = [await _patiently(shop, job_id) for job_id in job_ids]
    assert [job.state for job in ended] == [State.SUCCEEDED] * 30
    [row] = await cell.look("select count(*) as n, count(distinct job_id) as jobs from leasehold.outcome")
    assert row == {"n": 30, "jobs": 30}


async def _patiently(shop: Shop, job_id: UUID) -> Job:
    """The shop's own connection may be the one that was terminated."""
    while True:
        try:
            return await shop.ended(job_id)
        except Unreachable:
            continue


@pytest.fixture
def server() -> Iterator[tuple[Server, Endpoint]]:
    """A PostgreSQL of this test's own, to be restarted."""
    home = Home(ephemeral_home(in_memory=True))
    home.make()
    server = Server(home.path, ephemeral=True)
    try:
        yield server, server.start()
    finally:
        server.stop()
        home.wipe()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["fast stop", "immediate stop"])
async def test_a_worker_survives_the_restart_of_postgresql(
    server: tuple[Server, Endpoint], how: signal.Signals
) -> None:
    postgres, endpoint = server
    await migrate.create_database(endpoint.url(), "restart")
    url = endpoint.url("restart")
    await migrate.migrate(url)
    async with Database(Target(url=url, role=Role.OPERATOR, assume=True)) as db:
        tenant = await tenants.create_tenant(db, "a")
    app = Leasehold()
    started, gone = asyncio.Event(), asyncio.Event()

    @app.handler("t.long")
    async def long(ctx: Context) -> str:
        started.set()
        await gone.wait()
        await ctx.progress(50)  # waits until the database is back
        return "through the restart"

    cell = Cell(cluster=None, name="restart", tenant_a=tenant)  # type: ignore[arg-type]
    target = Target(url=url, role=Role.WORKER, assume=True)
    async with Database(target) as db, Database(target) as mine:
        shop = Shop(mine, cell)
        worker = Worker(db, app, replace(FAST, lease_seconds=20.0))
        task = asyncio.create_task(worker.run())
        job_id = await shop.enqueue("t.long")
        await started.wait()
        os.kill(endpoint.pid, how)
        await asyncio.to_thread(postgres.stop)
        gone.set()
        await asyncio.to_thread(postgres.start)
        job = await _patiently(shop, job_id)
        assert (job.state, job.result) == (State.SUCCEEDED, "through the restart")
        assert (await shop.run("t.long")).state is State.SUCCEEDED
        worker.stop()
        await task
    assert (await _history(target, tenant, job_id)) == [(1, "succeeded")]


async def _history(target: Target, tenant: UUID, job_id: UUID) -> list[tuple[int, str]]:
    async with Database(target) as db:
        return [(a.attempt, a.outcome) for a in await jobs.list_attempts(db, tenant, job_id)]
