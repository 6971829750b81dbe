"""What the handlers of ``apps`` wrote outside the database."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import UUID

from tests.cell import Cell
from tests.waiting import eventually


def effects(sink: Path) -> list[UUID]:
    """The jobs of ``f.work`` that had their effect, as often as they had it."""
    return [UUID(line.split()[0]) for line in sink.read_text().splitlines()] if sink.exists() else []


async def drained(cell: Cell, *, seconds: float = 60.0) -> None:
    """Every job that is there has ended."""
    await eventually(lambda: has_drained(cell), what="the end of all jobs", seconds=seconds)


async def has_drained(cell: Cell) -> bool:
    [row] = await cell.look(
        "select (select count(*) from leasehold.job) as jobs, (select count(*) from leasehold.outcome) as ended"
    )
    return bool(row["jobs"] == row["ended"])


def more_than(n: int, count: Callable[[], int]) -> Callable[[], Awaitable[bool]]:
    async def ask() -> bool:
        return count() > n

    return ask
