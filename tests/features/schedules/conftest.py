import pytest

from leasehold.database.database import Database
from leasehold.program.client import Backend, Client
from leasehold.settings import Settings
from tests.cell import Cell


@pytest.fixture
async def client(cell: Cell, api_db: Database) -> Client:
    """Tenant A."""
    return Client(Backend(Settings(), api_db), cell.tenant_a)


@pytest.fixture
async def other(cell: Cell, api_db: Database) -> Client:
    """Tenant B."""
    return Client(Backend(Settings(), api_db), cell.tenant_b)
