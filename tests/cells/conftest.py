"""Home on the server of the run, and two more servers for cells: the same logins everywhere, as an installation has."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from leasehold import sql
from leasehold.engine.database import Role
from leasehold.postgres import Home, Server, ephemeral_home
from tests.cell import Cell, Cluster
from tests.cells.places import Place, Places


@pytest.fixture(scope="session")
def servers(cluster: Cluster) -> Iterator[list[str]]:
    """The places of two servers that tell their changes: ``postgresql://host:port``."""
    made = [_start() for _ in range(2)]
    try:
        yield [asyncio.run(_let_in(cluster, server.start().url())) for _, server in made]
    finally:
        for home, server in made:
            server.stop()
            home.wipe()


@pytest.fixture
def places(cell: Cell, servers: list[str]) -> Places:
    return Places(home=cell, servers=servers)


@pytest.fixture
def here(places: Places) -> Place:
    """A cell ``c`` on the first server, with tenant ``acme``."""
    places.ran("cells", "add", "c", places.url(0))
    places.ran("tenants", "create", "acme", "--cell", "c")
    return places.at(0)


def _start() -> tuple[Home, Server]:
    home = Home(ephemeral_home(in_memory=True))
    home.make()
    bin_ = os.environ.get("LEASEHOLD_PG_BIN")
    options = {"wal_level": "logical", "shared_buffers": "32MB"}
    return home, Server(home.path, pg_bin=Path(bin_) if bin_ else None, ephemeral=True, options=options)


async def _let_in(cluster: Cluster, url: str) -> str:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(sql.read_roles())
        for role in Role:
            await connection.execute(f"alter role leasehold_{role} login password '{cluster.passwords[role]}'")
        login = urlsplit(cluster.admin_url)
        await connection.execute(f"alter role {login.username} password '{login.password}'")
    finally:
        await connection.close()
    return f"postgresql://{urlsplit(url).hostname}:{urlsplit(url).port}"
