"""Everything that the database holds, as a thief of its disk would read it."""

from typing import Any

from tests.cell import Cell


async def dump(cell: Cell) -> list[dict[str, Any]]:
    """Every row of every table; bytes also as the text that they may be."""
    tables = await cell.look(
        "select c.relname from pg_class c where c.relnamespace = 'leasehold'::regnamespace"
        " and c.relkind in ('r', 'p') and not c.relispartition order by 1"
    )
    rows = [row for table in tables for row in await cell.look(f"select * from leasehold.{table['relname']}")]
    return [{name: _readable(value) for name, value in row.items()} for row in rows]


def _readable(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("\\x"):
        return [value, bytes.fromhex(value[2:]).decode("latin-1"), bytes.fromhex(value[2:]).decode("utf-8", "replace")]
    return value
