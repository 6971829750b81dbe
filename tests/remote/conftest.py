"""A real server on loopback, and clients of it."""

from collections.abc import AsyncIterator

import pytest

from leasehold.http.server import serving
from leasehold.remote import AsyncClient
from tests.cell import Cell
from tests.http.conftest import Hand, Keys, hand, key, settings_of
from tests.worker.conftest import log_lines

__all__ = ["Hand", "Keys", "hand", "key", "log_lines"]


@pytest.fixture
async def url(cell: Cell) -> AsyncIterator[str]:
    async with serving(settings_of(cell, port=0)) as found:
        yield found


@pytest.fixture
async def client(url: str, key: Keys) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(url, key.a.text) as opened:
        yield opened
