"""The process of one isolated attempt: import the handler, wait for the job, run it, say how it ended, end."""

import asyncio
import ctypes
import importlib
import json
import logging
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import asdict
from datetime import datetime
from functools import cached_property, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import UUID

from leasehold import errors
from leasehold.database.database import Database
from leasehold.job import ClaimedJob, Enqueued, State
from leasehold.job_options import plain
from leasehold.program.attempt_api import read_parents
from leasehold.program.context import CancellationSignals, Context, PendingEvent
from leasehold.program.handler import Handler
from leasehold.program.kind import Kind
from leasehold.program.running_attempt import RunningAttempt
from leasehold.settings import Settings
from leasehold.worker.attempt import run_attempt
from leasehold.worker.isolation import LINE_LIMIT, write

if TYPE_CHECKING:
    from leasehold.fetch.fetcher import Fetcher
    from leasehold.program.transaction import AttemptTransaction
    from leasehold.sealing import Keys

_PR_SET_PDEATHSIG = 1
_M_ARENA_MAX = -8


class PipeAttemptApi:
    """What an isolated attempt says goes to its worker, which has the database."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._asked: dict[int, asyncio.Future[Any]] = {}

    async def say(
        self, type_: str, *, message: str | None = None, progress: float | None = None, data: str | None = None
    ) -> None:
        await self._ask(say={"type_": type_, "message": message, "progress": progress, "data": data})

    async def extend(self, seconds: float) -> datetime:
        deadline = datetime.fromisoformat(await self._ask(extend=seconds))
        _limit_processor(seconds)
        return deadline

    async def enqueue(
        self, kind: str, payloads: Sequence[object], *, keys: Sequence[str | None] | None, options: Mapping[str, object]
    ) -> list[Enqueued]:
        asked = {"kind": kind, "payloads": list(payloads), "keys": keys, "options": plain(options)}
        made = await self._ask(enqueue=asked)
        return [Enqueued(job_id=UUID(job["job_id"]), state=State(job["state"]), created=job["created"]) for job in made]

    def transaction(self) -> "AbstractAsyncContextManager[AttemptTransaction]":
        raise errors.BadInput(
            "an isolated attempt has no database: ctx.transaction() is not there", hint="leave isolate=True out"
        )

    async def emit(self, emitted: PendingEvent) -> None:
        await self._ask(emit=asdict(emitted))

    async def complete(self, result: str | None) -> None:
        raise NotImplementedError("the worker ends the attempt")

    async def ask_leave(self, url: str, agent: str | None, rules_since: datetime | None) -> float:
        since = None if rules_since is None else rules_since.isoformat()
        return float(await self._ask(ask_leave={"url": url, "agent": agent, "rules_since": since}))

    async def secret(self, name: str) -> str:
        return str(await self._ask(secret=name))

    async def parents(self) -> list[Any]:
        return read_parents(await self._ask(parents=True))

    @property
    def bodies(self) -> NoReturn:
        raise errors.BadInput(
            "an isolated attempt has no database: ctx.bodies is not there", hint="leave isolate=True out"
        )

    @cached_property
    def fetcher(self) -> "Fetcher":
        from leasehold.fetch.fetcher import Fetcher  # here: few handlers need it

        return Fetcher(Settings.from_env())  # ends with the process

    @property
    def db(self) -> Database:
        raise errors.BadInput("an isolated attempt has no database", hint="leave isolate=True out")

    @property
    def secret_keys(self) -> "Keys":
        raise errors.BadInput("an isolated attempt has no keys: ask for ctx.secret()")

    def answered(self, message: dict[str, Any]) -> None:
        future = self._asked.pop(message["answer"])
        if future.done():
            return
        if "error" in message:
            future.set_exception(getattr(errors, message["error"])(message["text"]))
        else:
            future.set_result(message["value"])

    async def _ask(self, **question: Any) -> Any:
        number = max(self._asked, default=0) + 1
        self._asked[number] = asyncio.get_running_loop().create_future()
        write(self._writer, {"id": number, **question})
        return await self._asked[number]


def main() -> None:
    """The process: import the handler, wait for the job, run it, say how it ended."""
    descriptor, where, sys.path[:] = int(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])
    _end_with_the_worker()
    logging.getLogger("leasehold").addHandler(logging.NullHandler())  # the worker logs
    found = attrgetter(where["name"])(importlib.import_module(where["module"]))
    handler = found.handler if isinstance(found, Kind) else Handler.of(where["kind"], found, {})
    asyncio.run(_serve(socket.socket(fileno=descriptor), handler))


async def _serve(connection: socket.socket, handler: Handler) -> None:
    reader, writer = await asyncio.open_connection(sock=connection, limit=LINE_LIMIT)
    line = await reader.readline()
    if not line:
        return  # a spare that was not needed
    order = json.loads(line)
    link, attempt = PipeAttemptApi(writer), RunningAttempt(_grant_of(order), handler)
    listening = asyncio.create_task(_listen(reader, link, attempt.signals))
    _limit_processor(attempt.job.timeout_s)
    _limit_memory(order["memory_mb"])
    run = partial(_run, memory_mb=order["memory_mb"])
    attempt.begin()
    ended = await run_attempt(attempt, run, _context(order, link, attempt))
    if ended:
        write(writer, {"ended": ended._asdict()})
    await writer.drain()
    listening.cancel()
    # Not a return: threads that the handler left behind would be waited for.
    os._exit(0)


async def _run(attempt: RunningAttempt, ctx: Context, *, memory_mb: int | None) -> str | None:
    try:
        return await attempt.handler.run(ctx, attempt.job.payload)
    except MemoryError:
        raise MemoryError(f"needed more than its {memory_mb} MB" if memory_mb else "out of memory") from None


async def _listen(reader: asyncio.StreamReader, link: PipeAttemptApi, signals: CancellationSignals) -> None:
    while line := await reader.readline():
        message = json.loads(line)
        if "answer" in message:
            link.answered(message)
        else:
            if message["signals"]["timed_out"]:
                signals.time_out()
            if message["signals"]["cancelled"]:
                signals.cancel()
    os._exit(1)  # the worker is gone, or has no use for us


def _grant_of(order: dict[str, Any]) -> ClaimedJob:
    job = order["job"]
    values = {name: job[name] for name in ("kind", "queue", "attempt", "max_attempts", "timeout_s", "traceparent")}
    values |= {name: UUID(job[name]) for name in ("job_id", "tenant_id")}
    return ClaimedJob(token=0, payload=order["payload"], version=1, **values)


def _context(order: dict[str, Any], link: PipeAttemptApi, attempt: RunningAttempt) -> Context:
    ids = {"job_id": attempt.job.job_id, "tenant_id": attempt.job.tenant_id}
    return Context(**order["job"] | ids, link=link, signals=attempt.signals, secrets=attempt.secrets)


def _end_with_the_worker() -> None:
    with suppress(OSError, AttributeError):
        system = ctypes.CDLL(None)
        if sys.platform == "linux":
            system.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        system.mallopt(_M_ARENA_MAX, 1)  # a thread's arena would count for 64 MB of the limit


def _limit_memory(memory_mb: int | None) -> None:
    """So much more than what the process needs for itself."""
    if memory_mb is None:
        return
    with suppress(OSError, ValueError), open("/proc/self/statm") as statm:
        own = int(statm.read().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (own + (memory_mb << 20), hard))


def _limit_processor(seconds: float) -> None:
    """The worker kills a process that takes too long; this is for the case that nobody is there to do it."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + seconds) + 2, hard))


if __name__ == "__main__":
    main()
