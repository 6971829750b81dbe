"""What every fault needs: somebody who enqueues, and a server that may be killed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from leasehold.database.database import Database, Role
from leasehold.postgres import Endpoint, Home, Server, ephemeral_home
from tests.cell import Cell, Cluster
from tests.worker.conftest import log_lines as log_lines
from tests.worker.running import Shop


@pytest.fixture
def shop(cell: Cell, worker_db: Database) -> Shop:
    return Shop(worker_db, cell)


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """A PostgreSQL that nobody else uses, with a cell in it."""

    server: Server
    endpoint: Endpoint
    cell: Cell


@asynccontextmanager
async def own_server() -> AsyncIterator[Own]:
    home = Home(ephemeral_home(in_memory=True))
    home.make()
    server = Server(home.path, ephemeral=True)
    try:
        endpoint = await asyncio.to_thread(server.start)
        passwords = {role: home.secret(role) for role in Role}
        cluster = Cluster(admin_url=endpoint.url(), passwords=passwords, home=str(home.path), template="whole")
        await cluster.make_template()
        yield Own(server=server, endpoint=endpoint, cell=await cluster.clone())
        cluster.close()
    finally:
        await asyncio.to_thread(server.stop)
        home.wipe()


@pytest.fixture
async def own() -> AsyncIterator[Own]:
    async with own_server() as own:
        yield own
