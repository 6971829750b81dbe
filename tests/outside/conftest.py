import pytest

from leasehold.engine.database import Database
from tests.cell import Cell
from tests.worker.running import Shop


@pytest.fixture
def shop(cell: Cell, worker_db: Database) -> Shop:
    return Shop(worker_db, cell)
