"""The object a program makes: its handlers by kind, and the way to ask for work.

app = Leasehold()

@app.handler("shop.refund", queue="money", attempts=5, timeout=60)
async def refund(ctx: Context, order: RefundOrder) -> Receipt: ...

await refund.enqueue(RefundOrder(...), tenant="acme", key="r-1")
await app.enqueue("shop.refund", {...}, tenant="acme", conn=my_open_transaction)
"""

import asyncio
import importlib
import logging
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from types import ModuleType
from typing import TYPE_CHECKING, Any, Unpack, overload
from uuid import UUID

from leasehold import tracing
from leasehold.database import foreign_transaction
from leasehold.database.database import Database
from leasehold.durations import Duration, seconds_of
from leasehold.engine.leases import register_kinds
from leasehold.errors import BadInput, NotFound
from leasehold.features.flows.model import Flow, Piece, flow_of
from leasehold.job import Enqueued, JobFailed, State
from leasehold.job_options import plain
from leasehold.json_codec import decode, encode
from leasehold.kinds import check_kind
from leasehold.log import emit
from leasehold.program.batches import BatchFunction, join_batches
from leasehold.program.client import Backend, Client
from leasehold.program.context import Context
from leasehold.program.handler import Function, Handler, two_handlers
from leasehold.program.kind import Kind, P, R, Register
from leasehold.program.sync_app import SyncLeasehold
from leasehold.settings import Settings, unknown_variables
from leasehold.typed_options import HandlerOptions, JobOptions, ScheduleOptions

if TYPE_CHECKING:
    from leasehold.features.blobs.object_store import ObjectStore
    from leasehold.features.schedules.timing import Schedule
    from leasehold.fetch.fetcher import Fetcher
    from leasehold.fetch.robots import Robots
    from leasehold.sealing import Keys

#: ``async def timing(ctx, call_next): … return await call_next()``
Middleware = Callable[[Context, Callable[[], Awaitable[Any]]], Awaitable[Any]]
#: A function that returns an async context manager; the mapping it gives becomes part of ``ctx.resources``.
Lifespan = Callable[[], AbstractAsyncContextManager[Mapping[str, Any] | None]]


