"""Databases for tests: a template made once, clones made in milliseconds."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeVar
from urllib.parse import quote, urlsplit, urlunsplit
from uuid import UUID

import asyncpg

from leasehold.database import migrate
from leasehold.database.database import Database, Role, Target
from leasehold.feature import Feature
from leasehold.plugins.discovery import files_of
from leasehold.postgres import Home, Server, ephemeral_home
from leasehold.testing.databases import Databases, administer, enable_reset
from tests.connections import KEPT

T = TypeVar("T")

# In test databases only: look at and change what no role may see, and move the engine's clock. The
# connection stays
# the operator's; the functions belong to the owner.
_TENANT_A = UUID("0190a000-0000-7000-8000-00000000000a")
_TENANT_B = UUID("0190b000-0000-7000-8000-00000000000b")
_BACK_DOOR = """
create schema leasehold_test authorization leasehold_owner;
set role leasehold_owner;
create table leasehold_test.clock (offset_s double precision not null);
insert into leasehold_test.clock values (0);
create function leasehold_test.look(p_query text) returns setof jsonb language plpgsql security definer
as $$ begin return query execute 'select to_jsonb(x) from (' || p_query || ') x'; end $$;
create function leasehold_test.change(p_statement text) returns void language plpgsql security definer
as $$ begin execute p_statement; end $$;
create function leasehold_test.plan(p_statement text) returns text language plpgsql security definer
as $$ declare v_line text; v_plan text := ''; begin
  for v_line in execute 'explain ' || p_statement loop v_plan := v_plan || v_line || chr(10); end loop; return v_plan;
end $$;
create or replace function leasehold.now() returns timestamptz language sql volatile
as $$ select clock_timestamp() + make_interval(secs => (select offset_s from leasehold_test.clock)) $$;
grant execute on function leasehold_test.look(text), leasehold_test.change(text), leasehold_test.plan(text)
to leasehold_operator;
grant select on leasehold_test.clock to leasehold_api, leasehold_worker, leasehold_operator, leasehold_readonly;
grant usage on schema leasehold_test to leasehold_api, leasehold_worker, leasehold_operator, leasehold_readonly;
"""
_TO_THE_NEXT_ATTEMPT = """
update leasehold_test.clock set offset_s = offset_s + extract(epoch from n.run_at - leasehold.now())
from (select min(run_at) as run_at from leasehold.deferred where why in ('errored', 'snoozed')) n
where n.run_at > leasehold.now()
  and not exists (select from leasehold.ready) and not exists (select from leasehold.lease)
