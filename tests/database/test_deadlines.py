"""Whatever the other side does, a call ends, and what it left behind is not used again."""

import ast
import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode, urlsplit, urlunsplit

import pytest

import leasehold
from leasehold.database import wakeups
from leasehold.database.connection import Limits, connect
from leasehold.database.database import Database, Role, Target
from leasehold.database.wakeups import Listener
from leasehold.errors import BadSetting, LoginRefused, Unreachable
from tests.cell import Cell
from tests.waiting import eventually
from tests.worker.proxy import Proxy, proxied

#: Short enough to wait for, and long enough for a busy machine to answer in.
LIMITS = Limits(connect_seconds=5.0, call_seconds=1.0, long_call_seconds=2.0)
#: Whatever has no end ends here.
PATIENCE_SECONDS = 30.0
SLEEP = """
create function leasehold.test_sleep(p_s double precision) returns integer
language sql as 'select 1 from pg_sleep(p_s)';
grant execute on function leasehold.test_sleep(double precision) to leasehold_worker, leasehold_api
"""


@pytest.fixture(autouse=True)
async def patience() -> AsyncIterator[None]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        yield


@asynccontextmanager
async def through(cell: Cell, role: Role = Role.WORKER, **options: object) -> AsyncIterator[tuple[Proxy, Database]]:
    """A database behind a proxy."""
    async with (
        proxied(cell.url(role)) as (proxy, url),
        Database(Target(url=url, role=role, limits=LIMITS), **options) as db,  # type: ignore[arg-type]
    ):
        yield proxy, db


async def warm(db: Database, connections: int) -> None:
    """Open so many."""
    if connections:
        async with db.transaction():
            await warm(db, connections - 1)


async def test_a_call_without_an_answer_ends_and_says_which_setting_says_when(cell: Cell) -> None:
    async with through(cell) as (proxy, db):
        await warm(db, 3)
        assert db.usage().idle == 3
        proxy.abandon()
        with pytest.raises(Unreachable, match=r"has not answered for 1\.1 s") as refused:
            await db.call("list_lanes")
        assert "LEASEHOLD_CALL_SECONDS" in str(refused.value.hint)
        assert db.usage()[1:] == (0, 0, 0), "those that stood beside it are not tried one after the other"
        assert await db.call("list_lanes") is not None


async def test_one_that_was_not_answered_is_closed_and_does_not_come_back(cell: Cell) -> None:
    async with through(cell, connections=1) as (proxy, db):
        async with db.transaction() as own:
            pass
        proxy.abandon()
        with pytest.raises(Unreachable):
            await db.call("list_lanes")
        await eventually(lambda: _is_closed(own), what="its end")


async def _is_closed(connection: object) -> bool:
    return bool(connection.is_closed())  # type: ignore[attr-defined]


async def test_an_error_inside_a_transaction_stays_what_it_is_though_nobody_hears_the_rollback(
    cell: Cell,
) -> None:
    async with through(cell) as (proxy, db):
        with pytest.raises(ValueError, match="my own"):
            async with db.transaction() as own, own.transaction():
                proxy.abandon()
                raise ValueError("my own")
        assert db.usage()[1:] == (0, 0, 0)


async def test_a_statement_without_an_answer_ends_its_transaction(cell: Cell) -> None:
    async with through(cell) as (proxy, db):
        with pytest.raises(Unreachable, match="has not answered"):
            async with db.transaction() as own, own.transaction():
                proxy.abandon()
                await own.execute("select 1")
        with pytest.raises(Unreachable, match="does not answer"):
            async with db.transaction() as own:
                statement = await own.prepare("select 1")
                proxy.abandon()
                await statement.fetch()


@pytest.mark.parametrize("wrapped", [False, True], ids=["a call", "a transaction"])
async def test_a_canceled_call_does_not_wait_for_the_server(cell: Cell, wrapped: bool) -> None:
    limits = replace(LIMITS, call_seconds=3600.0)

    async def ask(db: Database) -> None:
        if not wrapped:
            await db.call("list_lanes")
        async with db.transaction() as own, own.transaction():
            proxy.abandon()
            await own.execute("select 1")

    async with (
        proxied(cell.url(Role.WORKER)) as (proxy, url),
        Database(Target(url=url, role=Role.WORKER, limits=limits)) as db,
    ):
        await warm(db, 1)
        if not wrapped:
            proxy.abandon()
        asking = asyncio.create_task(ask(db))
        await eventually(lambda: _is_used(db), what="a call")
        await asyncio.sleep(0.2)  # until it waits for an answer; sooner it would be easier
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert db.usage()[1:] == (0, 0, 0)


async def _is_used(db: Database) -> bool:
    return db.usage().used == 1