class Leasehold:
    """A program's handlers. Run them with ``leasehold worker module:app``; ask for work with ``enqueue``.

    The database is opened by the first enqueue; ``async with app`` (or ``await app.close()``) closes it.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.handlers: dict[str, Handler] = {}
        self.middlewares: list[Middleware] = []
        self.lifespans: list[Lifespan] = []
        self.schedules: list[Schedule] = []
        self._settings = settings
        self._backend: Backend | None = None
        self._introduced = 0  # handlers that the open database has been told of
        self._opening: asyncio.Lock | None = None
        self._fetcher: Fetcher | None = None
        self._robots: Robots | None = None
        self._objects: ObjectStore | None = None
        self._secret_keys: Keys | None = None

    # -- what the program handles -------------------------------------------------------------------------------

    def handler(self, kind: str, **options: Unpack[HandlerOptions]) -> "Register":
        """Let the decorated function handle this kind; options are the defaults of its jobs, for all who ask for one.

        ``gate`` may be a template over the payload: ``gate="stripe:{customer}"``, ``gate="host:{url|host}"``.
        """
        check_kind("@app.handler", kind)

        def register(function: Function) -> Kind[Any, Any]:
            if kind in self.handlers:
                raise two_handlers(kind, self.handlers[kind].function, function)
            self.handlers[kind] = Handler.of(kind, function, options)
            return Kind(self, self.handlers[kind])

        return register

    def batch(
        self, kind: str, *, size: int = 100, wait: Duration = 0.05, **options: Unpack[HandlerOptions]
    ) -> Callable[[BatchFunction[P, R]], Kind[P, R]]:
        """Let the decorated function handle up to ``size`` jobs at once, or those that came within ``wait`` seconds.

        It takes a list of items, each with ``ctx`` and ``payload``, and gives a list of their results.
        """
        check_kind("@app.batch", kind)

        def register(function: BatchFunction[P, R]) -> Kind[P, R]:
            if options.get("isolate"):
                raise BadInput(f"{kind}: a batch does not run in a process of its own")
            joined = join_batches(kind, function, size=size, wait=seconds_of(wait, "wait"))
            return self.handler(kind, **options)(joined)

        return register

    def middleware(self, function: Middleware) -> Middleware:
        """Wrap every attempt: the first one declared is the outermost."""
        self.middlewares.append(function)
        return function

    def lifespan(self, function: Callable[[], AsyncIterator[Mapping[str, Any] | None]]) -> Lifespan:
        """Open what all attempts of a worker share; the function yields once, a mapping for ``ctx.resources``."""
        opened = asynccontextmanager(function)
        self.lifespans.append(opened)
        return opened

    @overload
    def schedule(
        self, name: str, kind: str | Kind[None, Any], payload: None = None, **given: Unpack[ScheduleOptions]
    ) -> "Schedule": ...
    @overload
    def schedule(self, name: str, kind: str, payload: object, **given: Unpack[ScheduleOptions]) -> "Schedule": ...
    @overload
    def schedule(self, name: str, kind: Kind[P, Any], payload: P, **given: Unpack[ScheduleOptions]) -> "Schedule": ...
    def schedule(
        self, name: str, kind: str | Kind[Any, Any], payload: object = None, **given: Unpack[ScheduleOptions]
    ) -> "Schedule":
        """Declare a schedule: a worker that starts brings it into the database, but never over what people changed.

        One of cron, every, at; zone, starts_at, ends_at, jitter, overlap, catch_up, catch_up_max, tick_as, tenant; and
        options of its jobs: queue, priority, attempts, timeout, tags, …
        """
        from leasehold.features.schedules.timing import Schedule  # here: most programs declare none

        kind = kind.kind if isinstance(kind, Kind) else kind
        schedule = Schedule.of(name, kind, payload, **given)
        self.declare(schedule)
        return schedule

    def declared_schedules(self) -> "list[Schedule]":
        """With their payloads as JSON, checked against the handlers' types."""
        return [self._checked_schedule(schedule) for schedule in self.schedules]

    async def sync_schedules(self, db: Database, *, tenant: str | None) -> None:
        """Bring the declared schedules into the database; firing them is a maintenance task."""
        from leasehold.features.schedules import store as schedules

        await self.introduce(db)  # their jobs go there
        await schedules.sync(db, self.declared_schedules(), tenant=tenant)

    def include(self, other: "Leasehold") -> None:
        """Take the handlers, middleware, lifespans and schedules of another app in."""
        for kind, handler in other.handlers.items():
            if kind in self.handlers:
                raise two_handlers(kind, self.handlers[kind].function, handler.function)
            self.handlers[kind] = handler
        self.middlewares += other.middlewares
        self.lifespans += other.lifespans
        for schedule in other.schedules:
            self.declare(schedule)

    def declare(self, schedule: "Schedule") -> None:
        """As ``schedule``, with the value made already."""
        if any((one.tenant, one.name) == (schedule.tenant, schedule.name) for one in self.schedules):
            raise BadInput(f"schedule {schedule.name} is declared twice", hint="one of them needs another name")
        self.schedules.append(schedule)

    def _checked_schedule(self, schedule: "Schedule") -> "Schedule":
        value, options = schedule.payload, plain(schedule.options)
        if schedule.tick_as:  # any tick will do to check it
            value = {**(value or {}), schedule.tick_as: "2000-01-01T00:00:00Z"}
        handler = self.handlers.get(schedule.kind)
        if handler and "version" in handler.options:  # as in prepare
            options.setdefault("version", handler.version)
        [text] = handler.encode_payloads([value]) if handler else [encode({} if value is None else value)]
        checked = decode(text)
        if schedule.tick_as and checked.pop(schedule.tick_as, None) is None:
            raise BadInput(
                f"schedule {schedule.name}: the payload of {schedule.kind} has no member {schedule.tick_as!r}",
                hint="tick_as names the one that gets the tick",
            )
        return replace(schedule, payload=checked, options=options)

    @property
    def queues(self) -> list[str]:
        return sorted({"default", *(handler.queue for handler in self.handlers.values())})

    @asynccontextmanager
    async def open_resources(self) -> AsyncIterator[dict[str, Any]]:
        """Enter the lifespans; what they give, together."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._close_fetcher)
            opened = [await stack.enter_async_context(lifespan()) for lifespan in self.lifespans]
            yield {name: value for given in opened for name, value in (given or {}).items()}

    @property
    def fetcher(self) -> "Fetcher":
        """The connections to the outside that all attempts of this process share; made at the first use."""
        if self._fetcher is None:
            from leasehold.fetch.fetcher import Fetcher  # here, as below: most programs ask nobody outside

            self._fetcher = Fetcher(self.settings)
        return self._fetcher

    @property
    def robots(self) -> "Robots":
        """What sites ask of programs, as far as this process knows."""
        if self._robots is None:
            from leasehold.fetch.robots import Robots

            self._robots = Robots(self.fetcher)
        return self._robots

    @property
    def objects(self) -> "ObjectStore | None":
        """Where bodies are kept, if that is not the database."""
        if self._objects is None and self.settings.objects_url:
            from leasehold.features.blobs.object_store import ObjectStore

            self._objects = ObjectStore(self.settings)
        return self._objects

    @property
    def secret_keys(self) -> "Keys":
        """What tenants' secrets are sealed with."""
        if self._secret_keys is None:
            from leasehold.installation_keys import secret_keys

            self._secret_keys = secret_keys(self.settings)
        return self._secret_keys

    async def _close_fetcher(self) -> None:
        opened = self._fetcher, self._objects
        self._fetcher = self._objects = self._robots = None
        for one in opened:
            if one:
                await one.__aexit__(None, None, None)

    # -- asking for work ----------------------------------------------------------------------------------------

    async def enqueue(
        self,
        kind: str,
        payload: object = None,
        *,
        tenant: str | UUID | None = None,
        key: str | None = None,
        conn: object = None,
        **options: Unpack[JobOptions],
    ) -> Enqueued:
        """Ask for one job. With ``conn``, an open transaction of the caller's own, the job commits or not with it.

        Options that are left out are as the handler's newest release has told the database, else the defaults.
        """
        return (await self._enqueue(kind, [payload], tenant, None if key is None else [key], conn, options))[0]

    def enqueue_many(
        self,
        kind: str,
        payloads: Sequence[object],
        *,
        tenant: str | UUID | None = None,
        keys: Sequence[str | None] | None = None,
        conn: object = None,
        **options: Unpack[JobOptions],
    ) -> Coroutine[Any, Any, list[Enqueued]]:
        """Ask for one job for each payload, all or none."""
        return self._enqueue(kind, payloads, tenant, keys, conn, options)

    async def _enqueue(
        self,
        kind: str,
        payloads: Sequence[object],
        tenant: str | UUID | None,
        keys: Sequence[str | None] | None,
        conn: object,
        options: JobOptions,
    ) -> list[Enqueued]:
        texts, given = self.prepare(kind, payloads, options)
        if conn is not None:
            asked = self._foreign(kind, texts, given, tenant, keys)
            return await foreign_transaction.enqueue_async(conn, asked, schema=self.settings.schema)
        backend = self._backend
        if backend is None or len(self.handlers) > self._introduced:
            backend = await self._open()
        client = backend.known_client(tenant) or await backend.client(tenant)
        return await client.backend.enqueue(client.tenant_id, kind, texts, given, keys)

    def flow(self, name: str, *, deadline: Duration | datetime | None = None) -> "AppFlow":
        """A flow to add steps to and to start: ``flow.add(…)``, ``await flow.start(tenant=…)``."""
        return AppFlow(self, name, deadline=deadline)

    async def start(
        self, flow: Flow | Piece, *, name: str = "flow", tenant: str | UUID | None = None, conn: object = None
    ) -> UUID:
        """Start a flow, all its steps or none; its id. With ``conn`` it commits or not with that transaction."""
        built = flow_of(flow, name)
        if conn is None:
            return await (await self.client(tenant)).flows.start(built, prepare=self.prepare_one)
        return await foreign_transaction.start_flow_async(
            conn, self.foreign_flow(built, tenant), schema=self.settings.schema
        )

    async def client(self, tenant: str | UUID | None = None) -> Client:
        """One tenant's view of its jobs: get, list, cancel, retry, follow."""
        return await (await self._open()).client(tenant)

    @overload
    async def wait(
        self, job: Enqueued[R], *, tenant: str | UUID | None = None, timeout: Duration | None = None
    ) -> R: ...
    @overload
    async def wait(
        self,
        job: UUID,
        *,
        tenant: str | UUID | None = None,
        timeout: Duration | None = None,
    ) -> Any: ...
    async def wait(
        self,
        job: Enqueued[R] | UUID,
        *,
        tenant: str | UUID | None = None,
        timeout: Duration | None = None,
    ) -> Any:
        """What the handler returned, when the job has ended. Raises JobFailed when it ended otherwise.

        Raises TimeoutError when the job takes longer than ``timeout``.
        """
        client = await self.client(tenant)
        ended = await client.wait(job.job_id if isinstance(job, Enqueued) else job, timeout=timeout)
        if ended.state is not State.SUCCEEDED:
            raise JobFailed(ended)
        handler = self.handlers.get(ended.kind)
        return handler.decode_result(ended.result) if handler else ended.result

    @property
    def sync(self) -> "SyncLeasehold":
        """Enqueue from code without an event loop: Flask, Django, scripts."""
        return SyncLeasehold(self)

    def prepare(self, kind: str, values: Sequence[Any], options: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
        """Payloads as JSON text and options under SQL's names. Those of the handler are not among them: the database
        knows them, and a newer release of the program may have told it others."""
        handler = self.handlers.get(kind)
        given = plain(options) if options else {}
        if tracing.is_on() and (trace := tracing.traceparent()):
            given.setdefault("traceparent", trace)
        if handler is None:
            check_kind("app.enqueue", kind)
            return [encode({} if value is None else value) for value in values], given
        if "version" in handler.options:  # the payload is made here, whatever shape the newest release gives it
            given.setdefault("version", handler.version)
        return handler.encode_payloads(values), given

    def prepare_one(self, kind: str, value: Any, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The same for one step of a flow."""
        [text], given = self.prepare(kind, [value], options)
        return text, given

    # -- the database -------------------------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        if self._settings is None:
            self._settings = Settings.from_env()
            for sentence in unknown_variables():
                emit("unknown setting", level=logging.WARNING, problem=sentence)
        return self._settings

    async def _open(self) -> Backend:
        if self._backend is not None and len(self.handlers) <= self._introduced:
            return self._backend
        self._opening = self._opening or asyncio.Lock()
        async with self._opening:
            known = len(self.handlers)
            if self._backend is None or known > self._introduced:  # or some were declared since it was opened
                backend = self._backend or await Backend(self.settings).__aenter__()
                await self.introduce(backend.db)
                self._backend, self._introduced = backend, known
            return self._backend

    async def introduce(self, db: Database) -> None:
        """Tell the database of the handlers: a program may ask for work before its first worker has ever run."""
        await register_kinds(db, self.queues, {kind: one.job_options for kind, one in self.handlers.items()})

    async def close(self) -> None:
        if self._backend is not None:
            backend, self._backend, self._introduced = self._backend, None, 0
            await backend.__aexit__(None, None, None)

    async def __aenter__(self) -> "Leasehold":
        await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _foreign(
        self,
        kind: str,
        payloads: list[str],
        options: Mapping[str, Any],
        tenant: str | UUID | None,
        keys: Sequence[str | None] | None,
    ) -> dict[str, Any]:
        return {
            "tenant": self._named(tenant),
            "kind": kind,
            "payloads": payloads,
            "options": encode(options, what="options"),
            "keys": None if keys is None else list(keys),
            "defaults": self._defaults([kind]),
        }

    def _named(self, tenant: str | UUID | None) -> str | None:
        chosen = tenant or self.settings.tenant
        return None if chosen is None else str(chosen)

    def foreign_flow(self, flow: Flow, tenant: str | UUID | None) -> dict[str, Any]:
        return {
            "tenant": self._named(tenant),
            "name": flow.name,
            "steps": flow.asked(self.prepare_one),
            "options": encode(flow.options, what="options"),
            "defaults": self._defaults({node.step.kind for node in flow.nodes}),
        }

    def _defaults(self, kinds: Iterable[str]) -> str:
        """What this program says of jobs of these kinds, should the database not know them yet."""
        known = {kind: self.handlers[kind].job_options for kind in kinds if kind in self.handlers}
        return encode(known, what="options")


class AppFlow(Flow):
    """``app.flow("name")``: a flow that its app can start."""

    def __init__(self, app: Leasehold, name: str, *, deadline: Duration | datetime | None = None) -> None:
        super().__init__(name, deadline=deadline)
        self._app = app

    async def start(self, *, tenant: str | UUID | None = None, conn: object = None) -> UUID:
        return await self._app.start(self, tenant=tenant, conn=conn)


def load(path: str) -> Leasehold:
    """The app that ``module:attribute`` names."""
    module_name, _, attribute = path.partition(":")
    module = _import(module_name, path)
    try:
        app = getattr(module, attribute or "app")
    except AttributeError:
        raise NotFound(
            f"module {module_name} has no attribute {attribute or 'app'!r}",
            hint="name it: leasehold worker module:attribute",
        ) from None
    if not isinstance(app, Leasehold):
        raise BadInput(f"{path} is a {type(app).__name__}, not a Leasehold app")
    return app


def _import(module_name: str, path: str) -> ModuleType:
    if not module_name or module_name.startswith("."):
        raise BadInput(f"{path!r} is not of the form module:attribute", hint="for example: leasehold worker shop:app")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as `python -m` does: programs are run from the folder that holds them
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as problem:
        raise NotFound(
            f"there is no module {problem.name!r} (wanted for {path!r})", hint="run from the folder that holds it"
        ) from problem