"""
_TENANTS = f"""
insert into leasehold.tenant (tenant_id, name, created_at)
values ('{_TENANT_A}', 'a', now()), ('{_TENANT_B}', 'b', now());
"""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """The server of this test run."""

    admin_url: str
    passwords: dict[Role, str]
    home: str
    template: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(**value | {"passwords": {Role(role): text for role, text in value["passwords"].items()}})

    def url(self, database: str, role: Role | None = None) -> str:
        parts = urlsplit(self.admin_url)
        netloc = parts.netloc
        if role is not None:
            netloc = f"leasehold_{role}:{quote(self.passwords[role], safe='')}@{parts.hostname}:{parts.port}"
        return urlunsplit(parts._replace(netloc=netloc, path=f"/{database}"))

    async def make_template(self, install: Callable[[str], Awaitable[object]] = migrate.migrate) -> None:
        await migrate.create_database(self.admin_url, self.template)
        await install(self.url(self.template))
        await migrate.let_in(self.admin_url, self.template, self.passwords)
        await self.open_back_door()
        await self.administer(self.template, _TENANTS)
        await enable_reset(self.url(self.template))

    @cached_property
    def databases(self) -> Databases:
        """Those of this process."""
        return Databases(self.admin_url, self.template)

    def close(self) -> None:
        """Close what was kept for those who cloned."""
        if "databases" in vars(self):
            self.databases.close()

    async def open_back_door(self) -> None:
        """Also into a database that had one and was restored without its grants."""
        await self.administer(self.template, f"drop schema if exists leasehold_test cascade; {_BACK_DOOR}")

    async def clone(self) -> "Cell":
        """A database like the template: a new one, or one that another test has given back."""
        name = await self.databases.take()
        KEPT.keep_for(name)
        return Cell(cluster=self, name=name, is_given_back=True)

    async def with_packs(self, packs: Sequence[Feature]) -> "Cluster":
        """The same server with a template that has the tables of these packs as well."""
        template = f"{self.template}_packs_{uuid.uuid4().hex[:12]}"
        await administer(self.admin_url, f'create database "{template}" template "{self.template}" strategy file_copy')
        await migrate.migrate(self.url(template), packs=[files_of(pack) for pack in packs])
        await enable_reset(self.url(template))
        return replace(self, template=template)

    async def administer(self, database: str, statement: str) -> None:
        await administer(self.url(database), statement)


@asynccontextmanager
async def apart() -> "AsyncIterator[Cell]":
    """A cell on a server of its own, durable as in production: for attacks that are run by hand."""
    home = Home(ephemeral_home())
    home.make()
    server = Server(home.path)
    try:
        endpoint = server.start()
        passwords = {role: home.secret(role) for role in Role}
        cluster = Cluster(admin_url=endpoint.url(), passwords=passwords, home=str(home.path), template="attacked")
        await cluster.make_template()
        yield Cell(cluster=cluster, name=cluster.template)
        cluster.close()
    finally:
        server.stop()
        home.wipe()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One test's own database, with two tenants."""

    cluster: Cluster
    name: str
    tenant_a: UUID = _TENANT_A
    tenant_b: UUID = _TENANT_B
    is_given_back: bool = False  # to those who clone; until then the administrator's connection is kept

    def url(self, role: Role) -> str:
        return self.cluster.url(self.name, role)

    def database(self, role: Role, **options: Any) -> Database:
        return Database(Target(url=self.url(role), role=role), **options)

    async def look(self, query: str) -> list[dict[str, Any]]:
        """Rows of any query, hot tables included."""
        rows = await self._administer(lambda own: own.fetch("select leasehold_test.look($1)", query))
        return [json.loads(row[0]) for row in rows]

    async def change(self, statement: str) -> None:
        await self._administer(lambda own: own.execute("select leasehold_test.change($1)", statement))

    async def _administer(self, work: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        if self.is_given_back:
            return await self.cluster.databases.run(self.name, work)
        connection = await asyncpg.connect(self.url(Role.OPERATOR))
        try:
            return await work(connection)
        finally:
            await connection.close()

    async def plan(self, statement: str, settings: str) -> str:
        """How the owner would run this statement under these settings."""
        connection = await asyncpg.connect(self.url(Role.OPERATOR))
        try:
            await connection.execute(settings)
            return str(await connection.fetchval("select leasehold_test.plan($1)", statement))
        finally:
            await connection.close()

    async def pass_time(self, seconds: float) -> None:
        """Move the engine's clock forward; nobody waits."""
        await self.change(f"update leasehold_test.clock set offset_s = offset_s + {seconds}")

    @asynccontextmanager
    async def without_back_offs(self) -> AsyncIterator[None]:
        """In this block nobody waits for a job's next attempt: the clock is moved to it when nothing else is to do.

        Leases must outlast the leaps: a worker that holds none is looked at, too.
        """
        connection = await asyncpg.connect(self.url(Role.OPERATOR))

        async def hurry() -> None:
            while True:
                await connection.execute("select leasehold_test.change($1)", _TO_THE_NEXT_ATTEMPT)
                await asyncio.sleep(0.05)

        task = asyncio.create_task(hurry())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await connection.close()

    async def exceed_quota(self, waiting: int) -> None:
        """Let tenant a have more waiting than it may, until the jobs that wait are counted next."""
        await self.change(
            f"insert into leasehold.over_quota values ('{self.tenant_a}', {waiting}, leasehold.now());"
            f"update leasehold.tenant set may_queue = false where tenant_id = '{self.tenant_a}'"
        )

    def environment(self) -> dict[str, str]:
        """What a real process needs to use this database."""
        return {f"LEASEHOLD_{role.upper()}_URL": self.url(role) for role in (Role.API, Role.WORKER, Role.OPERATOR)}

    async def give_back(self) -> None:
        """Ends what still uses the database, and lets another test have it."""
        if not await self.cluster.databases.give_back(self.name, spare=KEPT.pids(self.name)):
            KEPT.drop(self.name)
