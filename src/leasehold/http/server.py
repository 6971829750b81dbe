"""The HTTP server in this process: a socket, uvicorn, and an end that lets go of the streams first."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from fastapi import FastAPI

from leasehold.database.database import Database
from leasehold.errors import LeaseholdError, LoginRefused, Unreachable
from leasehold.fetch.public_addresses import is_loopback
from leasehold.http.app import create_app, open_services
from leasehold.http.connection import connection
from leasehold.http.stream_poller import Hub
from leasehold.plugins.discovery import InstalledFeature
from leasehold.settings import Settings

_GRACE_SECONDS = 10
_TRIES = 50


class _Server(uvicorn.Server):
    """Leaves signals to the program around it."""

    def __init__(self, config: uvicorn.Config, hub: Hub) -> None:
        super().__init__(config)
        self._hub = hub
        self.is_up = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._hub.close()  # a stream would keep its connection, and us, for ever
        await super().shutdown(sockets)


@asynccontextmanager
async def serving(
    settings: Settings,
    *,
    packs: Iterable[InstalledFeature] = (),
    mount: Callable[[FastAPI, Iterable[InstalledFeature]], None] | None = None,
    search: bool = False,
) -> AsyncIterator[str]:
    """Serve, with the routes of these packs, until the end of the block; gives the URL.

    ``mount`` puts pages beside them. With ``search``, a busy port gives way to the next free one.
    """
    packs = list(packs)
    loopback = is_loopback(settings.host)
    listener = listen(settings.host, settings.port, search=search)
    async with open_services(settings, loopback=loopback) as services:
        await _first_contact(services.db)
        app = create_app(services, packs)
        if mount:
            mount(app, packs)
        config = uvicorn.Config(
            app,
            http=connection(seconds=settings.request_seconds, answered=services.answered),
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=_GRACE_SECONDS,
            proxy_headers=settings.trusted_proxies is not None,
            forwarded_allow_ips=settings.trusted_proxies,
        )
        server = _Server(config, services.hub)
        task = asyncio.create_task(server.serve([listener]))
        try:
            await server.is_up.wait()
            yield _url(settings.host, listener.getsockname()[1])
        finally:
            server.should_exit = True
            await task


async def _first_contact(db: Database) -> None:
    """A server starts without its database, and says at /readyz that it waits; but not with a login that is refused."""
    try:
        await db.reach()
    except LoginRefused:
        raise
    except Unreachable:
        pass  # the log says so


def listen(host: str, port: int, *, search: bool) -> socket.socket:
    """A socket on this port, or with ``search`` on one of the next ones."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ports = range(port, min(port + _TRIES, 65536)) if search and port else [port]
    for candidate in ports:
        # With the protocol said: the event loop turns Nagle's delay off only for sockets that say they are TCP.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, candidate))
            listener.listen(2048)
        except OSError as problem:
            listener.close()
            reason = problem.strerror
            continue
        listener.setblocking(False)
        return listener
    raise LeaseholdError(
        f"{host} port {port} cannot be used: {reason}", hint="choose another with --port, or 0 for any that is free"
    )


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