async def test_nobody_waits_for_a_free_connection_without_an_end(cell: Cell) -> None:
    target = Target(url=cell.url(Role.WORKER), role=Role.WORKER, limits=LIMITS)
    async with Database(target, connections=1) as db, db.transaction():
        with pytest.raises(Unreachable, match="all 1 connections have been in use") as refused:
            await db.call("list_lanes")
        assert "LEASEHOLD_CALL_SECONDS" in str(refused.value.hint)
        assert db.outage.since is None, "the database is well"
    async with Database(target, connections=1, patient=True) as db:
        async with db.transaction():
            waiting = asyncio.create_task(db.call("list_lanes"))
            await asyncio.wait({waiting}, timeout=2 * LIMITS.call_seconds)
            assert not waiting.done()
        await waiting


async def test_a_pool_closes_though_nobody_hears_it(cell: Cell) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS / 2), through(cell) as (proxy, db):
        await warm(db, 4)
        proxy.abandon()


@pytest.fixture
def hole() -> Iterator[int]:
    """The port of a host that is frozen: its kernel takes connections, and nobody answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(50)
        yield listening.getsockname()[1]


def at(url: str, *ports: int, **more: str) -> str:
    """The same database, at these ports."""
    parts = urlsplit(url)
    login = parts.netloc.rpartition("@")[0]
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    return urlunsplit(parts._replace(netloc=f"{login}@{hosts}", query=urlencode(more)))


async def test_a_connection_that_does_not_open_ends_and_says_which_setting_says_when(
    cell: Cell,
    hole: int,
) -> None:
    limits = replace(LIMITS, connect_seconds=0.2)
    async with Database(Target(url=at(cell.url(Role.API), hole), role=Role.API, limits=limits)) as db:
        with pytest.raises(Unreachable, match=r"has not taken a connection for 0\.2 s") as refused:
            await db.call("list_lanes")
        assert "LEASEHOLD_CONNECT_SECONDS" in str(refused.value.hint)
        with pytest.raises(Unreachable):
            await db.reach()


@pytest.mark.parametrize("attributes", ["any", "read-write", "prefer-standby"])
async def test_a_frozen_host_does_not_keep_us_from_the_next(
    cell: Cell,
    hole: int,
    attributes: str,
) -> None:
    there = urlsplit(cell.url(Role.WORKER)).port
    assert there
    limits = replace(LIMITS, connect_seconds=0.5)
    url = at(cell.url(Role.WORKER), hole, there, target_session_attrs=attributes)
    async with Database(Target(url=url, role=Role.WORKER, limits=limits)) as db:
        assert await db.call("list_lanes") is not None


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/x", "postgresql://me:se/cret@127.0.0.1/x", "postgresql://127.0.0.1:port/x"],
)
async def test_a_url_that_cannot_be_used_is_a_bad_setting(url: str) -> None:
    async with Database(Target(url=url, role=Role.WORKER)) as db:
        with pytest.raises(BadSetting) as refused:
            await db.reach()
    assert "se" not in str(refused.value).split()


async def test_a_refused_login_is_told_from_a_database_that_is_away(cell: Cell) -> None:
    parts = urlsplit(cell.url(Role.WORKER))
    wrong = parts._replace(netloc=f"leasehold_worker:wrong@{parts.hostname}:{parts.port}").geturl()
    for url in (wrong, f"{cell.url(Role.WORKER)}_that_is_not_there"):
        async with Database(Target(url=url, role=Role.WORKER)) as db:
            with pytest.raises(LoginRefused):
                await db.reach()


# -- what PostgreSQL does about it ----------------------------------------------------------------------------------


async def test_a_call_of_a_server_that_takes_too_long_is_ended_by_postgresql_and_keeps_its_connection(
    cell: Cell,
) -> None:
    await cell.change(SLEEP)
    limits = replace(LIMITS, call_seconds=0.3)
    async with Database(Target(url=cell.url(Role.API), role=Role.API, limits=limits), connections=1) as db:
        async with db.transaction() as own:
            pass
        with pytest.raises(Unreachable, match="gave up: canceling statement due to statement timeout") as refused:
            await db.call("test_sleep", 60.0)
        assert "LEASEHOLD_CALL_SECONDS" in str(refused.value.hint)
        assert db.usage().idle == 1
        assert not own.is_closed()
        assert db.outage.since is None, "the database is well"


async def test_who_waits_for_a_lock_in_a_server_is_told_before_its_time_is_up(cell: Cell) -> None:
    limits = replace(LIMITS, call_seconds=0.4)
    target = Target(url=cell.url(Role.API), role=Role.API, limits=limits)
    async with Database(target) as db, db.transaction() as first:
        await first.execute("select pg_advisory_xact_lock(1)")
        with pytest.raises(Unreachable, match="lock timeout"):
            async with db.transaction() as second:
                await second.execute("select pg_advisory_xact_lock(1)")


async def test_what_a_worker_calls_off_ends_in_postgresql_too(cell: Cell) -> None:
    await cell.change(SLEEP)
    limits = replace(LIMITS, call_seconds=0.3)
    async with Database(Target(url=cell.url(Role.WORKER), role=Role.WORKER, limits=limits), connections=1) as db:
        with pytest.raises(Unreachable, match="has not answered"):
            await db.call("test_sleep", 600.0)

        async def ended() -> bool:
            active = "select from pg_stat_activity where datname = current_database() and query like '%test_sleep%'"
            return not await cell.look(f"{active} and state = 'active' and usename = 'leasehold_worker'")

        await eventually(ended, what="the end of the statement")


async def test_upkeep_and_a_handlers_own_statements_may_take_longer(cell: Cell) -> None:
    await cell.change(SLEEP)
    limits = Limits(call_seconds=0.3, long_call_seconds=20.0)
    async with Database(Target(url=cell.url(Role.WORKER), role=Role.WORKER, limits=limits)) as db:
        assert await db.value_long("test_sleep", 0.6) == 1
        with pytest.raises(Unreachable):
            await db.value("test_sleep", 60.0)


async def test_what_the_caller_limits_itself_is_its_own_matter(
    cell: Cell,
    worker_db: Database,
) -> None:
    async with worker_db.transaction() as own:
        with pytest.raises(TimeoutError) as late:
            async with own.transaction():
                await own.execute("select pg_sleep(60)", timeout=0.05)
        assert type(late.value) is TimeoutError
        assert await own.fetchval("select 1") == 1, "PostgreSQL has ended it, and the transaction goes on"
    with pytest.raises(FileNotFoundError):
        async with worker_db.transaction():
            raise FileNotFoundError("a file of the handler's")
    with pytest.raises(TimeoutError):
        async with worker_db.transaction(), asyncio.timeout(0.01):
            await asyncio.sleep(60)


LIMITED = {
    "statement_timeout": "1s",
    "lock_timeout": "500ms",
    "idle_in_transaction_session_timeout": "2s",
}


@pytest.mark.parametrize("pooled", [False, True], ids=["straight", "pooled"])
@pytest.mark.parametrize("role", Role)
async def test_each_role_has_its_limits_in_postgresql(cell: Cell, role: Role, pooled: bool) -> None:
    expected = dict.fromkeys(LIMITED, "0") if role is Role.WORKER else LIMITED
    target = Target(url=cell.url(role), role=role, pooled=pooled, limits=LIMITS)
    async with Database(target, connections=1) as db, db.transaction(tenant=cell.tenant_a) as own:
        assert {name: await own.fetchval(f"show {name}") for name in LIMITED} == expected
        assert await own.fetchval("show leasehold.tenant") == str(cell.tenant_a)
    if pooled:
        return  # there is no session to look at
    async with Database(target, connections=1) as db, db.transaction() as own:
        assert await own.fetchval("show tcp_keepalives_idle") == "30"
        assert await own.fetchval("show tcp_user_timeout") == "30000"


async def test_a_pooler_keeps_nothing_of_a_transaction(cell: Cell) -> None:
    target = Target(url=cell.url(Role.API), role=Role.API, pooled=True, limits=LIMITS)
    async with Database(target, connections=1) as db:
        async with db.transaction(tenant=cell.tenant_a) as own:
            pass
        assert await own.fetchval("show statement_timeout") == "0"
        assert not await own.fetchval("select current_setting('leasehold.tenant', true)")


async def test_tcp_asks_a_silent_side_whether_it_is_there(cell: Cell) -> None:
    connection = await connect(cell.url(Role.WORKER), "leasehold-test")
    try:
        own = connection._transport.get_extra_info("socket")
        assert own.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert own.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30
        assert own.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 30_000
    finally:
        await connection.close()


# -- those that only listen -----------------------------------------------------------------------------------------


async def test_a_listener_notices_that_its_connection_carries_nothing(
    cell: Cell, api_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wakeups, "_CHECK_SECONDS", 0.2)
    heard: asyncio.Queue[str] = asyncio.Queue()
    async with proxied(cell.url(Role.WORKER)) as (proxy, url):
        target = Target(url=url, role=Role.WORKER, limits=LIMITS)
        async with Listener(target, heard.put_nowait) as listener:
            await listener.listening.wait()
            assert await heard.get() == ""
            proxy.abandon()
            assert [await heard.get() for _ in range(2)] == ["", ""], "it was lost, and listens anew"
            await api_db.notify("leasehold_ready", ["default"])
            assert await heard.get() == "default"
            proxy.abandon()  # and it ends without a wait for those that hear nothing


# -- one place ------------------------------------------------------------------------------------------------------


def test_every_connection_is_made_in_one_place() -> None:
    """Or it would have no deadline, and nothing would ask whether the other side is there."""
    root = Path(leasehold.__file__).parents[1]
    found = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if _connects(node)
    }
    assert found == {"leasehold/database/connection.py"}


def _connects(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom) and node.module == "asyncpg":
        return any(name.name in ("connect", "create_pool", "Pool") for name in node.names)
    return (
        isinstance(node, ast.Attribute)
        and node.attr in ("connect", "create_pool")
        and isinstance(node.value, ast.Name)
        and node.value.id == "asyncpg"
    )
