"""An installation of several servers: what tests do to it and see of it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg

from leasehold.engine.database import Database, Role, Target, at
from leasehold.settings import Settings
from tests.cell import Cell
from tests.cli.program import Program, Said, leasehold, started


@dataclass(frozen=True, slots=True)
class Place:
    """One database that is a cell, or was one."""

    home: Cell
    url: str

    async def look(self, query: str, *arguments: Any) -> list[tuple[Any, ...]]:
        """Rows of any query, as the administrator."""
        async with self.connected(None) as connection:
            return [tuple(row) for row in await connection.fetch(query, *arguments)]

    def database(self, role: Role) -> Database:
        """What a program has that was told this place, and knows of no directory."""
        return Database(Target(url=at(self.home.url(role), self.url), role=role))

    def connected(self, role: Role | None) -> "Connected":
        """A connection as a role, or as the administrator, that asks no directory."""
        return Connected(at(self.home.cluster.url(self.home.name, role), self.url))


class Connected:
    def __init__(self, url: str) -> None:
        self._url = url

    async def __aenter__(self) -> asyncpg.Connection:
        self._connection = await asyncpg.connect(self._url, server_settings={"application_name": "leasehold-migrate"})
        return self._connection

    async def __aexit__(self, *_: object) -> None:
        await self._connection.close()


@dataclass(frozen=True, slots=True)
class Places:
    home: Cell
    servers: list[str]
    name: str = field(default_factory=lambda: f"test_{uuid4().hex}")  # of this test's databases there

    @property
    def environment(self) -> dict[str, str]:
        """What every process of the installation gets: the URLs of home, and no other."""
        return self.home.environment() | {
            "LEASEHOLD_DATABASE_URL": self.home.cluster.url(self.home.name),
            "LEASEHOLD_PACKS": "none",
            "LEASEHOLD_SLOTS": "8",
            "LEASEHOLD_POLL_SECONDS": "0.05",
            "LEASEHOLD_BEAT_SECONDS": "0.5",
            "LEASEHOLD_LEASE_SECONDS": "20",
        }

    @property
    def settings(self) -> Settings:
        return Settings.from_env(self.environment)

    def url(self, server: int, name: str = "") -> str:
        """A database of this test on one of the servers."""
        return f"{self.servers[server]}/{self.name}{name}"

    def at(self, server: int, name: str = "") -> Place:
        return Place(self.home, self.url(server, name))

    def at_home(self) -> Place:
        parts = urlsplit(self.home.cluster.admin_url)
        return Place(self.home, f"postgresql://{parts.hostname}:{parts.port}/{self.home.name}")

    def ran(self, *arguments: str, **env: str) -> Said:
        """A command that went well."""
        said = leasehold(*arguments, env=self.environment | env)
        assert said.code == 0, said.err
        return said

    def refused(self, *arguments: str) -> str:
        said = leasehold(*arguments, env=self.environment)
        assert said.code != 0, said.out
        return said.err

    def begun(self, *arguments: str, **env: str) -> AbstractContextManager[Program]:
        return started(*arguments, env=self.environment | env)

    @contextmanager
    def worker(self, *, cells: str) -> Iterator[Program]:
        """A real worker process of these cells, until the end of the block; then it has stopped in good order."""
        with self.begun("worker", "tests.cells.apps:app", "--cells", cells) as program:
            for _ in cells.split(","):
                program.said("worker started")
            yield program
            assert program.stopped().code == 0, program.err
