"""PgBouncer in transaction mode in between: every transaction may meet another server connection."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from leasehold.database.connect import target
from leasehold.database.database import Database, Role, Target
from leasehold.engine import jobs
from leasehold.errors import LeaseholdError, NoTenant
from leasehold.job import State
from leasehold.program.app import Leasehold
from leasehold.program.client import Backend, Client
from leasehold.program.context import Context
from leasehold.settings import Settings
from leasehold.worker import Worker
from tests.cell import Cell
from tests.cli.program import started
from tests.faults.bouncer import PROGRAM, SERVERS, Bouncer, bouncing
from tests.faults.conftest import own_server
from tests.faults.history import Expected, check
from tests.waiting import eventually
from tests.worker.conftest import Lines
from tests.worker.running import ENVIRONMENT, FAST, SLOW_POLL

pytestmark = pytest.mark.skipif(not PROGRAM, reason="pgbouncer is not installed")

APP = "tests.faults.apps:app"


@pytest.fixture
def bouncer(cell: Cell) -> Iterator[Bouncer]:
    passwords = {f"leasehold_{role}": password for role, password in cell.cluster.passwords.items()}
    with bouncing(cell.cluster.admin_url, passwords) as bouncer:
        yield bouncer


def one_for_each_role(cell: Cell, bouncer: Bouncer) -> dict[str, str]:
    return {name: bouncer.through(url) for name, url in cell.environment().items()} | {"LEASEHOLD_POOLED": "1"}


@pytest.fixture(params=["a URL for each role", "one URL"])
async def world(
    request: pytest.FixtureRequest, cell: Cell, bouncer: Bouncer
) -> AsyncIterator[tuple[Cell, dict[str, str]]]:
    """A cell, and the environment of programs that reach it through PgBouncer, in both ways to be a role."""
    if request.param == "a URL for each role":
        yield cell, one_for_each_role(cell, bouncer)
        return
    async with AsyncExitStack() as stack:
        own = await stack.enter_async_context(own_server())
        await own.cell.cluster.administer(
            own.cell.name,
            "create role shop login password 'shop';"
            f"grant connect on database {own.cell.name} to shop;"
            "grant leasehold_api, leasehold_worker, leasehold_operator to shop",
        )
        direct = own.cell.url(Role.API).split("@")[1]
        theirs = stack.enter_context(bouncing(own.cell.cluster.admin_url, {"shop": "shop"}))
        url = theirs.through(f"postgresql://shop:shop@{direct}")
        yield own.cell, {"LEASEHOLD_DATABASE_URL": url, "LEASEHOLD_POOLED": "true"}


async def test_jobs_of_two_tenants_live_their_whole_life_through_it(
    world: tuple[Cell, dict[str, str]], tmp_path: Path
) -> None:
    cell, environment = world
    settings = Settings.from_env(environment)
    sink = str(tmp_path / "sink")
    values = [{"sink": sink, "seconds": 0.01, "errors": n % 3} for n in range(15)]
    with (
        started("worker", APP, "--name", "one", env=environment | ENVIRONMENT) as one,
        started("worker", APP, "--name", "two", env=environment | ENVIRONMENT) as two,
    ):
        one.said("no wake-ups behind a pooler")
        async with Backend(settings) as backend:
            clients = [await backend.client(name) for name in ("a", "b")]
            made = await asyncio.gather(*(client.enqueue_many("f.work", values) for client in clients))
            again = await asyncio.gather(*(client.enqueue("f.work", values[0], key="k") for client in clients * 2))
            assert len({job.job_id for job in again}) == 2, "one for each tenant"
            for client, ended in zip(clients, made, strict=True):
                for job in ended:
                    found = await client.wait(job.job_id, timeout=30)
                    assert (found.state, found.result) == (State.SUCCEEDED, str(client.tenant_id))
                events = await client.events(ended[2].job_id)
                assert [event.seq for event in events] == list(range(1, len(events) + 1))
                assert [event.type for event in events].count("errored") == 2
                await client.wait(again[clients.index(client)].job_id, timeout=30)
                canceled = await client.enqueue("f.work", values[0], delay=60)
                assert await client.cancel(canceled.job_id) == "canceled"
                made[clients.index(client)].append(canceled)
        assert (one.stopped().code, two.stopped().code) == (0, 0)
        assert one.err.count("no wake-ups behind a pooler") == 1, "said once"
    tenants = {job.job_id: c.tenant_id for c, ended in zip(clients, made, strict=True) for job in ended}
    tenants |= {job.job_id: client.tenant_id for client, job in zip(clients * 2, again, strict=True)}
    await check(cell, Expected(acknowledged=tenants, stopped=("one", "two")))


async def test_two_hundred_interleaved_transactions_on_two_connections_see_only_their_own_rows(
    world: tuple[Cell, dict[str, str]],
) -> None:
    cell, environment = world
    seen: list[int] = []
    async with Database(target(Settings.from_env(environment), Role.API), connections=20) as db:
        await asyncio.gather(*(_visit(db, cell, random.Random(seed), seen) for seed in range(200)))
    assert len(seen) == 200
    assert max(seen) > 10, "the transactions had rows to see"
    [rows] = await cell.look("select count(*) as n, count(distinct tenant_id) as tenants from leasehold.job")
    assert rows == {"n": 200 - seen.count(0), "tenants": 2}


async def _visit(db: Database, cell: Cell, dice: random.Random, seen: list[int]) -> None:
    """One transaction of tenant a, of tenant b, or of none, in small steps among all the others."""
    tenant = dice.choice((cell.tenant_a, cell.tenant_b, None))
    async with db.transaction(tenant=tenant) as connection:
        await asyncio.sleep(dice.uniform(0, 0.002))
        if tenant is not None:
            await jobs.enqueue(db, tenant, "t.work", ["{}"], {}, connection=connection)
            await asyncio.sleep(dice.uniform(0, 0.002))
        else:
            with pytest.raises(NoTenant):
                async with connection.transaction():
                    await db.call("list_jobs", connection=connection)
        rows = await connection.fetch("select tenant_id from leasehold.job")
        assert {row["tenant_id"] for row in rows} == ({tenant} if tenant else set())
        seen.append(len(rows))


async def test_the_property_would_see_a_tenant_that_is_set_for_the_session(cell: Cell, bouncer: Bouncer) -> None:
    """The test's own test: what a session keeps is met by the next transaction on the same server connection."""
    pooled = Target(url=bouncer.through(cell.url(Role.API)), role=Role.API, pooled=True)
    async with Database(pooled, connections=1) as careless, Database(pooled, connections=1) as innocent:
        await jobs.enqueue(innocent, cell.tenant_a, "t.work", ["{}"], {})
        async with careless.transaction() as connection:
            await connection.execute("select set_config('leasehold.tenant', $1, false)", str(cell.tenant_a))
        async with innocent.transaction() as connection:
            assert await connection.fetchval("select count(*) from leasehold.job") == 1


