"""``Kit``: what a test does with its own database: run jobs, move the clock, look at what was enqueued."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from leasehold.database import migrate
from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.database.plugin_schema import PackFiles
from leasehold.engine import maintenance, tenants
from leasehold.errors import BadInput
from leasehold.feature import Feature
from leasehold.job import Job, State
from leasehold.plugins.discovery import files_of
from leasehold.program.app import Leasehold
from leasehold.program.client import Client
from leasehold.program.context import Context
from leasehold.settings import Settings
from leasehold.testing import factory, selection
from leasehold.testing.backend import BriefBackend, BriefDatabase
from leasehold.testing.inline import Inline
from leasehold.testing.server import TemplateServer, apart
from leasehold.testing.sync import KitSync
from leasehold.worker import Worker

_LOOK_SECONDS = 0.02


class Kit:
    """One test's own database, with the tenant ``default``. The fixture ``leasehold`` makes it."""

    def __init__(self, settings: Settings, server: TemplateServer | None = None) -> None:
        self.settings = settings
        self._server = server
        self._backend = BriefBackend(settings)
        self._operator = BriefDatabase(target(settings, Role.OPERATOR))
        self._introduced: set[str] = set()
        self._used: list[tuple[Leasehold, dict[str, Any]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._used:
            app, before = self._used.pop()
            app.__dict__.clear()
            app.__dict__.update(before)

    def use(self, app: Leasehold) -> Leasehold:
        """Point the app at the test's database, for the rest of the test."""
        if not any(app is used for used, _ in self._used):
            self._used.append((app, dict(app.__dict__)))

        async def opened() -> BriefBackend:
            await self._introduce(app)  # of handlers that were declared after us
            return self._backend

        # On the object, not on its class: other apps, and this one after the test, open their own database.
        app.__dict__.update(_settings=self.settings, _backend=None, _open=opened)
        apart(lambda: self._introduce(app))
        return app

    @property
    def sync(self) -> KitSync:
        """The same for tests without an event loop."""
        return KitSync(self)

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to use this database: ``subprocess.run(…, env=os.environ | kit.environment)``."""
        names = ("database_url", "api_url", "worker_url", "operator_url", "tenant", "poll_seconds")
        values = {f"LEASEHOLD_{name.upper()}": getattr(self.settings, name) for name in names}
        return {name: str(value) for name, value in values.items() if value is not None}

    @property
    def admin_url(self) -> str:
        """The database as its administrator, for the migrations of your own tables; for nothing else."""
        if self.settings.database_url:
            return self.settings.database_url
        if self._server is None:
            raise BadInput("this kit knows no administrator", hint="use the fixture: def test_it(leasehold): …")
        return self._server.url(target(self.settings, Role.API).url.rpartition("/")[2])

    # -- run jobs -----------------------------------------------------------------------------------------------

    async def run_until_idle(self, app: Leasehold, *, timeout: float = 30.0) -> list[Job]:
        """Run a worker here until nothing is queued, due or running; the jobs that it ran. What is for later stays."""
        async with self._working(app, self.settings) as (task, ran):
            try:
                async with asyncio.timeout(timeout):
                    while not task.done() and await self._to_do():
                        await asyncio.wait([task], timeout=_LOOK_SECONDS)
            except TimeoutError:
                raise AssertionError(f"not idle after {timeout:g} s:\n{await self._what_is_left()}") from None
        return [await self.get(job_id, tenant=tenant) for job_id, tenant in ran.items()]

    async def run_one(self, app: Leasehold, *, timeout: float = 30.0) -> Job | None:
        """Run one attempt of the job whose turn it is; None when nothing is queued or due."""
        async with self._working(app, replace(self.settings, slots=1, max_jobs=1)) as (task, ran):
            try:
                async with asyncio.timeout(timeout):
                    while not task.done() and (ran or await self._to_do()):
                        await asyncio.wait([task], timeout=_LOOK_SECONDS)
            except TimeoutError:
                raise AssertionError(f"no job ran within {timeout:g} s:\n{await self._what_is_left()}") from None
        return next(iter([await self.get(job_id, tenant=tenant) for job_id, tenant in ran.items()]), None)

    def inline(self, app: Leasehold) -> AbstractAsyncContextManager[Inline]:
        """In this block an enqueue runs what is queued, at once and in the caller's loop, and raises its error."""
        return Inline(self.use(app), self.settings)

    # -- the clock ----------------------------------------------------------------------------------------------

    async def freeze(self, at: datetime | None = None) -> datetime:
        """Stop the database's clock, at this moment or where it is. Python's own clock goes on."""
        return await self._set_clock("freeze", _aware(at))

    async def move(self, by: float | timedelta | None = None, *, to: datetime | None = None) -> datetime:
        """Move the database's clock by seconds or a duration, or to a moment; what it shows then."""
        if (by is None) == (to is None):
            raise BadInput("move takes either seconds (or a timedelta), or to= a moment")
        seconds = by if isinstance(by, timedelta) or by is None else timedelta(seconds=by)
        return await self._set_clock("move", seconds, _aware(to))

    async def thaw(self) -> datetime:
        """Let the database's clock show the time again."""
        return await self._set_clock("thaw")

    # -- look ---------------------------------------------------------------------------------------------------

    async def enqueued(self, kind: str | None = None, *, tenant: str | UUID | None = None) -> list[Job]:
        """The jobs that were asked for, in whatever state they are now, the oldest first; by default of all tenants."""
        chosen = [tenant] if tenant else [each.tenant_id for each in await tenants.list_tenants(self._operator)]
        filters: dict[str, Any] = {} if kind is None else {"kind": kind}
        found = [job for each in chosen for job in await (await self.client(each)).list_jobs(limit=1000, **filters)]
        return sorted(found, key=lambda job: (job.created_at, job.job_id))

    async def assert_enqueued(
        self,
        kind: str,
        payload_subset: Any = None,
        *,
        count: int | None = None,
        tenant: str | UUID | None = None,
    ) -> list[Job]:
        """Fail unless such a job was asked for (``count``: exactly so many); the jobs."""
        __tracebackhide__ = True
        everything = await self.enqueued(tenant=tenant)
        found = selection.fitting(everything, kind, payload_subset)
        if len(found) != count if count is not None else not found:
            raise AssertionError(selection.words(found, everything, kind, payload_subset, wanted=count))
        return found

    async def refute_enqueued(self, kind: str, payload_subset: Any = None, *, tenant: str | UUID | None = None) -> None:
        """Fail if such a job was asked for."""
        __tracebackhide__ = True
        await self.assert_enqueued(kind, payload_subset, count=0, tenant=tenant)

    async def get(self, job_id: UUID, *, tenant: str | UUID | None = None) -> Job:
        return await (await self.client(tenant)).get(job_id)

    async def client(self, tenant: str | UUID | None = None) -> Client:
        """A tenant's view of its jobs: events, attempts, cancel, retry."""
        return await self._backend.client(tenant)

    # -- make ---------------------------------------------------------------------------------------------------

    async def job(
        self,
        *,
        state: State | str = State.QUEUED,
        kind: str = "test.job",
        payload: Any = None,
        tenant: str | UUID | None = None,
        result: Any = None,
        error: str = "failed on purpose",
        **options: Any,
    ) -> Job:
        """A job in this state, brought there by the engine's own functions. Options are those of ``enqueue``."""
        client = await self.client(tenant)
        made = factory.Factory(client, BriefDatabase(target(self.settings, Role.WORKER)))
        return await made.job(State(state), kind, payload, result=result, error=error, options=options)

    async def tenant(self, name: str) -> UUID:
        """The tenant of this name, made if it is not there."""
        return await tenants.create_tenant(self._operator, name)

    async def migrate(self, pack: Feature | PackFiles) -> None:
        """Give this database the tables of a pack that is not installed (those that are, it has)."""
        await migrate.migrate(self.admin_url, packs=[files_of(pack) if isinstance(pack, Feature) else pack])

    # -- inside -------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _working(
        self, app: Leasehold, settings: Settings
    ) -> AsyncIterator[tuple["asyncio.Task[None]", dict[UUID, UUID]]]:
        """A worker of the app for the block; its task, and the jobs (with their tenants) that it has begun."""
        ran: dict[UUID, UUID] = {}

        async def note(ctx: Context, call_next: Callable[[], Awaitable[Any]]) -> Any:
            ran[ctx.job_id] = ctx.tenant_id
            return await call_next()

        noted = Leasehold(settings)
        noted.middleware(note)
        noted.include(self.use(app))
        async with Database(target(settings, Role.WORKER)) as db:
            worker = Worker(db, noted, settings, name="kit")
            task = asyncio.create_task(worker.run())
            try:
                yield task, ran
            finally:
                worker.stop()
                await task

    async def _introduce(self, app: Leasehold) -> None:
        """A worker tells of its handlers; a test may enqueue before it has one."""
        if app.handlers.keys() - self._introduced:
            await app.introduce(self._operator)
            self._introduced |= app.handlers.keys()

    async def _to_do(self) -> list[Mapping[str, Any]]:
        async with self._operator.transaction() as connection:
            return list(await connection.fetch("select * from leasehold_test.to_do() limit 20"))

    async def _what_is_left(self) -> str:
        lines = []
        for row in await self._to_do():
            reasons = await (await self.client(row["tenant_id"])).explain(row["job_id"])
            why = "; ".join(reason.detail for reason in reasons)
            lines.append(f"  {row['kind']} {row['state']} in {row['queue']}{': ' if why else ''}{why}")
        return "\n".join(lines) or "  nothing is left by now"

    async def _set_clock(self, function: str, *args: Any) -> datetime:
        holes = ", ".join(f"${place}" for place in range(1, len(args) + 1))
        async with self._operator.transaction() as connection:
            shown: datetime = await connection.fetchval(f"select leasehold_test.{function}({holes})", *args)
        await maintenance.make_partitions(self._operator)  # of the days that it is now
        return shown


def _aware(moment: datetime | None) -> datetime | None:
    if moment is not None and moment.tzinfo is None:
        raise BadInput(f"{moment.isoformat()} has no time zone", hint="datetime(…, tzinfo=UTC)")
    return moment
