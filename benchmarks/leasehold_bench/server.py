"""Where a benchmark runs: the server of LEASEHOLD_DATABASE_URL, else an embedded one that is gone afterwards.

Databases are made for the benchmark alone, and dropped whatever happens to it.
"""

import secrets
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from leasehold.database import migrate
from leasehold.database.connect import target
from leasehold.database.connection import BY_HAND, Connection, connect
from leasehold.database.database import Database, Role
from leasehold.database.errors import translated
from leasehold.engine import tenants
from leasehold.errors import LeaseholdError
from leasehold.postgres import Home, Server, instance_home
from leasehold.settings import Settings

TENANTS = [f"bench-{number:02}" for number in range(100)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkServer:
    """A server, and a migrated database on it that others are copied from."""

    admin_url: str = field(repr=False)
    template: str
    embedded: bool

    @asynccontextmanager
    async def database(self) -> AsyncIterator[Settings]:
        """A fresh database with its tenants; the default settings that lead to it."""
        name = f"{self.template}_{secrets.token_hex(3)}"
        await migrate.create_database(self.admin_url, name, template=self.template)
        try:
            # A server may have it off by default; what is measured is durable.
            await administer(self.admin_url, f'alter database "{name}" set synchronous_commit = on')
            yield settings_for(self.admin_url, name)
        finally:
            await administer(self.admin_url, f'drop database "{name}" with (force)')


@asynccontextmanager
async def find_server(settings: Settings) -> AsyncIterator[BenchmarkServer]:
    """A server to measure on. At the end nothing of the benchmark is left on it but the roles."""
    with ExitStack() as stack:
        admin_url = settings.database_url or _start_server(stack, settings)
        await _require_right(admin_url)
        template = f"leasehold_bench_{secrets.token_hex(4)}"
        try:
            await _make_template(admin_url, template)
            yield BenchmarkServer(admin_url=admin_url, template=template, embedded=settings.database_url is None)
        finally:
            await _drop_all(admin_url, template)


def _start_server(stack: ExitStack, settings: Settings) -> str:
    """Durable, unlike other throw-away servers, and on the disk that `leasehold up` would use here."""
    home = Home(Path(f"{instance_home(settings.home)}-bench-{secrets.token_hex(4)}"))
    home.make()
    stack.callback(home.wipe)
    stack.enter_context(home.lock())
    server = Server(home.path, pg_bin=settings.pg_bin)
    # Not in a thread: one that is still starting the server when we are interrupted would leave it behind.
    endpoint = server.start()
    stack.callback(server.stop)
    return endpoint.url()


async def _require_right(admin_url: str) -> None:
    with translated():
        connection = await _connect(admin_url)
        try:
            user, may = await connection.fetchrow(
                "select rolname::text, rolsuper or rolcreatedb from pg_roles where rolname = current_user"
            )
        finally:
            await connection.close()
    if not may:
        raise LeaseholdError(
            f"{user} may not create databases, and a benchmark makes its own",
            hint=f'`alter role "{user}" createdb`, or unset LEASEHOLD_DATABASE_URL to measure an embedded PostgreSQL',
        )


async def _make_template(admin_url: str, name: str) -> None:
    await migrate.create_database(admin_url, name)
    await migrate.migrate(database_url(admin_url, name))
    async with Database(target(settings_for(admin_url, name), Role.OPERATOR), connections=1) as db:
        for tenant in TENANTS:
            await tenants.create_tenant(db, tenant)


async def _drop_all(admin_url: str, template: str) -> None:
    """Also copies: one may have been under way when we were interrupted."""
    with translated():
        connection = await _connect(admin_url)
        try:
            for (name,) in await connection.fetch(
                "select datname from pg_database where starts_with(datname, $1)", template
            ):
                await connection.execute(f'drop database "{name}" with (force)')
        finally:
            await connection.close()


async def administer(url: str, statement: str) -> None:
    with translated():
        connection = await _connect(url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


def settings_for(admin_url: str, database: str) -> Settings:
    return replace(Settings(), database_url=database_url(admin_url, database), packs="none")


def database_url(admin_url: str, database: str) -> str:
    return urlunsplit(urlsplit(admin_url)._replace(path=f"/{database}"))


async def _connect(url: str) -> Connection:
    return await connect(url, "leasehold-bench", deadline=BY_HAND)
