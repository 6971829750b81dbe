"""Receivers of webhooks on loopback, and one tenant that sends to them."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from leasehold import Leasehold
from leasehold.database.actor import ActorTransaction
from leasehold.database.database import Database, Role
from leasehold.features.webhooks import handlers as webhook
from leasehold.features.webhooks import store as webhooks
from leasehold.features.webhooks.model import Delivery, Endpoint
from leasehold.sealing import Keys
from leasehold.settings import Settings
from tests.cell import Cell
from tests.fetch.world import page, serving
from tests.waiting import eventually
from tests.worker.running import FAST, running

KEY = "a key of at least 32 characters ..."
KEYS = Keys([KEY])

#: What a receiver does with its nth message, counted from 1: an answer, or None for silence.
Answer = Callable[[int], bytes | None]


def always(status: str = "204 No Content", body: bytes = b"", *headers: str) -> Answer:
    return lambda n: page(body, *headers, status=status)


@dataclass
class Receiver:
    """Keeps what it is sent, and answers as it is told."""

    answer: Answer = field(default_factory=always)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)  # ids of events that it answered with 2xx
    port: int = 0
    now: int = 0  # under way at once
    most: int = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self._serve(reader, writer)
        finally:
            self.now -= 1

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        pairs = [line.partition(":") for line in head.decode().split("\r\n")[1:] if line]
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers["content-length"]))
        self.got.append((headers, body))
        answer = self.answer(len(self.got))
        if answer is None:
            await reader.read()  # until the sender gives up
            return
        writer.write(answer.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
        await writer.drain()
        if answer.startswith(b"HTTP/1.1 2"):
            self.accepted.append(json.loads(body)["id"])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]

    @property
    def counts(self) -> Counter[str]:
        return Counter(event["id"] for event in self.events)

    async def wait_for(self, n: int) -> None:
        await eventually(lambda: _is(len(self.got) >= n), what=f"{n} messages, not {len(self.got)}")


async def _is(value: bool) -> bool:
    return value


@asynccontextmanager
async def receiving(receiver: Receiver | None = None) -> AsyncIterator[Receiver]:
    receiver = receiver or Receiver()
    async with serving(receiver) as receiver.port:
        yield receiver


def settings_for(*receivers: Receiver) -> Settings:
    allow = ",".join(f"127.0.0.1:{receiver.port}" for receiver in receivers)
    return replace(FAST, secret_keys=KEY, fetch_allow=allow, grace_seconds=0.5)


class Hooks:
    """The webhooks of tenant A."""

    def __init__(self, cell: Cell, db: Database, settings: Settings) -> None:
        self.cell, self.db, self.settings = cell, db, settings
        self.tenant = cell.tenant_a

    async def add(self, receiver: Receiver, *events: str, **options: Any) -> tuple[UUID, str]:
        options.setdefault("timeout_s", 1.0)
        async with self.scope() as scope:
            return await webhooks.create_endpoint(
                scope, self.tenant, KEYS, self.settings, url=receiver.url, events=events or ["*"], **options
            )

    async def rotate(self, endpoint: UUID, **options: Any) -> str:
        async with self.scope() as scope:
            return await webhooks.rotate_secret(scope, self.tenant, endpoint, KEYS, **options)

    def scope(self) -> Any:
        return ActorTransaction.open(self.db, tenant=self.tenant, actor="test")

    async def emit(self, n: int = 1, type_: str = "order.paid") -> list[str]:
        """The ids of so many new events."""
        return [
            str(
                await webhooks.emit_event(
                    self.db, self.tenant, type_, subject_type="order", subject_id=str(i), data={"n": i}
                )
            )
            for i in range(n)
        ]

    async def endpoint(self, endpoint: UUID) -> Endpoint:
        [found] = await webhooks.list_endpoints(self.db, self.tenant, endpoint)
        return found

    async def deliveries(self, **filters: Any) -> list[Delivery]:
        return await webhooks.list_deliveries(self.db, self.tenant, limit=1000, **filters)

    async def settled(self, *, hurry: bool = False) -> list[Delivery]:
        """The deliveries, when none is on its way any more; with ``hurry`` nobody waits for a back-off or a rest."""

        async def ask() -> list[Delivery] | None:
            if hurry:
                await self.hurry()
            found = await self.deliveries()
            return found if found and all(one.state != "pending" for one in found) else None

        found = await eventually(ask, what="the end of all deliveries")
        assert found is not None
        return found

    async def in_state(self, state: str, n: int = 1) -> list[Delivery]:
        async def ask() -> list[Delivery] | None:
            found = await self.deliveries(state=state)
            return found if len(found) >= n else None

        found = await eventually(ask, what=f"{n} deliveries that are {state}")
        assert found is not None
        return found

    async def attempted(self, n: int = 1) -> None:
        """The oldest delivery has so many attempts, and its job waits for the next or has ended."""

        async def ask() -> bool:
            oldest = (await self.deliveries())[-1]
            leased = await self.cell.look(f"select from leasehold.lease where job_id = '{oldest.job_id}'")
            return oldest.attempts >= n and not leased

        await eventually(ask, what=f"{n} attempts")

    async def hurry(self) -> None:
        await self.cell.change("update leasehold.deferred set run_at = leasehold.now() where run_at > leasehold.now()")
        await self.cell.change(
            "update leasehold.endpoint set resting_until = null, next_slot = null"
            " where resting_until is not null or next_slot is not null"
        )


@asynccontextmanager
async def working(cell: Cell, settings: Settings, *others: Leasehold) -> AsyncIterator[None]:
    """A worker with the connector, and with the handlers of others."""
    app = Leasehold(settings)
    for one in (webhook.app, *others):
        app.include(one)
    async with running(cell, app, settings):
        yield


@asynccontextmanager
async def hooks_to(cell: Cell, *receivers: Receiver) -> AsyncIterator[Hooks]:
    async with cell.database(Role.API) as db:
        yield Hooks(cell, db, settings_for(*receivers))
