"""Connections to addresses that were judged: a name is resolved once, every answer is judged, and the connection goes
to the address itself, so that a second answer of the DNS has no say. The name stays for TLS and the Host header."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from httpcore2 import (
    SOCKET_OPTION,
    AsyncNetworkBackend,
    AsyncNetworkStream,
    ConnectError,
    ConnectTimeout,
)

from leasehold.errors import FetchRefused, FetchUnreachable
from leasehold.fetch import byte_budget
from leasehold.fetch.policy import Policy
from leasehold.fetch.public_addresses import Address, parse_address

#: A host's addresses as text, in the order to try them.
Resolver = Callable[[str], Awaitable[list[str]]]

RESOLVE_SECONDS = 5.0
CONNECT_SECONDS = 5.0
#: Lookups of one tenant at one time, those included that were given up and hold their thread until the system answers.
LOOKUPS_OF_ONE = 16
#: A name may have hundreds of addresses; all are judged, these are tried.
MAX_DIALS = 4


_share: ContextVar[str] = ContextVar("leasehold_share", default="")


@contextmanager
def on_share_of(tenant: str | None) -> Iterator[None]:
    """Lookups in this block are of this tenant; without one, of whoever they were of."""
    token = _share.set(_share.get() if tenant is None else tenant)
    try:
        yield
    finally:
        _share.reset(token)


class SystemResolver:
    """The operating system's resolver, which alone knows all that this machine knows about names.

    A lookup cannot be called off, so each has a thread that nobody waits for: one that hangs holds up neither the end
    of the process nor a lookup of another tenant. Every tenant has a share of its own.
    """

    def __init__(self) -> None:
        self._shares: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def __call__(self, host: str) -> list[str]:
        share = self._shares.setdefault(_share.get(), asyncio.Semaphore(LOOKUPS_OF_ONE))
        await share.acquire()
        answer: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # it may come after all have left
        arguments = (host, answer, share)
        try:
            threading.Thread(target=_look_up, args=arguments, name="leasehold-resolve", daemon=True).start()
        except RuntimeError as problem:
            share.release()
            raise FetchUnreachable(f"{host} was not resolved: this machine is busy", detail=str(problem)) from None
        return await asyncio.shield(answer)


def _look_up(host: str, answer: "asyncio.Future[list[str]]", share: asyncio.Semaphore) -> None:
    settle: Callable[[], None]
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        settle = partial(answer.set_result, list(dict.fromkeys(str(info[4][0]) for info in found)))
    except (OSError, UnicodeError) as problem:
        settle = partial(answer.set_exception, problem)
    with suppress(RuntimeError):  # the loop is closed, and with it the question
        loop = answer.get_loop()
        loop.call_soon_threadsafe(settle)
        loop.call_soon_threadsafe(share.release)


def is_own_address(address: Address) -> bool:
    """Whether this machine would talk to itself: connecting a datagram socket asks the routes and sends nothing."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as asker:
        asker.connect((str(address), 9))
        return parse_address(asker.getsockname()[0]) == address
    return False


async def judged_addresses(host: str, port: int, *, policy: Policy, resolver: Resolver) -> list[Address]:
    """All addresses of the host, every one of them allowed."""
    addresses = await _resolved(host, resolver)
    policy.judge_addresses(host, addresses, port)
    return addresses


async def _resolved(host: str, resolver: Resolver) -> list[Address]:
    if literal := parse_address(host):
        return [literal]
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            found = [parse_address(text) for text in await resolver(host)]
    except TimeoutError:
        raise FetchUnreachable(f"{host} was not resolved within {RESOLVE_SECONDS:g} s") from None
    except (OSError, UnicodeError) as problem:
        raise FetchUnreachable(f"{host} has no address", hint="check its spelling", detail=str(problem)) from None
    addresses = [address for address in found if address]
    if not addresses or len(addresses) < len(found):
        raise FetchUnreachable(f"{host} has no address", hint="check its spelling")
    return addresses


class PinnedBackend(AsyncNetworkBackend):
    """What the HTTP client opens its connections through. ``dialer`` is only ever given addresses."""

    def __init__(self, *, policy: Policy, resolver: Resolver, dialer: AsyncNetworkBackend) -> None:
        self._policy, self._resolver, self._dialer = policy, resolver, dialer

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        addresses = await judged_addresses(host, port, policy=self._policy, resolver=self._resolver)
        problems = []
        for address in addresses[:MAX_DIALS]:
            try:
                stream = await self._dialer.connect_tcp(str(address), port, timeout=CONNECT_SECONDS)
            except (ConnectError, ConnectTimeout) as problem:
                problems.append(f"{address}: {problem or type(problem).__name__}")
            else:
                return await _checked_peer(stream, host, address)
        raise FetchUnreachable(f"{host} does not accept connections on port {port}", detail="; ".join(problems))

    async def connect_unix_socket(self, path: str, *arguments: Any, **named: Any) -> AsyncNetworkStream:
        raise FetchRefused.because("a Unix socket", "only hosts are reached")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def _checked_peer(stream: AsyncNetworkStream, host: str, address: Address) -> AsyncNetworkStream:
    """The kernel's word for who is at the other end."""
    peer = stream.get_extra_info("server_addr")
    if peer is None or parse_address(str(peer[0])) != address:
        await stream.aclose()
        raise FetchRefused.because(host, "the connection led elsewhere", detail=f"{host}: {address} led to {peer}")
    return MeteredStream(stream)


class ProxyBackend(AsyncNetworkBackend):
    """Connections to the operator's proxy, the only thing that is dialled where there is one."""

    def __init__(self, dialer: AsyncNetworkBackend) -> None:
        self._dialer = dialer

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        return MeteredStream(await self._dialer.connect_tcp(host, port, timeout=CONNECT_SECONDS))

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class MeteredStream(AsyncNetworkStream):
    """A connection whose bytes are counted, those of TLS after decryption."""

    def __init__(self, inner: AsyncNetworkStream) -> None:
        self._inner = inner

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = await self._inner.read(max_bytes, timeout)
        byte_budget.count(len(data))
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> AsyncNetworkStream:
        try:
            return MeteredStream(await self._inner.start_tls(ssl_context, server_hostname, timeout))
        except BaseException:  # a handshake that is cancelled would leave the socket open
            await self._inner.aclose()
            raise

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
