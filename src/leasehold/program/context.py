"""What a handler knows of its attempt, and what it may say and ask while it runs."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, Unpack
from uuid import UUID

from leasehold import json_codec
from leasehold.durations import Duration, seconds_of
from leasehold.log import emit
from leasehold.program.log_fields import log_fields
from leasehold.program.outcomes import Snooze, storable
from leasehold.redact import redact

if TYPE_CHECKING:
    from leasehold.database.database import Database
    from leasehold.features.blobs.store import Bodies, Body
    from leasehold.features.flows.model import Flow, Parent, Piece
    from leasehold.fetch.fetcher import Fetcher, Options
    from leasehold.fetch.response import Fetched
    from leasehold.fetch.urls import Url
    from leasehold.job import Enqueued
    from leasehold.program.transaction import AttemptTransaction
    from leasehold.sealing import Keys
    from leasehold.typed_options import JobOptions

T = TypeVar("T")
R = TypeVar("R")

#: Log lines that one attempt may store, and their characters.
LOG_LINES = 1000
LOG_SIZE = 1 << 20
#: Seconds that an attempt waits for its turn at a host; for a longer wait it gives its place to others.
PATIENCE_S = 10.0
_LEVELS = {"info": 20, "warning": 30, "error": 40}


class AttemptApi(Protocol):
    """How an attempt reaches the engine: straight from the worker, or over a pipe from a process of its own."""

    async def say(
        self, type_: str, *, message: str | None = None, progress: float | None = None, data: str | None = None
    ) -> None: ...

    async def extend(self, seconds: float) -> datetime: ...

    async def enqueue(
        self, kind: str, payloads: Sequence[object], *, keys: Sequence[str | None] | None, options: Mapping[str, object]
    ) -> "list[Enqueued]": ...

    def transaction(self) -> "AbstractAsyncContextManager[AttemptTransaction]": ...

    async def emit(self, emitted: "PendingEvent") -> None: ...

    async def complete(self, result: str | None) -> None: ...

    async def ask_leave(self, url: str, agent: str | None, rules_since: datetime | None) -> float: ...

    async def secret(self, name: str) -> str: ...

    async def parents(self) -> "list[Parent]": ...

    @property
    def bodies(self) -> "Bodies": ...

    @property
    def fetcher(self) -> "Fetcher": ...

    # These two are for our own connectors: an attempt of a pack has ``transaction`` and ``secret``.
    @property
    def db(self) -> "Database": ...

    @property
    def secret_keys(self) -> "Keys": ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingEvent:
    """An event for the tenant's endpoints that is told if its attempt succeeds."""

    type: str
    subject_type: str
    subject_id: str
    data: str  # JSON


class CancellationSignals:
    """What the worker tells a running attempt. Read from any thread, set in the thread of the event loop."""

    __slots__ = ("_event", "cancelled", "changed", "timed_out")

    def __init__(self) -> None:
        self.cancelled = False
        self.timed_out = False
        self.changed: Callable[[], None] | None = None  # passes them on to a process of its own
        self._event: asyncio.Event | None = None  # made for the few handlers that wait for it

    def cancel(self) -> None:
        if not self.cancelled:
            self.cancelled = True
            self._tell()
            if self._event:
                self._event.set()

    def time_out(self) -> None:
        self.timed_out = True
        self._tell()

    async def wait_cancelled(self) -> None:
        if not self.cancelled:
            self._event = self._event or asyncio.Event()
            await self._event.wait()

    def _tell(self) -> None:
        if self.changed:
            self.changed()


class Log:
    """``await ctx.log.info("asked the bank", order=7)``: an event of the job, and a line in the worker's log."""

    __slots__ = ("_ctx", "_size", "_stored")

    def __init__(self, ctx: "Context") -> None:
        self._ctx = ctx
        self._stored = 0
        self._size = 0

    async def info(self, message: str, **fields: Any) -> None:
        await self._write("info", message, fields)

    async def warning(self, message: str, **fields: Any) -> None:
        await self._write("warning", message, fields)

    async def error(self, message: str, **fields: Any) -> None:
        await self._write("error", message, fields)

    async def _write(self, level: str, message: str, fields: dict[str, Any]) -> None:
        text = self._ctx.told(message)[:4000]
        emit("handler says", level=_LEVELS[level], job_id=self._ctx.job_id, text=text, fields=fields)
        if self._stored > LOG_LINES:
            return
        data = log_fields(level, fields, self._ctx.secrets)
        self._stored += 1
        self._size += len(text) + len(data)
        if self._stored > LOG_LINES or self._size > LOG_SIZE:
            self._stored = LOG_LINES + 1
            text = f"more than {LOG_LINES} log lines, or {LOG_SIZE >> 20} MiB of them: the others are not stored"
            data = log_fields("warning", {}, ())
        await self._ctx.link.say("log", message=text, data=data)


