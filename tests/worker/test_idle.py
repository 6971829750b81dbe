"""One leader looks for all workers; the others sleep until they are told, and no job waits for a long poll."""

import asyncio
import os
import signal
import uuid
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from leasehold.database.database import Database, Role, Target
from leasehold.engine import leases
from leasehold.features.flows.model import chain, step
from leasehold.features.limits.store import pause_queue
from leasehold.job import State
from leasehold.program.app import Leasehold
from leasehold.program.client import Backend, Client
from leasehold.program.context import Context
from leasehold.program.outcomes import Retry
from leasehold.settings import Settings
from leasehold.worker.worker import Worker
from tests.cell import Cell
from tests.cli.program import started
from tests.http.conftest import PEPPER
from tests.waiting import eventually
from tests.worker.proxy import proxied
from tests.worker.running import ENVIRONMENT, FAST, Shop, running

LEADER = "select w.name from leasehold.duty d join leasehold.worker w using (worker_id) where d.until > leasehold.now()"
#: Nothing that is late by less than this was found by a poll.
LONG_POLL = replace(FAST, poll_seconds=30.0)
FAR_LESS_SECONDS = 10.0


def app(*queues: str) -> Leasehold:
    app = Leasehold()
    for queue in queues or ("quick",):

        async def quick(ctx: Context) -> None: ...

        app.handler(f"t.{queue}", queue=queue)(quick)
    return app


async def leader(cell: Cell) -> str:
    async def ask() -> Any:
        rows = await cell.look(LEADER)
        return rows and rows[0]["name"]

    return str(await eventually(ask, what="a leader"))


async def hears(worker: Worker) -> None:
    await asyncio.wait_for(worker._listener.listening.wait(), 60)


async def nobody_leads_here(cell: Cell) -> None:
    """Somebody who does nothing has the lead."""
    await cell.change(
        f"insert into leasehold.duty values ('leader', '{uuid.uuid4()}', leasehold.now() + interval '1 h')"
        " on conflict (duty) do update set worker_id = excluded.worker_id, until = excluded.until"
    )


async def late_by(shop: Shop, cell: Cell, job_id: UUID, since: datetime | None = None) -> float:
    """Seconds from the moment that the job could run, or another one, to the start of its newest attempt."""
    job = await shop.ended(job_id)
    assert job.state is State.SUCCEEDED
    [row] = await cell.look(
        f"select extract(epoch from max(started_at) - '{since or job.run_at}') as late"
        f" from leasehold.attempt where job_id = '{job_id}'"
    )
    return float(row["late"])


async def transactions(cell: Cell) -> int:
    """Of the cell's database so far, asked for from another one."""
    connection = await asyncpg.connect(cell.cluster.url("postgres", Role.OPERATOR))
    try:
        query = "select xact_commit + xact_rollback from pg_stat_database where datname = $1"
        return int(await connection.fetchval(query, cell.name))
    finally:
        await connection.close()


@pytest.mark.long
async def test_ten_workers_and_a_server_at_rest_make_two_transactions_a_second(cell: Cell) -> None:
    env = cell.environment() | {"LEASEHOLD_TENANT": "a", "LEASEHOLD_KEY_PEPPER": PEPPER}
    with ExitStack() as stack:
        server = stack.enter_context(started("serve", "--port", "0", env=env))
        program = stack.enter_context(started("worker", "tests.worker.apps:app", "--processes", "10", env=env))
        server.said("serving")

        async def all_there() -> bool:
            return len(await cell.look("select from leasehold.worker where ended_at is null")) == 10

        await eventually(all_there, what="ten workers")
        await leader(cell)
        await asyncio.sleep(12)  # what comes with a start: each may have to lead; a database tells of it 10 s late
        before = await transactions(cell)
        await asyncio.sleep(60)  # some is done once a minute
        rate = (await transactions(cell) - before) / 60
        print(f"{rate:.2f} transactions a second at rest")
        assert rate <= 2.0
        program.stopped()


@pytest.mark.long
async def test_another_worker_takes_the_maintenance_of_a_leader_that_was_killed(cell: Cell, shop: Shop) -> None:
    slow = {"LEASEHOLD_POLL_SECONDS": "30", "LEASEHOLD_LEASE_SECONDS": "60"}
    env = cell.environment() | ENVIRONMENT | slow
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(started("worker", "tests.worker.apps:app", env=env))

        async def both() -> bool:
            query = (
                "select from pg_stat_activity where datname = current_database() and application_name like '%-listen'"
            )
            return len(await cell.look(query)) == 2

        await eventually(both, what="two workers that listen")
        first = await leader(cell)
        os.kill(int(first.rsplit("-", 1)[1]), signal.SIGKILL)
        job_id = await shop.enqueue("t.fine", delay_s=1)
        assert await late_by(shop, cell, job_id) < 2 * FAR_LESS_SECONDS, "a term of the lead and a beat"
        assert await leader(cell) != first


