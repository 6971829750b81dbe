"""A world of our own: names that resolve as a test says, public addresses that are servers on loopback, and a dialer
that keeps a list of every attempt and lets nothing else out."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpcore2

from leasehold.fetch.fetcher import Fetcher
from leasehold.settings import Settings

#: Public by every table, and never dialled: the dialer leads them to loopback.
PUBLIC = "93.184.215.14"
PUBLIC_TOO = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Dialer(httpcore2.AsyncNetworkBackend):
    """Connects the addresses it was told to servers on loopback, and refuses all others."""

    def __init__(self) -> None:
        self.attempts: list[tuple[str, int]] = []
        self.servers: dict[tuple[str, int], int] = {}
        self.peer: str | None = None  #: what the kernel is made to say about the other end
        self._real = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.attempts.append((host, port))
        server = self.servers.get((host, port))
        if server is None:
            raise httpcore2.ConnectError(f"nobody is at {host}")
        stream = await self._real.connect_tcp("127.0.0.1", server, timeout)
        return _Pretending(stream, (self.peer or host, port))


class _Pretending(httpcore2.AsyncNetworkStream):
    def __init__(self, inner: httpcore2.AsyncNetworkStream, peer: tuple[str, int]) -> None:
        self._inner, self._peer = inner, peer
        self.read, self.write, self.aclose = inner.read, inner.write, inner.aclose  # type: ignore[method-assign]

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        return _Pretending(await self._inner.start_tls(ssl_context, server_hostname, timeout), self._peer)

    def get_extra_info(self, info: str) -> Any:
        return self._peer if info == "server_addr" else self._inner.get_extra_info(info)


@dataclass
class Names:
    """A resolver. ``changing`` names give their next answer each time, the last one for ever."""

    answers: dict[str, list[str]] = field(default_factory=dict)
    changing: dict[str, list[list[str]]] = field(default_factory=dict)
    hanging: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        if host in self.hanging:
            await asyncio.Event().wait()
        if changing := self.changing.get(host):
            return changing.pop(0) if len(changing) > 1 else changing[0]
        if host not in self.answers:
            raise OSError("Name or service not known")
        return self.answers[host]


@dataclass
class World:
    names: Names
    dialer: Dialer
    fetcher: Fetcher

    def put(self, host: str, server: int, *, address: str = PUBLIC, port: int = 80) -> None:
        """The server is at this name, address and port."""
        self.names.answers[host] = [address]
        self.dialer.servers[address, port] = server


@asynccontextmanager
async def world(
    settings: Settings | None = None, *, names: Names | None = None, ssl_context: ssl.SSLContext | None = None
) -> AsyncIterator[World]:
    names, dialer = names or Names(), Dialer()
    async with Fetcher(settings, resolver=names, dialer=dialer, ssl_context=ssl_context) as fetcher:
        yield World(names, dialer, fetcher)


@asynccontextmanager
async def serving(handler: Handler, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server on loopback, its port; everything of it is gone at the end."""
    tasks: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        tasks.add(task)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await handler(reader, writer)
        writer.transport.abort()
        tasks.discard(task)

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@dataclass
class Site:
    """An ordinary server: what it was asked, and what it answers for each path."""

    pages: dict[str, bytes] = field(default_factory=dict)
    asked: list[bytes] = field(default_factory=list)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next((int(v) for k, v in _headers(head) if k == b"content-length"), 0)
            self.asked.append(head + await reader.readexactly(length))
            path = head.split(b" ")[1].decode()
            writer.write(self.pages.get(path, page(b"not here", status="404 Not Found")))
            await writer.drain()

    def header(self, name: str, *, of: int = -1) -> str | None:
        """A header of one of the requests."""
        return next((v.decode() for k, v in _headers(self.asked[of]) if k == name.lower().encode()), None)


def _headers(head: bytes) -> list[tuple[bytes, bytes]]:
    lines = head.split(b"\r\n\r\n")[0].split(b"\r\n")[1:]
    return [(name.lower(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)]


def page(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def moved(location: str | bytes, status: str = "302 Found") -> bytes:
    value = location.encode() if isinstance(location, str) else location
    return f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nLocation: ".encode() + value + b"\r\n\r\n"
