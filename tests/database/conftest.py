"""Servers of their own: migrations make roles, and roles belong to the whole server."""

import asyncio
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

from leasehold.postgres import Endpoint, Home, Server, ephemeral_home, find_binaries
from tests.worker.conftest import log_lines as log_lines
from tests.worker.conftest import shop as shop


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """A server without any of our roles, until a test makes them."""

    endpoint: Endpoint

    def url(self, database: str, user: str | None = None, password: str | None = None) -> str:
        return self.endpoint.url(database, user=user, password=password)

    async def execute(self, database: str, *statements: str) -> None:
        connection = await asyncpg.connect(self.url(database))
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    async def fetch(self, database: str, query: str) -> list[asyncpg.Record]:
        connection = await asyncpg.connect(self.url(database))
        try:
            return list(await connection.fetch(query))
        finally:
            await connection.close()

    async def new_database(self, owner: str = "postgres") -> str:
        name = f"test_{uuid.uuid4().hex}"
        await self.execute("postgres", f"create database {name} owner {owner}")
        return name


@pytest.fixture(scope="session")
def own() -> Iterator[Own]:
    """Of the version of this run."""
    chosen = os.environ.get("LEASEHOLD_PG_BIN")
    with running(Path(chosen) if chosen else None) as endpoint:
        yield Own(endpoint=endpoint)


@pytest.fixture(scope="session")
def old(own: Own) -> Iterator[Own]:
    """Of PostgreSQL 15, where CREATEROLE still means every role."""
    if own.endpoint.version.startswith("15."):
        yield own
        return
    found = [path for path in Path("/usr/lib/postgresql").glob("15/bin") if (path / "postgres").exists()]
    if not found:
        pytest.skip("PostgreSQL 15 is not installed here")
    with running(found[0]) as endpoint:
        yield Own(endpoint=endpoint)


@pytest.fixture
def schema() -> str:
    """A name that nobody has used: its roles are not there yet."""
    return f"s_{uuid.uuid4().hex[:12]}"


@pytest.fixture
def database(own: Own) -> str:
    return asyncio.run(own.new_database())


@pytest.fixture(scope="session")
def psql(own: Own) -> Path:
    chosen = os.environ.get("LEASEHOLD_PG_BIN")
    return find_binaries(Path(chosen) if chosen else None).bin / "psql"


@contextmanager
def running(pg_bin: Path | None) -> Iterator[Endpoint]:
    folder = ephemeral_home(in_memory=True)
    home = Home(folder / "home")
    try:
        with Server(home.path, pg_bin=pg_bin, ephemeral=True) as server:
            yield server.start()
    finally:
        home.wipe()
        shutil.rmtree(folder)
