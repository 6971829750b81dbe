"""What the tests of features share: each face of the product, over one database."""

from collections.abc import AsyncIterator

import pytest

from leasehold.dashboard import app
from leasehold.http.server import serving
from tests.cell import Cell
from tests.cli.conftest import here, nowhere
from tests.http.conftest import a, b, hand, key, operator, services, settings_of, stranger
from tests.worker.conftest import log_lines, shop

__all__ = [
    "a",
    "b",
    "hand",
    "here",
    "key",
    "log_lines",
    "nowhere",
    "operator",
    "services",
    "shop",
    "stranger",
]


@pytest.fixture
async def dashboard(cell: Cell) -> AsyncIterator[str]:
    """The address of a server with its pages."""
    async with serving(settings_of(cell, port=0), mount=app.mount) as url:
        yield url
