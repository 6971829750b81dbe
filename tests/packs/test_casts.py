"""A text is never cast to bytes: PostgreSQL would read its backslashes as escapes. ``convert_to`` takes it as it is."""

import re
from pathlib import Path

import pytest

from leasehold.database import migrate
from leasehold.plugins.discovery import discover, files_of_all
from tests.cell import Cell

#: Of anything but a literal; a list of bytes was bytes before. A parameter of Python comes as
#: bytes, too.
CAST = re.compile(r"(?<!')(?<!\bnull)(?<!\$\d)::bytea\b(?!\[)|\bcast\s*\([^)']*\bas\s+bytea\b(?!\[)", re.IGNORECASE)
ROOT = Path(__file__).parents[2]


async def test_no_function_casts_a_text_to_bytes(cell: Cell) -> None:
    await migrate.migrate(cell.cluster.url(cell.name), packs=files_of_all(discover()))
    functions = await cell.look(
        "select p.oid::regprocedure::text as name, p.prosrc as text from pg_proc p"
        " where p.pronamespace::regnamespace::text like 'leasehold%'"
    )
    assert len(functions) > 300
    assert [one["name"] for one in functions if CAST.search(one["text"])] == []


def test_no_statement_of_a_program_casts_a_text_to_bytes() -> None:
    found = [
        str(path)
        for source in ("src", "packs/src")
        for path in (ROOT / source).rglob("*.py")
        if CAST.search(path.read_text())
    ]
    assert found == []


@pytest.mark.parametrize("statement", ["sha256(title::bytea)", "(a || b)::BYTEA", "cast(title as bytea)"])
def test_the_search_finds_a_cast(statement: str) -> None:
    assert CAST.search(statement)


@pytest.mark.parametrize(
    "statement", [r"'\x00'::bytea || b", "key = $5::bytea", "any($1::bytea[])", "convert_to(title, 'UTF8')"]
)
def test_the_search_finds_nothing_else(statement: str) -> None:
    assert not CAST.search(statement)
