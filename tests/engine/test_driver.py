"""The driver knows PostgreSQL's own arrays, and asks the server for nothing on a new connection."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from leasehold.engine import driver
from leasehold.engine.database import Database
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
