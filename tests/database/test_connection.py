"""The driver knows PostgreSQL's own arrays, asks the server for nothing on a new connection, and asks again quickly."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from leasehold.engine import driver
from leasehold.engine.database import Database, Role
from tests.cell import Cell

VALUES: dict[str, list[Any]] = {
    "bool": [True, None, False],
    "bytea": [b"\0\xff", None],
    "float4": [1.5, None],
    "float8": [1e300, None],
    "int2": [-(2**15), None],
    "int4": [2**31 - 1, None],
    "int8": [2**63 - 1, None],
    "jsonb": ['{"a": [1, "ü"]}', None],
    "timestamptz": [datetime(2026, 2, 28, 12, tzinfo=UTC), None],
    "uuid": [uuid4(), None],
}


async def test_the_numbers_are_those_of_this_server(cell: Cell) -> None:
    names = ", ".join(f"'_{name}'" for name in VALUES)
    rows = await cell.look(
        "select typelem::bigint, oid::bigint, substr(typname, 2) as name from pg_type"
        f" where typname in ({names}) and typnamespace = 'pg_catalog'::regnamespace"
    )
    assert {row["name"]: (row["oid"], row["typelem"]) for row in rows} == driver._ARRAYS


@pytest.mark.parametrize("name", VALUES)
async def test_every_array_comes_back_as_it_went(cell: Cell, worker_db: Database, name: str) -> None:
    asked: list[str] = []
    async with worker_db.transaction() as connection:
        connection.add_query_logger(lambda record: asked.append(record.query))
        for value in (VALUES[name], [], None):
            assert await connection.fetchval(f"select $1::{name}[]", value) == value
    assert not [query for query in asked if "typeinfo" in query]


async def test_a_new_connection_asks_for_no_types(worker_db: Database) -> None:
    asked: list[str] = []
    async with worker_db.transaction() as connection:  # its first: nothing has been asked on it yet
        connection.add_query_logger(lambda record: asked.append(record.query))
        for call in ("exchange($1, $2, $3, $4, $5, $6, $7, $8)", "finish($1, $2, $3, $4, $5)", "list_waits($1, $2)"):
            await connection.prepare(f"select f.* from leasehold.{call} f")
    assert not [query for query in asked if "typeinfo" in query]


async def test_other_types_are_still_asked_for(worker_db: Database) -> None:
    asked: list[str] = []
    async with worker_db.transaction() as connection:
        connection.add_query_logger(lambda record: asked.append(record.query))
        assert await connection.fetchval("select array[int4range(1, 3)]") is not None
        assert await connection.fetchval("select $1::inet[]", ["10.0.0.1"])
    assert [query for query in asked if "typeinfo" in query], "or the tests above would see nothing"


async def test_a_question_asked_again_goes_by_the_statement_that_is_prepared(worker_db: Database) -> None:
    async with worker_db.transaction() as connection:
        asked: list[str] = []
        connection.add_query_logger(lambda record: asked.append(record.query))  # the driver's own way tells it
        for number in (1, 2, 3):
            assert [tuple(row) for row in await connection.fetch_again("select $1::int, 'a'", number)] == [
                (number, "a")
            ]
    assert len(asked) == 1, "the first time only: or asyncpg keeps its statements otherwise now, see driver.py"


async def test_a_question_whose_answer_has_other_columns_now_is_asked_anew(cell: Cell) -> None:
    create = "create or replace function pg_temp.shape() returns table ({}) language sql as 'select {}'"
    connection = await asyncpg.connect(cell.url(Role.WORKER), connection_class=driver.Connection)
    try:
        for columns, values in (("a int", "1"), ("a int, b text", "1, ''x''")):
            await connection.execute("drop function if exists pg_temp.shape()")
            await connection.execute(create.format(columns, values))
            [row] = await connection.fetch_again("select f.* from pg_temp.shape() f")
            assert list(row.keys()) == [column.split()[0] for column in columns.split(", ")]
    finally:
        await connection.close()
