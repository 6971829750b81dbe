"""A login that only reads: whom an operator lets it read, whatever it sets; and it leaves nothing behind."""

from uuid import UUID

import asyncpg
import pytest

from leasehold.database.database import Database, Role
from leasehold.database.wakeups import news_channel, ready_channel
from leasehold.engine import jobs
from tests.cell import Cell
from tests.database.test_roles import READABLE, connected, scoped
from tests.worker.conftest import shop
from tests.worker.running import Shop, running

__all__ = ["shop"]
from leasehold.job import State
from leasehold.program.app import Leasehold
from leasehold.program.context import Context

LISTED = "select count(*) from leasehold.list_jobs()"


@pytest.fixture
async def asked(cell: Cell, worker_db: Database) -> None:
    """A job of each tenant."""
    for tenant in (cell.tenant_a, cell.tenant_b):
        await jobs.enqueue(worker_db, tenant, "t.work", ["1"], {})


async def let(cell: Cell, tenant: UUID, *, may: bool = True) -> None:
    async with cell.database(Role.OPERATOR, connections=1) as db:
        await db.call("grant_reader", "leasehold_readonly", tenant, may)


async def seen(connection: asyncpg.Connection, tenant: UUID) -> int:
    async with scoped(connection, str(tenant)):
        return int(await connection.fetchval("select count(*) from leasehold.job"))


async def listed(connection: asyncpg.Connection, tenant: UUID) -> int | str | None:
    try:
        async with scoped(connection, str(tenant)):
            return int(await connection.fetchval(LISTED))
    except asyncpg.PostgresError as problem:
        return str(problem.sqlstate)


async def test_a_login_that_only_reads_sees_nobody_until_it_is_let(cell: Cell, asked: None) -> None:
    async with connected(cell, Role.READONLY) as connection:
        for tenant in (cell.tenant_a, cell.tenant_b):
            for table in READABLE:
                async with scoped(connection, str(tenant)):
                    assert await connection.fetch(f"select * from leasehold.{table}") == [], table
            assert await listed(connection, tenant) == "LH401"
        async with scoped(connection, str(cell.tenant_a)):
            with pytest.raises(asyncpg.PostgresError, match="this login may not read this tenant") as caught:
                await connection.fetch(LISTED)
        hint = "an operator may let it: select leasehold.grant_reader('leasehold_readonly', <tenant id>)"
        assert caught.value.hint == hint


async def test_whom_it_was_let_read_it_reads_and_nobody_else_whatever_it_sets(cell: Cell, asked: None) -> None:
    await let(cell, cell.tenant_a)
    async with connected(cell, Role.READONLY) as connection:
        assert (await seen(connection, cell.tenant_a), await listed(connection, cell.tenant_a)) == (1, 1)
        assert (await seen(connection, cell.tenant_b), await listed(connection, cell.tenant_b)) == (0, "LH401")
        await connection.execute(f"set leasehold.tenant = '{cell.tenant_b}'")
        assert await connection.fetchval("select count(*) from leasehold.job") == 0
        assert await connection.fetchval("select count(*) from leasehold.tenant") == 0
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(f"select leasehold.grant_reader('leasehold_readonly', '{cell.tenant_b}')")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.fetch("select * from leasehold.reader")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("set role leasehold_api")
        await let(cell, cell.tenant_a, may=False)
        assert (await seen(connection, cell.tenant_a), await listed(connection, cell.tenant_a)) == (0, "LH401")
    actions = await cell.look("select action, target from leasehold.audit where action like 'reader.%' order by at")
    assert [tuple(one.values()) for one in actions] == [
        ("reader.let", "leasehold_readonly"),
        ("reader.end", "leasehold_readonly"),
    ]


async def test_what_its_session_begins_with_shows_it_nobody_else(cell: Cell, asked: None) -> None:
    await let(cell, cell.tenant_a)
    setting = {"leasehold.tenant": str(cell.tenant_b)}
    connection = await asyncpg.connect(cell.url(Role.READONLY), server_settings=setting)
    try:
        assert await connection.fetchval("show leasehold.tenant") == str(cell.tenant_b)
        assert await connection.fetchval("select count(*) from leasehold.job") == 0
        with pytest.raises(asyncpg.PostgresError, match="may not read"):
            await connection.fetch(LISTED)
        with pytest.raises(asyncpg.InsufficientPrivilegeError):  # nor may it change that for all who log in as it
            await connection.execute(f"alter role leasehold_readonly set leasehold.tenant = '{cell.tenant_b}'")
    finally:
        await connection.close()


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize(
    "statement",
    [
        "select lo_create(0)",
        "select lo_creat(-1)",
        "select lo_from_bytea(0, 'x')",
        "select lo_import('/etc/hostname')",
        "create table public.t ()",
        "create schema mine",
    ],
)
async def test_no_login_leaves_anything_in_our_database(cell: Cell, role: Role, statement: str) -> None:
    async with connected(cell, role) as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)


async def test_what_a_reader_notifies_is_only_a_hint_to_look(cell: Cell, shop: Shop) -> None:
    """PostgreSQL cannot forbid NOTIFY. Nobody believes what it says: who hears it looks, and finds what is there."""
    app = Leasehold()

    @app.handler("t.work")
    async def work(ctx: Context) -> str:
        return "done"

    async with running(cell, app), connected(cell, Role.READONLY) as connection:
        for channel in (ready_channel("leasehold"), news_channel("leasehold")):
            for words in ("", "default", "no such queue", "{", "x" * 7999):
                await connection.execute("select pg_notify($1, $2) from generate_series(1, 100)", channel, words)
        job = await shop.run("t.work")
        assert (job.state, await shop.history(job.job_id)) == (State.SUCCEEDED, [(1, "succeeded")])
