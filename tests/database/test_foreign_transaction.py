"""Enqueue in a transaction that the caller has open: every driver, commit and rollback."""

from collections.abc import AsyncIterator, Callable
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from typing import Any

import asyncpg
import psycopg
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from leasehold.database import foreign_transaction
from leasehold.database.database import Database, Role
from leasehold.errors import BadInput, Conflict, NotFound
from tests.cell import Cell

SCOPE = "select current_setting('leasehold.tenant', true)"


def values(tenant: str = "a", kind: str = "t.work", key: str | None = None, n: int = 1) -> dict[str, Any]:
    payloads = [f'{{"n": {i}}}' for i in range(n)]
    return {
        "tenant": tenant,
        "kind": kind,
        "payloads": payloads,
        "options": '{"priority": 1}',
        "keys": [key] * n if key else None,
        "defaults": "{}",
    }


@asynccontextmanager
async def of_asyncpg(url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def of_psycopg(url: str) -> AsyncIterator[Any]:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        yield connection


@asynccontextmanager
async def of_sqlalchemy(url: str, driver: str = "psycopg") -> AsyncIterator[Any]:
    engine = create_async_engine(url.replace("postgresql://", f"postgresql+{driver}://"))
    try:
        async with AsyncSession(engine) as session, session.begin():
            yield session
    finally:
        await engine.dispose()


def of_sqlalchemy_asyncpg(url: str) -> AbstractAsyncContextManager[Any]:
    return of_sqlalchemy(url, "asyncpg")


@contextmanager
def of_psycopg_sync(url: str) -> Any:
    with psycopg.connect(url) as connection:
        yield connection


@contextmanager
def of_session(url: str) -> Any:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with Session(engine) as session, session.begin():
            yield session
    finally:
        engine.dispose()


@contextmanager
def of_connection(url: str) -> Any:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


ASYNC = [of_asyncpg, of_psycopg, of_sqlalchemy, of_sqlalchemy_asyncpg]
SYNC = [of_psycopg_sync, of_session, of_connection]


class Undo(Exception):
    """Makes the caller's transaction roll back."""


@pytest.mark.parametrize("opened", ASYNC, ids=lambda opened: opened.__name__)
async def test_an_async_callers_commit_makes_the_job_and_its_rollback_unmakes_it(
    cell: Cell, opened: Callable[[str], AbstractAsyncContextManager[Any]]
) -> None:
    async with opened(cell.url(Role.API)) as connection:
        assert foreign_transaction.is_async(connection)
        made = await foreign_transaction.enqueue_async(connection, values(n=3), schema="leasehold")
        assert [job.created for job in made] == [True] * 3
    with pytest.raises(Undo):
        async with opened(cell.url(Role.API)) as connection:
            await foreign_transaction.enqueue_async(connection, values(), schema="leasehold")
            raise Undo
    assert len(await cell.look("select * from leasehold.ready")) == 3


@pytest.mark.parametrize("opened", SYNC, ids=lambda opened: opened.__name__)
async def test_a_sync_callers_commit_makes_the_job_and_its_rollback_unmakes_it(
    cell: Cell, opened: Callable[[str], AbstractContextManager[Any]]
) -> None:
    with opened(cell.url(Role.API)) as connection:
        assert not foreign_transaction.is_async(connection)
        [job] = foreign_transaction.enqueue_sync(connection, values(key="k"), schema="leasehold")
    with pytest.raises(Undo), opened(cell.url(Role.API)) as connection:
        foreign_transaction.enqueue_sync(connection, values(), schema="leasehold")
        raise Undo
    with opened(cell.url(Role.API)) as connection:
        [again] = foreign_transaction.enqueue_sync(connection, values(key="k"), schema="leasehold")
    assert (again.job_id, again.created) == (job.job_id, False)
    [row] = await cell.look("select priority, tenant_id from leasehold.job")
    assert row == {"priority": 1, "tenant_id": str(cell.tenant_a)}


FLOW = {
    "tenant": "a",
    "name": "f",
    "steps": '[{"kind": "t.work"}, {"kind": "t.work", "after": [0]}]',
    "options": "{}",
    "defaults": "{}",
}


@pytest.mark.parametrize("opened", ASYNC, ids=lambda opened: opened.__name__)
async def test_an_async_callers_flow_is_whole_or_not_at_all(
    cell: Cell, opened: Callable[[str], AbstractAsyncContextManager[Any]]
) -> None:
    async with opened(cell.url(Role.API)) as connection:
        flow_id = await foreign_transaction.start_flow_async(connection, FLOW, schema="leasehold")
    with pytest.raises(Undo):
        async with opened(cell.url(Role.API)) as connection:
            await foreign_transaction.start_flow_async(connection, FLOW, schema="leasehold")
            raise Undo
    assert await cell.look("select distinct flow_id from leasehold.step") == [{"flow_id": str(flow_id)}]


@pytest.mark.parametrize("opened", SYNC, ids=lambda opened: opened.__name__)
async def test_a_sync_callers_flow_is_whole_or_not_at_all(
    cell: Cell, opened: Callable[[str], AbstractContextManager[Any]]
) -> None:
    with opened(cell.url(Role.API)) as connection:
        flow_id = foreign_transaction.start_flow_sync(connection, FLOW, schema="leasehold")
    with pytest.raises(Undo), opened(cell.url(Role.API)) as connection:
        foreign_transaction.start_flow_sync(connection, FLOW, schema="leasehold")
        raise Undo
    assert await cell.look("select distinct flow_id from leasehold.step") == [{"flow_id": str(flow_id)}]


async def test_the_callers_own_tenant_setting_is_put_back(cell: Cell) -> None:
    async with of_asyncpg(cell.url(Role.API)) as connection:
        await foreign_transaction.enqueue_async(connection, values(), schema="leasehold")
        assert not await connection.fetchval(SCOPE)
        await connection.execute("select set_config('leasehold.tenant', $1, true)", str(cell.tenant_b))
        await foreign_transaction.enqueue_async(connection, values(), schema="leasehold")
        assert await connection.fetchval(SCOPE) == str(cell.tenant_b)
    with of_session(cell.url(Role.API)) as session:
        foreign_transaction.enqueue_sync(session, values(), schema="leasehold")
        assert not session.execute(text(SCOPE)).scalar()


@pytest.mark.parametrize("opened", ASYNC, ids=lambda opened: opened.__name__)
async def test_errors_of_every_async_driver_are_ours(cell: Cell, opened: Any) -> None:
    with pytest.raises(NotFound, match="no tenant 'nobody'"):
        async with opened(cell.url(Role.API)) as connection:
            await foreign_transaction.enqueue_async(connection, values(tenant="nobody"), schema="leasehold")
    with pytest.raises(BadInput, match="form pack.verb"):
        async with opened(cell.url(Role.API)) as connection:
            await foreign_transaction.enqueue_async(connection, values(kind="work"), schema="leasehold")


@pytest.mark.parametrize("opened", SYNC, ids=lambda opened: opened.__name__)
async def test_errors_of_every_sync_driver_are_ours(cell: Cell, opened: Any) -> None:
    with opened(cell.url(Role.API)) as connection:
        foreign_transaction.enqueue_sync(connection, values(key="k"), schema="leasehold")
    with pytest.raises(Conflict, match="another payload"), opened(cell.url(Role.API)) as connection:
        foreign_transaction.enqueue_sync(
            connection, values(key="k") | {"payloads": ['{"other": 1}']}, schema="leasehold"
        )


async def test_an_async_connection_given_to_the_sync_door_is_told_where_to_go(
    cell: Cell,
    api_db: Database,
) -> None:
    async with of_asyncpg(cell.url(Role.API)) as connection:
        with pytest.raises(BadInput, match="await app.enqueue"):
            foreign_transaction.enqueue_sync(connection, values(), schema="leasehold")
