"""The driver knows PostgreSQL's own arrays; what is used of it that is not public is there."""

from datetime import UTC, datetime
from inspect import signature
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
from asyncpg.connect_utils import _ClientConfiguration
from asyncpg.transaction import Transaction

from leasehold.database import connection as driver
from leasehold.database.database import Database, Role
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
async def test_every_array_comes_back_as_it_went(
    cell: Cell,
    worker_db: Database,
    name: str,
) -> None:
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
        for call in (
            "exchange($1, $2, $3, $4, $5, $6, $7, $8)",
            "finish($1, $2, $3, $4, $5)",
            "list_pickup_delays($1, $2)",
        ):
            await connection.prepare(f"select f.* from leasehold.{call} f")
    assert not [query for query in asked if "typeinfo" in query]


async def test_other_types_are_still_asked_for(worker_db: Database) -> None:
    asked: list[str] = []
    async with worker_db.transaction() as connection:
        connection.add_query_logger(lambda record: asked.append(record.query))
        assert await connection.fetchval("select array[int4range(1, 3)]") is not None
        assert await connection.fetchval("select $1::inet[]", ["10.0.0.1"])
    assert [query for query in asked if "typeinfo" in query], "or the tests above would see nothing"


def test_what_we_use_of_asyncpg_that_is_not_public_is_there() -> None:
    theirs = asyncpg.Connection
    assert {"_config", "_cancellations"} <= {*theirs.__slots__}
    assert "command_timeout" in _ClientConfiguration._fields
    assert [*signature(theirs._execute).parameters][:5] == ["self", "query", "args", "limit", "timeout"]
    assert [*signature(theirs._cancel).parameters][:2] == ["self", "waiter"]
    assert [*signature(theirs._check_open).parameters] == ["self"]
    assert [*signature(theirs._introspect_types).parameters] == ["self", "typeoids", "timeout"]
    assert "_connection" in Transaction.__slots__
    assert issubclass(asyncpg.exceptions._base.DataError, ValueError), "what an argument that fits no type raises"


async def test_a_question_whose_answer_has_other_columns_now_is_asked_anew(cell: Cell) -> None:
    create = "create or replace function pg_temp.shape() returns table ({}) language sql as 'select {}'"
    connection = await asyncpg.connect(cell.url(Role.WORKER), connection_class=driver.Connection)
    try:
        for columns, values in (("a int", "1"), ("a int, b text", "1, ''x''")):
            await connection.execute("drop function if exists pg_temp.shape()")
            await connection.execute(create.format(columns, values))
            [row] = await connection.fetch("select f.* from pg_temp.shape() f")
            assert list(row.keys()) == [column.split()[0] for column in columns.split(", ")]
    finally:
        await connection.close()