@dataclass(slots=True, kw_only=True, eq=False)  # frozen would take twice as long to make, for every attempt
class Context:
    """What a handler knows of its attempt, and what it may say while it runs."""

    job_id: UUID
    tenant_id: UUID
    kind: str
    queue: str = "default"
    attempt: int
    max_attempts: int
    timeout_s: float = 600.0
    traceparent: str | None = None
    resources: Mapping[str, Any] = field(default_factory=dict, repr=False)
    link: AttemptApi = field(repr=False)
    signals: CancellationSignals = field(default_factory=CancellationSignals, repr=False)
    secrets: list[str] = field(default_factory=list, repr=False)  # used so far: kept out of all that is stored
    _log: Log | None = field(default=None, init=False, repr=False)

    @property
    def log(self) -> Log:
        """``await ctx.log.info("asked the bank", order=7)``."""
        if self._log is None:
            self._log = Log(self)
        return self._log

    @property
    def tenant(self) -> UUID:
        return self.tenant_id

    @property
    def cancelled(self) -> bool:
        """Somebody asked for the cancel of this job, or the attempt is being ended: leave soon."""
        return self.signals.cancelled

    @property
    def timed_out(self) -> bool:
        """The soft timeout has passed: at the hard one the attempt is cancelled."""
        return self.signals.timed_out

    async def wait_cancelled(self) -> None:
        """Return when ``cancelled`` becomes true."""
        await self.signals.wait_cancelled()

    async def progress(self, percent: float, message: str | None = None) -> None:
        """Tell everybody who follows the job how far it is. Raises LeaseLost when the attempt is no longer ours."""
        await self.link.say("progress", message=None if message is None else self.told(message), progress=percent)

    async def extend(self, seconds: Duration | None = None) -> datetime:
        """Move the hard timeout to so many seconds from now (default: the job's timeout); the new deadline."""
        given = self.timeout_s if seconds is None else seconds_of(seconds, "seconds")
        return await self.link.extend(given)

    async def enqueue(
        self, kind: str, payload: object = None, *, key: str | None = None, **options: "Unpack[JobOptions]"
    ) -> "Enqueued":
        """Ask for a job of the same tenant, at once. In ``transaction()`` it would commit with your own rows."""
        keys = None if key is None else [key]
        return (await self.link.enqueue(kind, [payload], keys=keys, options=options))[0]

    def transaction(self) -> "AbstractAsyncContextManager[AttemptTransaction]":
        """``async with ctx.transaction() as tx``: your rows, children and outcome commit together, or not at all."""
        return self.link.transaction()

    async def emit(self, type_: str, subject_type: str, subject_id: str, data: Any = None) -> None:
        """Tell the tenant's endpoints if this attempt succeeds: the event commits with its outcome, or never was.

        In ``transaction()`` there is ``tx.emit``, for what is told with your own rows however the attempt ends.
        """
        text = json_codec.encode(data, what="data")
        await self.link.emit(PendingEvent(type=type_, subject_type=subject_type, subject_id=subject_id, data=text))

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        truncate: bool = False,
        polite: bool = False,
        rules_since: datetime | None = None,
        agent: str | None = None,
        remember: bool = False,
        **options: "Unpack[Options]",
    ) -> "Fetched":
        """The whole answer of a host that others have named. A FetchError that is not transient ends the job.

        ``polite`` does what the site's robots.txt asks, and keeps a gap between requests to one host, whoever makes
        them; a turn that is far away snoozes the job. A robots.txt that was read before ``rules_since``, by the
        clock of the database, is read again. ``agent`` is whom the site sees, and whom its rules are for.
        ``remember`` keeps the body, and asks only for what has changed since: then ``not_modified`` is true.
        """
        if agent:
            options["headers"] = {"User-Agent": agent, **options.get("headers", {})}
        if polite:
            options["before"] = partial(self._wait_for_leave, agent=agent, rules_since=rules_since)
        ask = partial(self.link.fetcher.request, method, truncate=truncate, share=str(self.tenant_id))
        if remember:
            return await self.bodies.remember(url, partial(ask, url, **options))
        return await ask(url, **options)

    async def _wait_for_leave(self, url: "Url", *, agent: str | None, rules_since: datetime | None) -> None:
        seconds = await self.link.ask_leave(str(url), agent, rules_since)
        if seconds > PATIENCE_S:
            raise Snooze(f"{url.host} is busy", after=seconds)
        await asyncio.sleep(seconds)

    @property
    def bodies(self) -> "Bodies":
        """Bytes of the job's tenant by their digest, kept for a while: ``put``, ``get``, ``keep``."""
        return self.link.bodies

    async def secret(self, name: str) -> str:
        """A secret of the job's tenant. From here on it is masked in whatever is stored or logged about the attempt."""
        value = await self.link.secret(name)
        self.secrets.append(value)
        return value

    async def parents(self) -> "list[Parent]":
        """How the steps ended that this one waited for, and with what results; empty outside a flow."""
        return await self.link.parents()

    async def results(self) -> dict[str, Any]:
        """The results of the steps that this one waited for, by name. Of those that did not succeed it is None."""
        return {parent.name or str(parent.job_id): parent.result for parent in await self.parents()}

    def told(self, text: str) -> str:
        """A text as it may be stored."""
        return storable(redact(text, secrets=self.secrets)) if text else text