async def test_a_leader_that_leaves_is_followed_at_once(cell: Cell) -> None:
    async with running(cell, app(), LONG_POLL, name="second") as second:
        await hears(second)
        await nobody_leads_here(cell)
        [row] = await cell.look("select worker_id from leasehold.duty where duty = 'leader'")
        async with cell.database(Role.WORKER, connections=1) as db:
            await leases.end_worker(db, UUID(row["worker_id"]))
        assert await leader(cell) == "second"


async def test_a_worker_that_hears_sleeps_and_one_that_lost_its_wake_ups_polls_at_once(cell: Cell, shop: Shop) -> None:
    await nobody_leads_here(cell)
    async with proxied(cell.url(Role.WORKER)) as (proxy, url), Database(through(cell, url)) as db:
        worker = Worker(db, app(), FAST)
        task = asyncio.create_task(worker.run())
        try:
            await hears(worker)
            await asyncio.sleep(0.2)  # what it looks at because it hears again
            job_id = await shop.enqueue("t.quick")
            await asyncio.sleep(10 * FAST.poll_seconds)
            assert (await shop.get(job_id)).state is State.QUEUED, "it polls although it hears"
            proxy.refuses = True
            proxy.cut()
            assert (await shop.ended(job_id)).state is State.SUCCEEDED
            assert (await shop.run("t.quick")).state is State.SUCCEEDED, "it polls as long as it hears nothing"
        finally:
            worker.stop()
            await task


def through(cell: Cell, url: str) -> Target:
    """Where only the wake-ups go through the proxy."""
    return replace(cell.database(Role.WORKER).target, listen_url=url)


async def test_work_that_nobody_was_told_of_is_found_by_the_leader_for_a_worker_that_sleeps(
    cell: Cell, shop: Shop
) -> None:
    async with running(cell, app("other"), LONG_POLL), running(cell, app(), LONG_POLL) as sleeper:
        await hears(sleeper)
        job_id = await shop.enqueue("t.quick")
        assert await late_by(shop, cell, job_id) < FAR_LESS_SECONDS


async def test_a_scheduled_job_starts_at_its_time_though_workers_poll_each_half_minute(
    cell: Cell, shop: Shop, api_db: Database
) -> None:
    async with running(cell, app("other"), LONG_POLL), running(cell, app(), LONG_POLL) as sleeper:
        await hears(sleeper)
        async with Backend(Settings(), api_db) as backend:
            made = await Client(backend, cell.tenant_a).enqueue("t.quick", delay=0.5)
            await backend.send_waiting()
            assert await late_by(shop, cell, made.job_id) < FAR_LESS_SECONDS


async def test_a_retry_starts_when_its_back_off_is_over(cell: Cell, shop: Shop) -> None:
    flaky = Leasehold()

    @flaky.handler("t.flaky", queue="flaky")
    async def fail_once(ctx: Context) -> None:
        if ctx.attempt == 1:
            raise Retry(after=0.5)

    async with running(cell, app("other"), LONG_POLL), running(cell, flaky, LONG_POLL) as sleeper:
        await hears(sleeper)
        job_id = await shop.enqueue("t.flaky")
        assert await late_by(shop, cell, job_id) < 2 * FAR_LESS_SECONDS
        assert await shop.history(job_id) == [(1, "errored"), (2, "succeeded")]


async def test_a_step_is_taken_by_the_worker_of_its_queue_when_its_parent_has_ended_elsewhere(
    cell: Cell, shop: Shop, api_db: Database
) -> None:
    async with (
        running(cell, app("third"), LONG_POLL),
        running(cell, app("first"), LONG_POLL) as one,
        running(cell, app("second"), LONG_POLL) as two,
        Backend(Settings(), api_db) as backend,
    ):
        await hears(one)
        await hears(two)
        client = Client(backend, cell.tenant_a)
        flow_id = await client.flows.start(chain(step("t.first"), step("t.second")))
        async with asyncio.timeout(2 * FAR_LESS_SECONDS):
            assert (await client.flows.wait(flow_id)).state == "succeeded"


async def test_a_queue_that_is_resumed_is_worked_on_at_once(cell: Cell, shop: Shop) -> None:
    async with (
        running(cell, app("other"), LONG_POLL),
        running(cell, app(), LONG_POLL) as sleeper,
        cell.database(Role.OPERATOR, connections=1) as operator_db,
    ):
        await hears(sleeper)
        await pause_queue(operator_db, "quick", paused=True)
        job_id = await shop.enqueue("t.quick")
        await pause_queue(operator_db, "quick", paused=False)
        assert await late_by(shop, cell, job_id) < FAR_LESS_SECONDS
