"""A worker's port, if it has one: ``/healthz`` (the process is alive), ``/readyz`` (it takes work), ``/metrics``.

Three fixed answers to GET need no framework. The port tells names of queues and kinds, never of tenants; it listens on
this machine alone unless ``LEASEHOLD_WORKER_HOST`` says otherwise. There it answers to loopback names alone, so that no
page in a browser reads it under the name of another host.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import Protocol

from leasehold.errors import LeaseholdError
from leasehold.fetch.host_header import name_of
from leasehold.fetch.public_addresses import is_loopback
from leasehold.log import emit
from leasehold.metrics import CONTENT_TYPE, LoopLag, Sample, exposition

_REQUEST_SECONDS = 5.0
_LINE_BYTES = 8192
_HEADERS = 100
_PLAIN = "text/plain; charset=utf-8"


class Observed(Protocol):
    """What the port tells about."""

    def why_not_ready(self) -> str | None: ...

    def samples(self, lag: LoopLag) -> Iterable[Sample]: ...


@asynccontextmanager
async def answering(host: str, port: int, worker: Observed) -> AsyncIterator[int]:
    """Answer until the end of the block; gives the port."""
    async with LoopLag() as lag:
        try:
            server = await asyncio.start_server(
                _conversation(worker, lag, loopback=is_loopback(host)), host, port, limit=_LINE_BYTES
            )
        except OSError as problem:
            raise LeaseholdError(
                f"LEASEHOLD_WORKER_PORT={port} on {host} cannot be used: {problem.strerror or problem}",
                hint="choose another, or 0 for any that is free",
            ) from None
        found: int = server.sockets[0].getsockname()[1]
        emit("worker answers", host=host, port=found)
        try:
            yield found
        finally:
            server.close()  # not wait_closed: a client that says nothing would keep us


def _conversation(
    worker: Observed, lag: LoopLag, *, loopback: bool
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request, one answer, and good-bye."""
        with suppress(OSError, TimeoutError, ValueError):  # ValueError: a line above the limit
            async with asyncio.timeout(_REQUEST_SECONDS):
                method, path, called = await _asked(reader)
                if loopback and not is_loopback(called or ""):
                    status, kind, text = HTTPStatus.MISDIRECTED_REQUEST, _PLAIN, "this worker has no such name\n"
                else:
                    status, kind, text = _answer(method, path, worker, lag)
                body = text.encode()
                head = f"HTTP/1.1 {status} {status.phrase}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
                writer.write(f"{head}Connection: close\r\n\r\n".encode() + (b"" if method == "HEAD" else body))
                await writer.drain()
        writer.close()

    return converse


async def _asked(reader: asyncio.StreamReader) -> tuple[str, str, str | None]:
    """Method, path and the host that is named; the other headers are read and forgotten."""
    method, target, *_ = [*(await reader.readline()).decode("latin-1").split(), "", ""]
    host: str | None = "localhost"  # a program that names none is no browser
    for _ in range(_HEADERS):
        line = (await reader.readline()).strip()
        if line == b"":
            break
        name, _, value = line.decode("latin-1").partition(":")
        if name.lower() == "host":
            host = name_of(value.strip())
    return method, target.partition("?")[0], host


def _answer(method: str, path: str, worker: Observed, lag: LoopLag) -> tuple[HTTPStatus, str, str]:
    if method not in ("GET", "HEAD"):
        return HTTPStatus.METHOD_NOT_ALLOWED, _PLAIN, "only GET and HEAD\n"
    match path:
        case "/healthz":
            return HTTPStatus.OK, _PLAIN, "ok\n"
        case "/readyz":
            problem = worker.why_not_ready()
            return (HTTPStatus.SERVICE_UNAVAILABLE if problem else HTTPStatus.OK), _PLAIN, f"{problem or 'ready'}\n"
        case "/metrics":
            return HTTPStatus.OK, CONTENT_TYPE, exposition(worker.samples(lag))
    return HTTPStatus.NOT_FOUND, _PLAIN, "there are /healthz, /readyz and /metrics\n"
