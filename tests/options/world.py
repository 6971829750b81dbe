"""A database that knows the kinds of the cases, whatever the ways need open, and what became of a job."""

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import httpx

from leasehold import Leasehold, Settings
from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.engine import jobs, leases
from leasehold.http.app import create_app, open_services
from leasehold.http.server import serving
from leasehold.job_options import plain
from leasehold.program.client import Backend, Client
from leasehold.program.context import Context
from tests.cell import Cell
from tests.http.conftest import bearer, make_key, settings_of
from tests.options.cases import Case

QUEUES = ["default", "mail", "money"]


async def nothing(ctx: Context, payload: Any) -> None: ...


def app_of(cell: Cell, cases: Iterable[Case], settings: Settings) -> Leasehold:
    """A program that handles the kinds of these cases."""
    app = Leasehold(replace(settings, api_url=cell.url(Role.API), worker_url=cell.url(Role.WORKER), tenant="a"))
    for case in cases:
        app.handler(case.kind, **case.handler)(nothing)
    return app


async def register(db: Database, cases: Iterable[Case]) -> UUID:
    """A worker brings the options of the cases' handlers."""
    return await leases.register_worker(
        db, name="w", version="1", queues=QUEUES, kinds={case.kind: case.handler for case in cases}, slots=100,
        lease_s=600.0,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    cell: Cell
    cases: Sequence[Case]
    app: Leasehold
    worker_db: Database
    stack: AsyncExitStack

    @property
    def settings(self) -> Settings:
        return self.app.settings

    async def client(self) -> Client:
        backend = await self.stack.enter_async_context(Backend(self.settings))
        return await backend.client("a")

    async def http(self) -> httpx.AsyncClient:
        """Our API, by the key of tenant a."""
        services = await self.stack.enter_async_context(open_services(settings_of(self.cell), loopback=True))
        key = await make_key(self.cell, self.cell.tenant_a)
        transport = httpx.ASGITransport(create_app(services))
        client = httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=bearer(key))
        return await self.stack.enter_async_context(client)

    async def server(self) -> tuple[str, str]:
        """A real server and a key of tenant a."""
        url = await self.stack.enter_async_context(serving(settings_of(self.cell, port=0)))
        return url, (await make_key(self.cell, self.cell.tenant_a)).text

    async def wanted(self) -> dict[str, Any]:
        """What the case's job is like when one call gives all its options, for tenant b and a kind without any."""
        made: dict[str, UUID | Exception] = {}
        async with Database(target(self.settings, Role.API)) as db:
            for case in self.cases:
                made[case.name] = ValueError("must be refused")
                if case.wanted is not None:
                    keys = None if case.key is None else [case.key]
                    asked = ("r" + case.kind, [json.dumps(case.payload)], plain(case.wanted))
                    [job] = await jobs.enqueue(db, self.cell.tenant_b, *asked, keys=keys)
                    made[case.name] = job.job_id
        return await self.seen(made)

    async def seen(self, made: dict[str, UUID | Exception]) -> dict[str, Any]:
        """All that is kept of these jobs, but for what no two have in common."""
        found = {UUID(row["job_id"]): row["kept"] for row in await self.cell.look(_SEEN)}
        return {name: "refused" if isinstance(one, Exception) else found[one] for name, one in made.items()}


@asynccontextmanager
async def world_of(
    cell: Cell, cases: Sequence[Case], settings: Settings, worker_db: Database, *, known: bool = True
) -> AsyncIterator[World]:
    """``known``: a worker has told the database of the kinds."""
    for queue in QUEUES:
        await worker_db.call("create_queue", queue)
    if known:
        await register(worker_db, cases)
    async with AsyncExitStack() as stack:
        app = app_of(cell, cases, settings)
        stack.push_async_callback(app.close)
        yield World(cell=cell, cases=cases, app=app, worker_db=worker_db, stack=stack)


#: Moments by the thousand seconds after the job was made: ways take some milliseconds, or wait for
#: a tick.
_SEEN = """
select
  j.job_id,
  to_jsonb(j) - array[
    'job_id', 'tenant_id', 'kind', 'created_at', 'run_at', 'xid', 'pass', 'group_key'
  ] || jsonb_build_object(
    'state', leasehold.state_of(j.job_id),
    'starts_in_1000_s', round(extract(epoch from coalesce(d.run_at, j.run_at) - j.created_at) / 1000),
    'group_key', regexp_replace(j.group_key, '^unique:.*', 'unique:'),
    'key_window_s', round(extract(epoch from i.expires_at - j.created_at))
  ) as kept
from leasehold.job j
left join leasehold.deferred d on d.job_id = j.job_id and d.run_at > leasehold.now()
left join leasehold.idempotency i on i.job_id = j.job_id
"""
