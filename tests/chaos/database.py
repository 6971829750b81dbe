"""The private PostgreSQL of a run: durable, and ours to stop, fill and read."""

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import asyncpg

from leasehold import tokens as keys
from leasehold.database import migrate
from leasehold.database.database import Database, Role, Target
from leasehold.engine import tenants
from leasehold.errors import LeaseholdError
from leasehold.features.api_keys import store as engine_keys
from leasehold.features.limits import store as gates
from leasehold.features.limits import store as limits_store
from leasehold.features.limits.store import Gates
from leasehold.features.schedules.store import Schedules
from leasehold.features.secrets import store as secrets
from leasehold.postgres import Endpoint, Home, Server
from leasehold.sealing import Keys
from leasehold.tokens import Peppers
from tests.chaos.place import Place
from tests.chaos.remote_worker import QUEUE

NAME = "chaos"
OPTIONS = {"max_wal_size": "192MB", "min_wal_size": "64MB", "max_connections": "300", "wal_recycle": "off"}
#: Rows that handlers and callers write in the transactions of their jobs. No keys: what is written
#: twice shall be seen.
TABLES = """
create schema chaos;
create table chaos.effect (job_id uuid not null, attempt integer not null, worker text not null);
create table chaos.asked (job_id uuid not null);
grant usage on schema chaos to leasehold_api, leasehold_worker;
grant insert, select on chaos.effect to leasehold_worker;
grant insert, select on chaos.asked to leasehold_api;
"""
TENANTS = ("a", "b")
#: Of the probe alone, without limits.
BYSTANDER = "c"
MAX_QUEUED = 600
#: So many at once: of tenant b, and of one kind.
TENANT_LIMIT = ("b", 9)
KIND_LIMIT = ("c.limited", 2)
#: Starts in a second, and at once after a rest; the last gate is shared by both tenants.
GATES = {"host:one": (20, 1), "host:two": (40, 3), "both:one": (30, 2)}
SHARED_GATE = "both:one"
SCHEDULE = "pulse"
#: So long nothing ended: what is still there never will.
_STUCK_SECONDS = 60.0


