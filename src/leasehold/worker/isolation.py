"""Attempts in a process of their own: for handlers that may eat memory, crash, or never return.

Each attempt gets a fresh process, because nothing of one tenant's job should be left for the next; starting one takes a
few tenths of a second, so a spare waits for each kind. Worker and process talk over a socket in lines of JSON:

    worker:   {"job": …, "payload": …}      run this           process:  {"say": …} {"emit": …} …   for the database
              {"signals": …}                cancelled, late              {"ended": …}               the last word
              {"answer": …}                 to all but the last

A process that ends without its last word was killed or crashed, and its exit code says how. This is the worker's side;
``isolated`` is the other.
"""

import asyncio
import json
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from leasehold.errors import LeaseholdError, LeaseLost
from leasehold.json_codec import LIMIT
from leasehold.log import emit
from leasehold.program.context import CancellationSignals, Context, PendingEvent
from leasehold.program.handler import Handler
from leasehold.program.running_attempt import IsolatedOutcome

LINE_LIMIT = 4 * LIMIT  # JSON text inside JSON: quotes are escaped


class ProcessDied(Exception):
    """The process of an attempt ended before the attempt did."""


class Processes:
    """Makes processes for the attempts of isolated kinds, and ends them all."""

    def __init__(self) -> None:
        self._spares: dict[str, Process] = {}
        self._warming: dict[str, asyncio.Task[None]] = {}

    async def run(self, handler: Handler, ctx: Context, payload: str) -> str | None:
        """Run one attempt; its result, or an exception that says how it ended. Cancelling kills the process."""
        process = self._spares.pop(handler.kind, None)
        if process is None or process.has_ended:
            process = await Process.start(handler)
        try:
            result = await process.run(handler, ctx, payload)
        finally:
            await process.kill()
        self._warm(handler)
        return result

    def _warm(self, handler: Handler) -> None:
        if handler.kind not in self._spares and handler.kind not in self._warming:
            self._warming[handler.kind] = asyncio.create_task(self._start_spare(handler))

    async def _start_spare(self, handler: Handler) -> None:
        try:
            self._spares[handler.kind] = await Process.start(handler)
        finally:
            del self._warming[handler.kind]

    async def close(self) -> None:
        for task in list(self._warming.values()):
            await asyncio.wait([task])
        for process in self._spares.values():
            await process.kill()


class Process:
    """One process, for one attempt of one kind."""

    def __init__(
        self, child: asyncio.subprocess.Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._child = child
        self._reader = reader
        self._writer = writer

    @classmethod
    async def start(cls, handler: Handler) -> Self:
        ours, theirs = socket.socketpair()
        with theirs:
            function = handler.function
            where = {"kind": handler.kind, "module": function.__module__, "name": function.__qualname__}
            arguments = [str(theirs.fileno()), json.dumps(where), json.dumps(sys.path)]
            child = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "leasehold.worker.isolated_process", *arguments,
                pass_fds=[theirs.fileno()],
                stdin=asyncio.subprocess.DEVNULL,
                stdout=2,  # what handlers print is no data of ours
                start_new_session=True,  # Ctrl-C is for the worker
            )  # fmt: skip
        reader, writer = await asyncio.open_connection(sock=ours, limit=LINE_LIMIT)
        return cls(child, reader, writer)

    @property
    def has_ended(self) -> bool:
        return self._child.returncode is not None

    async def run(self, handler: Handler, ctx: Context, payload: str) -> str | None:
        ctx.signals.changed = lambda: self._tell_signals(ctx.signals)
        self._send({"job": _job_of(ctx), "payload": payload, "memory_mb": handler.memory_mb})
        self._tell_signals(ctx.signals)
        while message := await self._receive():
            if "ended" in message:
                return _result_of(message["ended"])
            self._send({"answer": message["id"], **await _answer(ctx, message)})
        raise ProcessDied(_cause(await self._child.wait(), handler.memory_mb))

    async def kill(self) -> None:
        with suppress(ProcessLookupError):
            self._child.kill()
        self._writer.close()
        await self._child.wait()

    def _tell_signals(self, signals: CancellationSignals) -> None:
        if signals.cancelled or signals.timed_out:
            self._send({"signals": {"cancelled": signals.cancelled, "timed_out": signals.timed_out}})

    def _send(self, message: dict[str, Any]) -> None:
        write(self._writer, message)

    async def _receive(self) -> Any:
        try:
            line = await self._reader.readline()
        except (OSError, ValueError):  # ValueError: a line above the limit
            return None
        return json.loads(line) if line.endswith(b"\n") else None


async def _answer(ctx: Context, message: dict[str, Any]) -> dict[str, Any]:
    """Do what the process asks for. A lost lease ends everything; other errors are for the handler."""
    try:
        if "extend" in message:
            return {"value": (await ctx.link.extend(message["extend"])).isoformat()}
        if "enqueue" in message:
            made = await ctx.link.enqueue(**message["enqueue"])
            return {"value": [{"job_id": str(job.job_id), "state": job.state, "created": job.created} for job in made]}
        if "emit" in message:
            await ctx.link.emit(PendingEvent(**message["emit"]))
            return {"value": None}
        if "ask_leave" in message:
            asked = message["ask_leave"]
            since = asked["rules_since"] and datetime.fromisoformat(asked["rules_since"])
            return {"value": await ctx.link.ask_leave(asked["url"], asked["agent"], since)}
        if "secret" in message:
            return {"value": await ctx.secret(message["secret"])}
        if "parents" in message:
            return {"value": [asdict(found) | {"job_id": str(found.job_id)} for found in await ctx.parents()]}
        event = message["say"]
        if event["type_"] == "log":
            emit("handler says", job_id=ctx.job_id, text=event["message"])
        await ctx.link.say(**event)
        return {"value": None}
    except LeaseLost:
        raise
    except LeaseholdError as problem:
        return {"error": type(problem).__name__, "text": str(problem)}


def _job_of(ctx: Context) -> dict[str, Any]:
    names = ("job_id", "tenant_id", "kind", "queue", "attempt", "max_attempts", "timeout_s", "traceparent")
    return {name: str(value) if isinstance(value := getattr(ctx, name), UUID) else value for name in names}


def _result_of(ended: dict[str, Any]) -> str | None:
    if ended["outcome"] == "succeeded":
        result: str | None = ended["result"]
        return result
    raise IsolatedOutcome(outcome=ended["outcome"], error=ended["error"], delay_s=ended["delay_s"])


def _cause(code: int, memory_mb: int | None) -> str:
    """What an exit code tells about the end of a process."""
    if code >= 0:
        return f"the process of the attempt ended by itself, with exit code {code}"
    name = signal.Signals(-code).name if -code in signal.valid_signals() else f"signal {-code}"
    limit = f", its limit is {memory_mb} MB" if memory_mb else ""
    hint = {"SIGKILL": f" (out of memory{limit}?)", "SIGXCPU": " (its processor time was used up)"}.get(name, "")
    return f"the process of the attempt was killed by {name}{hint}"


def write(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    if not writer.is_closing():
        writer.write(json.dumps(message).encode() + b"\n")
