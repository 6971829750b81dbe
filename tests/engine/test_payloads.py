"""What ``payload.encode`` lets through, PostgreSQL gives back as it was."""

from typing import Any

import asyncpg
import pytest

from leasehold import json_codec
from leasehold.database.database import Database, Role
from leasehold.engine import jobs
from tests.cell import Cell


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        None,
        "text",
        {"": "", "é": "🥚", "nested": [{"a": [None, True, False]}]},
        {"six characters": "\\u0000", "controls": "\x01\x1f\x7f", "separators": "\u2028\u2029"},
        {"order": 1, "of": 2, "keys": 3},
        [10**40, -(10**18), 0, 2**63],
        [0.1, 1.5, -2.25e-7, 1e16, 5e-324],
        {"quotes": "\"'\\/$$", "sql": "'; drop table x; --"},
        "x" * (json_codec.LIMIT - 2),
    ],
)
async def test_a_payload_comes_back_as_it_was(cell: Cell, api_db: Database, value: Any) -> None:
    [job] = await jobs.enqueue(api_db, cell.tenant_a, "t.work", [json_codec.encode(value)], {})
    assert (await jobs.get_job(api_db, cell.tenant_a, job.job_id)).payload == value


async def test_a_depth_that_is_let_through_is_kept(cell: Cell, api_db: Database) -> None:
    value: Any = 1
    for _ in range(500):
        value = [value]
    text = json_codec.encode(value)
    [job] = await jobs.enqueue(api_db, cell.tenant_a, "t.work", [text], {})
    kept = (await jobs.get_job(api_db, cell.tenant_a, job.job_id)).payload
    assert json_codec.encode(kept) == text


@pytest.mark.parametrize("text", ['"\\u0000"', "NaN", "Infinity", '"\\ud800"', "{1: 2}"])
async def test_what_is_refused_there_postgresql_would_refuse(cell: Cell, text: str) -> None:
    connection = await asyncpg.connect(cell.url(Role.API))
    try:
        with pytest.raises(asyncpg.PostgresError):
            await connection.fetchval("select $1::jsonb", text)
    finally:
        await connection.close()


async def test_of_two_equal_keys_postgresql_keeps_one(cell: Cell) -> None:
    """The reason why {1: …, "1": …} is refused."""
    connection = await asyncpg.connect(cell.url(Role.API))
    try:
        assert await connection.fetchval("""select '{"1": "a", "1": "b"}'::jsonb::text""") == '{"1": "b"}'
    finally:
        await connection.close()