async def test_no_more_than_two_server_connections_serve_twenty_clients(cell: Cell, bouncer: Bouncer) -> None:
    pooled = Target(url=bouncer.through(cell.url(Role.WORKER)), role=Role.WORKER, pooled=True)
    async with Database(pooled, connections=20) as db:

        async def backend(_: int) -> int:
            async with db.transaction() as connection:
                return int(await connection.fetchval("select pg_backend_pid()"))

        assert len(set(await asyncio.gather(*map(backend, range(100))))) == SERVERS


async def test_without_the_setting_the_error_names_it(cell: Cell, bouncer: Bouncer) -> None:
    """Statements that the driver prepared for a session are not there in the next transaction.

    The pooler has two server connections: whoever holds the one decides that the other is used.
    """
    url = bouncer.through(cell.url(Role.API))
    async with AsyncExitStack() as stack:
        db = await stack.enter_async_context(Database(Target(url=url, role=Role.API), connections=1))
        holders = [await asyncpg.connect(url, statement_cache_size=0) for _ in range(2)]
        for holder in holders:
            stack.push_async_callback(holder.close)
        await holders[0].execute("begin")
        await jobs.list_jobs(db, cell.tenant_a, {})  # prepared on the one
        await holders[1].execute("begin")
        await holders[0].execute("rollback")
        with pytest.raises(LeaseholdError) as problem:
            await jobs.list_jobs(db, cell.tenant_a, {})  # asked for on the other
        await holders[1].execute("rollback")
    assert "LEASEHOLD_POOLED" in str(problem.value.hint)


# -- wake-ups -------------------------------------------------------------------------------------------------------


def quick() -> Leasehold:
    app = Leasehold()

    @app.handler("t.quick")
    async def handle(ctx: Context) -> None: ...

    return app


@asynccontextmanager
async def working(settings: Settings) -> AsyncIterator[Worker]:
    async with Database(target(settings, Role.WORKER)) as db:
        worker = Worker(db, quick(), settings)
        task = asyncio.create_task(worker.run())
        try:
            yield worker
        finally:
            worker.stop()
            await task


async def ended(client: Client, job_id: UUID) -> Any:
    return (await client.wait(job_id, timeout=20)).state


async def test_a_listening_url_past_the_pooler_brings_the_wake_ups(cell: Cell, bouncer: Bouncer) -> None:
    environment = one_for_each_role(cell, bouncer) | {"LEASEHOLD_LISTEN_URL": cell.url(Role.WORKER)}
    given = Settings.from_env(environment)
    patient = replace(
        SLOW_POLL,
        api_url=given.api_url,
        worker_url=given.worker_url,
        pooled=True,
        listen_url=given.listen_url,
        tenant="a",
    )

    async def listens() -> bool:
        return bool(await cell.look("select from pg_stat_activity where application_name = 'leasehold-worker-listen'"))

    async with working(patient), Backend(patient) as backend:
        await eventually(listens, what="a connection that listens")
        client = await backend.client()
        for _ in range(3):  # each of them long before the next poll
            assert await ended(client, (await client.enqueue("t.quick")).job_id) is State.SUCCEEDED


async def test_without_such_a_url_the_worker_polls_and_says_so_once(
    cell: Cell, bouncer: Bouncer, log_lines: Lines
) -> None:
    given = Settings.from_env(one_for_each_role(cell, bouncer))
    settings = replace(FAST, api_url=given.api_url, worker_url=given.worker_url, pooled=True, tenant="a")
    async with working(settings), Backend(settings) as backend:
        client = await backend.client()
        for _ in range(3):
            assert await ended(client, (await client.enqueue("t.quick")).job_id) is State.SUCCEEDED
    assert log_lines.count("no wake-ups behind a pooler") == 1
    assert log_lines.count("wake-ups lost") == 0