@dataclass(slots=True, kw_only=True)
class Private:
    place: Place
    home: Home
    server: Server
    tenants: dict[str, str] = field(default_factory=dict)  # name -> id
    restarts: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _endpoint: Endpoint | None = None

    async def start(self) -> None:
        self._endpoint = await asyncio.to_thread(self.server.start)

    @property
    def endpoint(self) -> Endpoint:
        assert self._endpoint is not None
        return self._endpoint

    async def stop_at_once(self) -> None:
        """As ``pg_ctl stop -m immediate``: no checkpoint, no good-bye."""
        self.restarts += 1
        os.kill(self.endpoint.pid, signal.SIGQUIT)
        await asyncio.to_thread(self.server.stop)

    async def revive(self) -> None:
        """Start it if it is down: a server without room for its log gives up by itself."""
        deadline = time.monotonic() + 60
        while True:
            try:
                await self.start()
                async with self.admin() as connection:
                    await connection.execute("create temp table alive ()")
                return
            except (LeaseholdError, OSError, asyncpg.PostgresError):
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.2)

    def url(self, role: Role, port: int | None = None) -> str:
        secret = quote(self.home.secret(role), safe="")
        return f"postgresql://leasehold_{role}:{secret}@127.0.0.1:{port or self.endpoint.port}/{NAME}"

    @property
    def admin_url(self) -> str:
        return self.endpoint.url(NAME)

    @property
    def port(self) -> int:
        return self.endpoint.port

    @property
    def passwords(self) -> list[str]:
        return [self.home.secret(role) for role in Role]

    @asynccontextmanager
    async def admin(self) -> AsyncIterator[asyncpg.Connection]:
        connection = await asyncpg.connect(self.admin_url, server_settings={"application_name": "leasehold-migrate"})
        try:
            yield connection
        finally:
            connection.terminate()

    async def rows(self, query: str) -> list[dict[str, Any]]:
        async with self.admin() as connection:
            return [json.loads(row[0]) for row in await connection.fetch(f"select to_jsonb(x) from ({query}) x")]

    def database(self, role: Role) -> Database:
        return Database(Target(url=self.url(role), role=role))

    async def make(self, *, keys: str, secret: str) -> None:
        """Schema, tenants, limits, gates, a schedule, and a secret for each tenant."""
        await migrate.create_database(self.endpoint.url(), NAME)
        await migrate.migrate(self.admin_url)
        await self.let_in()
        async with self.admin() as connection:
            await connection.execute(TABLES)
        async with self.database(Role.OPERATOR) as db:
            await tenants.create_queue(db, QUEUE)
            self.tenants[BYSTANDER] = str(await tenants.create_tenant(db, BYSTANDER))
            for name in TENANTS:
                tenant = await tenants.create_tenant(db, name)
                self.tenants[name] = str(tenant)
                limit = TENANT_LIMIT[1] if name == TENANT_LIMIT[0] else None
                await tenants.set_tenant(db, tenant, max_running=limit, max_queued=MAX_QUEUED)
                for gate, (rate, burst) in GATES.items():
                    if gate != SHARED_GATE:
                        await Gates(db, tenant).set(gate, rate=rate, burst=burst)
            await gates.set_shared(db, SHARED_GATE, dict(zip(("rate", "burst"), GATES[SHARED_GATE], strict=True)))
        async with self.database(Role.API) as db:
            for name in TENANTS:
                tenant = await tenants.find_tenant(db, name)
                await secrets.put_secret(db, tenant, "chaos", secret, Keys([keys]))
                schedules = Schedules(db, tenant, lambda _: None)
                await schedules.put(SCHEDULE, "c.tick", {}, every=1, tick_as="tick", overlap="queue", catch_up="all")

    async def let_in(self) -> None:
        passwords = {role: self.home.secret(role) for role in Role}
        await migrate.let_in(self.endpoint.url(), NAME, passwords)

    async def make_key(self, tenant: str | None, pepper: str) -> str:
        """A key of a tenant, or of the installation."""
        key, peppers = keys.make("live"), Peppers([pepper])
        async with self.database(Role.OPERATOR) as db:
            if tenant is None:
                await engine_keys.create_operator_key(
                    db, key, peppers, name="chaos", scopes=["operator"], expires_at=None
                )
            else:
                scopes = ["jobs:read", "jobs:write"]
                found = await tenants.find_tenant(db, tenant)
                await engine_keys.create_key(db, found, key, peppers, name="chaos", scopes=scopes, expires_at=None)
        return key.text

    async def limit_kind(self) -> None:
        """Once a worker has made the kind known."""
        async with self.database(Role.OPERATOR) as db:
            await limits_store.limit_kind(db, *KIND_LIMIT)

    async def pause_schedules(self) -> None:
        async with self.database(Role.API) as db:
            for name in TENANTS:
                await Schedules(db, await tenants.find_tenant(db, name), lambda _: None).pause(SCHEDULE)


async def drain(database: Private) -> None:
    """Until every job has ended, or nothing more happens."""
    newest, since = -1, time.monotonic()
    while time.monotonic() < since + _STUCK_SECONDS:
        [row] = await database.rows(
            "select (select count(*) from leasehold.job) - (select count(*) from leasehold.outcome)"
            " + (select count(*) from leasehold.flow where state = 'running') as open"
        )
        if row["open"] == 0:
            return
        if row["open"] != newest:
            newest, since = row["open"], time.monotonic()
        await asyncio.sleep(0.3)


@asynccontextmanager
async def private(place: Place) -> AsyncIterator[Private]:
    home = Home(place.folder)
    home.make()
    server = Server(home.path, options=OPTIONS)
    database = Private(place=place, home=home, server=server)
    try:
        await database.start()
        yield database
    finally:
        place.free()
        await asyncio.to_thread(server.stop)
        home.wipe()
