"""A tenant that lives: jobs of every state, flows that wait for a person, schedules, webhooks, progress that moves.

Everything goes through the public face, as a program of a user's would: nothing on the pages is painted.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count
from uuid import UUID

from leasehold.database.actor import ActorTransaction
from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.engine import tenants
from leasehold.errors import BadInput, FetchRefused, LeaseholdError
from leasehold.features.flows.model import approval, chain, group, step
from leasehold.features.webhooks import store as webhooks
from leasehold.installation_keys import secret_keys
from leasehold.program.client import Client
from leasehold.settings import Settings

TENANT = "demo"
#: Approvals that wait before no more flows are started.
_ENOUGH = 3
_BEAT_SECONDS = 1.0
_GATE = "host:bank.example.com"
_REASON = "ordered twice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """Takes webhooks on this machine: every eighth is refused, so that there is something to send again."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks"


@asynccontextmanager
async def receiver(port: int = 0) -> AsyncIterator[Receiver]:
    numbers = count(1)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            sizes = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            await reader.readexactly(int(sizes[0].partition(b":")[2]) if sizes else 0)
            status = b"503 Service Unavailable" if next(numbers) % 8 == 0 else b"204 No Content"
            writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port)
    async with server:
        yield Receiver(port=server.sockets[0].getsockname()[1])


def allowing(settings: Settings, here: Receiver) -> Settings:
    """Settings of a worker that may call the receiver."""
    own = f"127.0.0.1:{here.port}"
    return replace(settings, fetch_allow=f"{settings.fetch_allow},{own}" if settings.fetch_allow else own)


@asynccontextmanager
async def shop(settings: Settings, here: Receiver) -> AsyncIterator["Shop"]:
    """The demo's tenant, made if it is not there, with a first filling."""
    async with Database(target(settings, Role.OPERATOR), connections=1) as operator:
        tenant = await tenants.create_tenant(operator, TENANT)
        listens = await _listen(operator, tenant, settings, here)
    async with Client.connect(replace(settings, tenant=TENANT)) as client:
        made = Shop(client, listens=listens)
        await made.open()
        yield made


class Shop:
    """Orders come in, one after the other."""

    def __init__(self, client: Client, *, listens: bool) -> None:
        self.listens = listens  # to webhooks
        self._client = client
        self._dice = random.Random(4711)
        self._numbers = count(4711)

    async def open(self) -> None:
        """Something of everything, at once."""
        client = self._client
        await client.gates.set(_GATE, rate=6, per_s=60, burst=2, failures=5)
        await client.schedules.put("nightly-report", "demo.report", {}, cron="30 2 * * *", zone="Europe/Berlin")
        await client.schedules.put("poll-the-feed", "demo.feed", _feed("all", seconds=20), every=300)
        await client.schedules.put("weekly-digest", "demo.mail", {"to": "everybody@example.com"}, cron="0 9 * * 1")
        await client.schedules.pause("weekly-digest")
        for name in ("prices", "stock"):
            await client.enqueue("demo.feed", _feed(name), tags=["feed"])
        for number in (4701, 4703, 4705, 4706):
            await client.enqueue("demo.refund", {"order": number}, tags=["vip"] if number == 4701 else None)
        await client.enqueue("demo.mail", {"to": "ada@example.com", "template": "birthday"}, delay=5400)
        unwanted = await client.enqueue("demo.mail", {"to": "max@example.com"}, delay=600)
        await client.cancel(unwanted.job_id, _REASON)
        for _ in range(3):
            await client.enqueue("demo.label", {"order": 4700}, group="order-4700")
        for number in range(4690, 4698):
            await client.enqueue("demo.charge", {"order": number}, gate=_GATE)
        for _ in range(12):
            await self.take_order()
        await self.start_flow()
        await self.start_flow(order=4715)  # which asks for more than there is

    async def go_on(self) -> None:
        """Until it is cancelled."""
        for beat in count(1):
            await asyncio.sleep(_BEAT_SECONDS)
            with suppress(LeaseholdError):  # a limit, or a database that comes back
                await self._live(beat)

    async def _live(self, beat: int) -> None:
        if self._dice.random() < 0.7:
            await self.take_order()
        if beat % 20 == 0 and len(await self._client.flows.approvals(limit=_ENOUGH)) < _ENOUGH:
            await self.start_flow()
        if beat % 45 == 0:
            await self._client.enqueue("demo.feed", _feed("prices"), tags=["feed"])
        if beat % 30 == 0:
            await self._client.enqueue("demo.refund", {"order": next(self._numbers)})

    async def take_order(self) -> None:
        number = next(self._numbers)
        await self._client.enqueue(
            "demo.charge",
            {"order": number, "cents": 990 + number % 40 * 100},
            key=f"order-{number}-{self._dice.randrange(10**9)}",
            priority=1,
        )
        await self._client.enqueue("demo.mail", {"to": f"customer{number}@example.com"})

    async def start_flow(self, order: int | None = None) -> UUID:
        """An order that a person has to release."""
        number = order or next(number for number in self._numbers if number % 5)
        given = {"order": number}
        ordered = chain(
            step("demo.stock", given, name="reserve"),
            group(
                step("demo.mail", {"to": f"customer{number}@example.com"}, name="confirm"),
                step("demo.report", {}, name="check the books"),
            ),
            approval(f"May order {number} leave the house?", name="release", expires=86_400, total="1,290.00 EUR"),
            group(step("demo.label", given) for _ in range(6)),
            step("demo.ship", given, name="ship"),
        )
        return await self._client.flows.start(ordered, name="order")


def _feed(name: str, seconds: float = 40.0) -> dict[str, object]:
    return {"url": f"https://feeds.example.com/{name}.xml", "seconds": seconds}


async def _listen(db: Database, tenant: UUID, settings: Settings, here: Receiver) -> bool:
    """An endpoint for the receiver, if these settings let a worker call it. Those of demos before are removed."""
    async with ActorTransaction.open(db, tenant=tenant, actor="demo") as scope:
        for old in await webhooks.list_endpoints(scope, tenant):
            await webhooks.remove_endpoint(scope, tenant, old.endpoint_id)
        events = ["job.dead", "job.failed", "order.*"]
        try:
            await webhooks.create_endpoint(scope, tenant, secret_keys(settings), settings, url=here.url, events=events)
        except (BadInput, FetchRefused):
            return False
    return True
