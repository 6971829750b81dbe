"""The database goes away, and comes back: restarts, lost connections, lost answers."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from uuid import UUID

import pytest

from leasehold.database import migrate
from leasehold.database.connection import Limits
from leasehold.database.database import Database, Role, Target
from leasehold.engine import jobs, tenants
from leasehold.errors import LoginRefused, Unreachable
from leasehold.job import Job, State
from leasehold.postgres import Endpoint, Home, Server, ephemeral_home
from leasehold.program.app import Leasehold
from leasehold.program.context import Context
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
            return log_lines.count("exchange failed") > 0

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


LINES = {"database unreachable": 1, "database is back": 1}


def told(log_lines: Lines) -> dict[str, int]:
    """How often each line was written that tells of the database, or of what fails without it."""
    quiet = {"worker started", "worker stopped", "attempt ended", "schedule made"}
    return dict(Counter(line for line, _ in log_lines.lines if line not in quiet))


@asynccontextmanager
async def starting(app: Leasehold, url: str, limits: Limits | None = None) -> AsyncIterator[Worker]:
    """A worker that was started, and may not be registered yet."""
    target = Target(url=url, role=Role.WORKER, limits=limits or Limits())
    async with Database(target) as db:
        worker = Worker(db, app, FAST)
        task = asyncio.create_task(worker.run())
        try:
            yield worker
        finally:
            worker.stop()
            await task


def quick() -> Leasehold:
    app = Leasehold()

    @app.handler("t.quick")
    async def handle(ctx: Context) -> str:
        return "done"

    app.schedule("nightly", "t.quick", cron="0 3 * * *", tenant="a")
    return app


async def test_a_worker_that_starts_before_its_database_waits_for_it(cell: Cell, shop: Shop, log_lines: Lines) -> None:
    async with proxied(cell.url(Role.WORKER)) as (proxy, url):
        proxy.refuses = True
        async with starting(quick(), url) as worker:

            async def says() -> bool:
                return log_lines.count("database unreachable") > 0

            await eventually(says, what="a line about the database")
            assert worker.why_not_ready() == "not registered: is the database there?"
            await asyncio.sleep(1.0)  # for several tries
            proxy.refuses = False
            assert (await shop.run("t.quick")).result == "done"
        assert told(log_lines) == LINES


async def test_a_worker_that_waits_for_its_database_stops_when_it_is_told_to(cell: Cell, log_lines: Lines) -> None:
    async with proxied(cell.url(Role.WORKER)) as (proxy, url):
        proxy.refuses = True
        async with asyncio.timeout(20), starting(quick(), url) as worker:
            worker.stop()
    assert log_lines.count("worker stopped") == 1


@pytest.mark.parametrize("words", [b"register_worker", b"sync_schedule"])
async def test_a_worker_whose_registration_is_cut_registers_again(
    cell: Cell, shop: Shop, log_lines: Lines, words: bytes
) -> None:
    async with proxied(cell.url(Role.WORKER)) as (proxy, url):
        proxy.lose(words)
        async with starting(quick(), url):
            assert (await shop.run("t.quick")).result == "done"
        assert proxy.lost_messages == 1
    assert log_lines.count("database unreachable") == log_lines.count("database is back") == 1


async def test_a_worker_whose_login_is_refused_at_its_start_ends(cell: Cell) -> None:
    target = Target(url=f"{cell.url(Role.WORKER)}_that_is_not_there", role=Role.WORKER)
    async with Database(target) as db:
        with pytest.raises(LoginRefused):
            await Worker(db, quick(), FAST).run()


async def test_an_outage_is_one_line_and_its_end_another(cell: Cell, shop: Shop, log_lines: Lines) -> None:
    async with proxied(cell.url(Role.WORKER)) as (proxy, url), starting(quick(), url):
        assert (await shop.run("t.quick")).result == "done"
        await asyncio.sleep(FAST.poll_seconds * 10)  # until all that it does beside has begun
        proxy.refuses = True
        proxy.cut()
        await asyncio.sleep(3 * FAST.beat_seconds)
        proxy.refuses = False
        assert (await shop.run("t.quick")).result == "done"
        assert told(log_lines) == LINES


@pytest.mark.long
async def test_a_worker_goes_on_when_its_connections_carry_nothing_any_more(
    cell: Cell, shop: Shop, log_lines: Lines
) -> None:
    app = quick()
    holding, half_open = asyncio.Event(), asyncio.Event()

    @app.handler("t.holds", retry_base_s=0.05)
    async def holds(ctx: Context) -> str:
        async with ctx.transaction() as tx:
            await tx.execute("select 1")
            if ctx.attempt == 1:
                holding.set()
                await half_open.wait()
            await tx.execute("select 2")
            return await tx.complete("through")

    limits = Limits(connect_seconds=5.0, call_seconds=1.0, long_call_seconds=1.0)
    async with proxied(cell.url(Role.WORKER)) as (proxy, url), starting(app, url, limits):
        job_id = await shop.enqueue("t.holds")
        await holding.wait()
        proxy.abandon()
        half_open.set()
        assert (await shop.ended(job_id)).result == "through"
        assert await shop.history(job_id) == [(1, "errored"), (2, "succeeded")]


async def _history(target: Target, tenant: UUID, job_id: UUID) -> list[tuple[int, str]]:
    async with Database(target) as db:
        return [(a.attempt, a.outcome) for a in await jobs.list_attempts(db, tenant, job_id)]
