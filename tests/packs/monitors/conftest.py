"""A watched shop for each test."""

from collections.abc import AsyncIterator

import pytest

from leasehold.database.database import Database
from tests.cell import Cell
from tests.fetch.world import Site
from tests.packs.monitors.watching import Watcher, watching


@pytest.fixture
def shop() -> Site:
    return Site()


@pytest.fixture
async def watcher(cell: Cell, api_db: Database, shop: Site) -> AsyncIterator[Watcher]:
    async with watching(cell, api_db, shop) as watcher:
        yield watcher
