"""Scenarios W and X: what receivers that hang do to others, and what safe fetching costs."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace

import httpcore2

from leasehold.database.actor import ActorTransaction
from leasehold.engine.tenants import find_tenant
from leasehold.errors import LeaseholdError
from leasehold.features.webhooks import store as webhooks
from leasehold.fetch.fetcher import KEPT_CONNECTIONS, KEPT_SECONDS, Fetcher
from leasehold.sealing import Keys
from leasehold.settings import Settings
from leasehold_bench.scenario_latency import percentile
from leasehold_bench.scratch_database import TURN, ScratchDatabase
from leasehold_bench.sizes import LIMIT_SECONDS, Bench, Measures

#: One in so many receivers takes what it is sent and does not answer.
HANGING = 10
_KEY = "the key of a benchmark that seals nothing of worth"
_EVERY_SECONDS = 0.4
_CALLERS = 50
#: What our own requests say, too.
_HEADERS: dict[str | bytes, str | bytes] = {"User-Agent": "leasehold", "Accept": "*/*", "Accept-Encoding": "gzip"}


# -- W: webhooks ----------------------------------------------------------------------------------------------------


async def hanging_receivers(bench: Bench) -> AsyncIterator[Measures]:
    calm = await _delays(bench, hanging=False)
    wild = await _delays(bench, hanging=True)
    yield {
        "W p95 ms, all answer": percentile(calm, 0.95),
        f"W p95 ms, 1 in {HANGING} hangs": percentile(wild, 0.95),
        "W ratio": percentile(wild, 0.95) / percentile(calm, 0.95),
    }


@dataclass
class Receivers:
    """All of them at one port, told apart by their paths."""

    hanging: bool
    port: int = 0
    delays: list[float] = field(default_factory=list)  # milliseconds, of those that answer in every run
    greeted: set[int] = field(default_factory=set)  # who has had its first event, which is not measured

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                self._take(int(head.split(b" ")[1][1:]), json.loads(await reader.readexactly(length))["data"]["t0"])
                if self.hanging and self._hangs(head):
                    await reader.read()  # until the sender gives up
                    return
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()

    def _hangs(self, head: bytes) -> bool:
        return int(head.split(b" ")[1][1:]) % HANGING == 0

    def _take(self, number: int, t0: float) -> None:
        if number % HANGING == 0:
            return
        if number in self.greeted:
            self.delays.append((time.time() - t0) * 1000)
        self.greeted.add(number)


async def _delays(bench: Bench, *, hanging: bool) -> list[float]:
    """Milliseconds from an event to its arrival at the receivers that answer in both runs."""
    receivers = Receivers(hanging)
    server = await asyncio.start_server(receivers, "127.0.0.1", 0)
    receivers.port = server.sockets[0].getsockname()[1]
    allow = f"127.0.0.1:{receivers.port}"
    more = {"LEASEHOLD_SECRET_KEYS": _KEY, "LEASEHOLD_FETCH_ALLOW": allow}
    async with server, ScratchDatabase.open(bench.server) as here:
        endpoints = bench.sizes.endpoints
        tenants = TURN[:endpoints]
        await _make_endpoints(here, tenants, endpoints, receivers.port, replace(here.settings, fetch_allow=allow))
        async with here.workers(1, environment=more) as workers:
            await here.resume()
            rounds = max(2, bench.sizes.events // len(TURN))
            answering = sum(number % HANGING > 0 for number in range(endpoints))
            for number in range(rounds):
                for tenant in tenants:
                    await here.emit(tenant, {"t0": time.time()})
                    await asyncio.sleep(_EVERY_SECONDS)
                    workers.require_alive()
                if number == 0:
                    await _until(lambda: len(receivers.greeted) == answering, "the first events")
            wanted = (rounds - 1) * answering
            await _until(lambda: len(receivers.delays) >= wanted, f"{wanted} deliveries")
    if len(receivers.delays) != wanted:
        raise LeaseholdError(f"{len(receivers.delays)} deliveries came, not {wanted}")
    return receivers.delays


async def _make_endpoints(here: ScratchDatabase, names: Sequence[str], n: int, port: int, settings: Settings) -> None:
    keys, db = Keys([_KEY]), here.operator
    for place, name in enumerate(names):
        tenant = await find_tenant(db, name)
        async with ActorTransaction.open(db, tenant=tenant, actor="bench") as scope:
            for number in range(place, n, len(names)):
                url = f"http://127.0.0.1:{port}/{number}"
                await webhooks.create_endpoint(scope, tenant, keys, settings, url=url, events=["bench.*"])


async def _until(condition: Callable[[], bool], what: str) -> None:
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > LIMIT_SECONDS:
            raise LeaseholdError(f"{what} did not come within {LIMIT_SECONDS:g} s")
        await asyncio.sleep(0.05)


# -- X: fetch -------------------------------------------------------------------------------------------------------


async def fetching(bench: Bench) -> AsyncIterator[Measures]:
    with _pages() as port:
        url = f"http://127.0.0.1:{port}/"
        settings = Settings(fetch_allow=f"127.0.0.1:{port}")
        async with Fetcher(settings) as fetcher, _bare_client() as client:

            async def safely() -> int:
                return (await fetcher.get(url)).status

            async def barely() -> int:
                return (await client.request("GET", url, headers=_HEADERS)).status

            for ask in (safely, barely):
                await _per_second(_CALLERS * 4, ask)
            # Turn by turn, so that what disturbs the machine disturbs both.
            share = max(1, bench.sizes.fetch // 5)
            rates = [(await _per_second(share, barely), await _per_second(share, safely)) for _ in range(5)]
    bare, safe = (len(rates) / sum(1 / rate for rate in column) for column in zip(*rates, strict=True))
    yield {"X bare client/s": bare, "X fetch/s": safe, "X ratio": safe / bare}


async def _per_second(n: int, ask: Callable[[], Awaitable[int]]) -> float:
    left = iter(range(n))

    async def call() -> None:
        for _ in left:
            if await ask() != 200:
                raise LeaseholdError("the page was not there")

    began = time.monotonic()
    await asyncio.gather(*(call() for _ in range(_CALLERS)))
    return n / (time.monotonic() - began)


@asynccontextmanager
async def _bare_client() -> AsyncIterator[httpcore2.AsyncConnectionPool]:
    async with httpcore2.AsyncConnectionPool(
        max_connections=None, max_keepalive_connections=KEPT_CONNECTIONS, keepalive_expiry=KEPT_SECONDS
    ) as pool:
        yield pool


@contextmanager
def _pages() -> Iterator[int]:
    """A server of small pages; its port."""
    command = [sys.executable, "-m", "leasehold_bench.page_server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin
        assert server.stdout
        try:
            yield int(server.stdout.readline())
        finally:
            server.stdin.close()
