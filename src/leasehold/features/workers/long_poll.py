"""Remote workers that wait for work: a wake-up of one of their queues ends the wait."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from uuid import UUID

from leasehold.http.services import Services


@dataclass(slots=True, kw_only=True, eq=False)
class Waiting:
    """One claim that waits. ``over``: it is no longer wanted, because the server stops or the worker asks again."""

    queues: Collection[str] | None  # None: any
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    over: bool = False

    def end(self) -> None:
        self.over = True
        self.woken.set()

    async def wait(self, seconds: float) -> bool:
        """Until it is woken, or so long; whether it was."""
        try:
            async with asyncio.timeout(seconds):
                await self.woken.wait()
        except TimeoutError:
            pass
        was_woken = self.woken.is_set()
        self.woken.clear()
        return was_woken


class Ready:
    def __init__(self) -> None:
        self._waiting: dict[UUID, Waiting] = {}
        self._closed = False

    @contextmanager
    def waiting(self, worker: UUID, queues: Collection[str] | None) -> Iterator[Waiting]:
        """Wait for a worker; whoever waited for it before is over: nobody reads that answer any more."""
        if before := self._waiting.get(worker):
            before.end()
        one = self._waiting[worker] = Waiting(queues=queues, over=self._closed)
        try:
            yield one
        finally:
            if self._waiting.get(worker) is one:
                del self._waiting[worker]

    def is_waiting(self, worker: UUID) -> bool:
        return worker in self._waiting

    def heard(self, queue: str) -> None:
        for one in self._waiting.values():
            if not queue or one.queues is None or queue in one.queues:
                one.woken.set()

    def close(self) -> None:
        self._closed = True
        for one in self._waiting.values():
            one.end()


@asynccontextmanager
async def open_ready(services: Services) -> AsyncIterator[Ready]:
    ready = Ready()
    services.hub.tell(ready=ready.heard, closing=ready.close)
    yield ready