class SyncLog:
    """The log of a sync handler: the same, without ``await``."""

    __slots__ = ("_ctx",)

    def __init__(self, ctx: "SyncContext") -> None:
        self._ctx = ctx

    # <twins of Log>
    def info(self, message: str, **fields: Any) -> None:
        self._ctx.ask(self._ctx.inner.log.info(message, **fields))

    def warning(self, message: str, **fields: Any) -> None:
        self._ctx.ask(self._ctx.inner.log.warning(message, **fields))

    def error(self, message: str, **fields: Any) -> None:
        self._ctx.ask(self._ctx.inner.log.error(message, **fields))

    # </twins>


class SyncContext:
    """The context of a sync handler, to be used from its thread: plain methods that return when it is done."""

    __slots__ = ("_loop", "inner", "log")

    def __init__(self, inner: Context, loop: asyncio.AbstractEventLoop) -> None:
        self.inner = inner
        self._loop = loop
        self.log = SyncLog(self)

    # <twins of Context>
    @property
    def job_id(self) -> UUID:
        return self.inner.job_id

    @property
    def tenant_id(self) -> UUID:
        return self.inner.tenant_id

    @property
    def kind(self) -> str:
        return self.inner.kind

    @property
    def queue(self) -> str:
        return self.inner.queue

    @property
    def attempt(self) -> int:
        return self.inner.attempt

    @property
    def max_attempts(self) -> int:
        return self.inner.max_attempts

    @property
    def traceparent(self) -> str | None:
        return self.inner.traceparent

    @property
    def resources(self) -> Mapping[str, Any]:
        return self.inner.resources

    def progress(self, percent: float, message: str | None = None) -> None:
        self.ask(self.inner.progress(percent, message))

    def extend(self, seconds: Duration | None = None) -> datetime:
        return self.ask(self.inner.extend(seconds))

    def enqueue(
        self, kind: str, payload: object = None, *, key: str | None = None, **options: "Unpack[JobOptions]"
    ) -> "Enqueued":
        return self.ask(self.inner.enqueue(kind, payload, key=key, **options))

    def emit(self, type_: str, subject_type: str, subject_id: str, data: Any = None) -> None:
        self.ask(self.inner.emit(type_, subject_type, subject_id, data))

    def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        truncate: bool = False,
        polite: bool = False,
        rules_since: datetime | None = None,
        agent: str | None = None,
        remember: bool = False,
        **options: "Unpack[Options]",
    ) -> "Fetched":
        return self.ask(
            self.inner.fetch(
                url,
                method=method,
                truncate=truncate,
                polite=polite,
                rules_since=rules_since,
                agent=agent,
                remember=remember,
                **options,
            )
        )

    def secret(self, name: str) -> str:
        return self.ask(self.inner.secret(name))

    def parents(self) -> "list[Parent]":
        return self.ask(self.inner.parents())

    def results(self) -> dict[str, Any]:
        return self.ask(self.inner.results())

    # </twins>
    @property
    def tenant(self) -> UUID:
        return self.inner.tenant_id

    @property
    def cancelled(self) -> bool:
        """A thread cannot be cancelled: look at this now and then, and return."""
        return self.inner.cancelled

    @property
    def timed_out(self) -> bool:
        return self.inner.timed_out

    def wait_cancelled(self, seconds: float) -> bool:
        """Wait at most so long for the cancel; a sync handler's way to sleep."""
        waiting = asyncio.run_coroutine_threadsafe(self.inner.wait_cancelled(), self._loop)
        try:
            waiting.result(seconds)
        except TimeoutError:
            waiting.cancel()
        return self.cancelled

    @property
    def bodies(self) -> "SyncBodies":
        return SyncBodies(self)

    @contextmanager
    def transaction(self) -> "Iterator[SyncTransaction]":
        """``with ctx.transaction() as tx``: your rows, children and outcome commit together, or not at all."""
        manager = self.inner.transaction()
        tx = SyncTransaction(self, self.ask(_awaited(manager.__aenter__())))
        try:
            yield tx
        except BaseException as problem:
            if not self.ask(_awaited(manager.__aexit__(type(problem), problem, problem.__traceback__))):
                raise
        else:
            self.ask(_awaited(manager.__aexit__(None, None, None)))

    def ask(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run something in the event loop, and wait for it in this thread."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()


class SyncBodies:
    """The bodies of a sync handler."""

    __slots__ = ("_ctx",)

    def __init__(self, ctx: SyncContext) -> None:
        self._ctx = ctx

    # <twins of Bodies>
    def put(self, data: bytes, media_type: str = "application/octet-stream", *, days: float | None = None) -> "Body":
        return self._ctx.ask(self._ctx.inner.bodies.put(data, media_type, days=days))

    def get(self, digest: str) -> bytes:
        return self._ctx.ask(self._ctx.inner.bodies.get(digest))

    def keep(self, digest: str, *, days: float) -> None:
        self._ctx.ask(self._ctx.inner.bodies.keep(digest, days=days))

    # </twins>


class SyncTransaction:
    """The transaction of a sync handler: what ``AttemptTransaction`` has, as plain methods."""

    __slots__ = ("_ctx", "inner")

    def __init__(self, ctx: SyncContext, inner: "AttemptTransaction") -> None:
        self._ctx = ctx
        self.inner = inner

    # <twins of Transaction, AttemptTransaction>
    def execute(self, statement: str, *args: Any) -> str:
        return self._ctx.ask(self.inner.execute(statement, *args))

    def fetch(self, query: str, *args: Any) -> list[Any]:
        return self._ctx.ask(self.inner.fetch(query, *args))

    def fetchrow(self, query: str, *args: Any) -> Any:
        return self._ctx.ask(self.inner.fetchrow(query, *args))

    def fetchval(self, query: str, *args: Any) -> Any:
        return self._ctx.ask(self.inner.fetchval(query, *args))

    def enqueue(
        self, kind: str, payload: object = None, *, key: str | None = None, **options: "Unpack[JobOptions]"
    ) -> "Enqueued":
        return self._ctx.ask(self.inner.enqueue(kind, payload, key=key, **options))

    def enqueue_many(
        self,
        kind: str,
        payloads: Sequence[object],
        *,
        keys: Sequence[str | None] | None = None,
        **options: "Unpack[JobOptions]",
    ) -> "list[Enqueued]":
        return self._ctx.ask(self.inner.enqueue_many(kind, payloads, keys=keys, **options))

    def emit(self, type_: str, subject_type: str, subject_id: str, data: Any = None) -> UUID:
        return self._ctx.ask(self.inner.emit(type_, subject_type, subject_id, data))

    def start(self, flow: "Flow | Piece", *, name: str = "flow") -> UUID:
        return self._ctx.ask(self.inner.start(flow, name=name))

    def put_secret(self, name: str, value: str) -> None:
        self._ctx.ask(self.inner.put_secret(name, value))

    def log(self, action: str, target: str, detail: Any = None) -> None:
        self._ctx.ask(self.inner.log(action, target, detail))

    def add(self, part: "Flow | Piece") -> None:
        self._ctx.ask(self.inner.add(part))

    def complete(self, result: R) -> R:
        return self._ctx.ask(self.inner.complete(result))

    def hold_body(self, name: str, digest: str, *, days: float) -> None:
        self._ctx.ask(self.inner.hold_body(name, digest, days=days))

    def keep_body(self, digest: str, *, days: float) -> bool:
        return self._ctx.ask(self.inner.keep_body(digest, days=days))

    def put_report(self, name: str, title: str, *, file_format: str, body: "Body", lines: int, days: float) -> datetime:
        return self._ctx.ask(
            self.inner.put_report(name, title, file_format=file_format, body=body, lines=lines, days=days)
        )

    # </twins>


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable
