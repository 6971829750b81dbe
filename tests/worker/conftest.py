import logging
from collections.abc import Iterator

import pytest

from leasehold.database.database import Database
from tests.cell import Cell
from tests.worker.running import Shop


@pytest.fixture
def shop(cell: Cell, worker_db: Database) -> Shop:
    return Shop(worker_db, cell)


class Lines(logging.Handler):
    """Log lines, as (event, fields)."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[str, dict[str, object]]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append((record.getMessage(), getattr(record, "fields", {})))

    def count(self, event: str) -> int:
        return sum(said == event for said, _ in self.lines)


@pytest.fixture
def log_lines() -> Iterator[Lines]:
    """What the worker logs meanwhile."""
    logger, lines = logging.getLogger("leasehold"), Lines()
    logger.addHandler(lines)
    level = logger.level
    logger.setLevel(logging.INFO)
    yield lines
    logger.removeHandler(lines)
    logger.setLevel(level)
