"""One reader of a stream, and what waits for it."""

import asyncio
from typing import Generic, TypeVar

T = TypeVar("T")

#: Between two looks at least.
TICK_SECONDS = 0.1
#: Between two looks at most, while anybody follows.
POLL_SECONDS = 1.0
#: Items that wait for one slow reader; more, and it is dropped. It comes back with the number of its last event.
MOST_WAITING = 256


class Follower(Generic[T]):
    """One reader. ``next`` gives None when the hub has let go of it."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[T | None] = asyncio.Queue()

    async def next(self, timeout: float) -> T | None:
        async with asyncio.timeout(timeout):
            return await self._waiting.get()

    def give(self, news: T) -> None:
        if self._waiting.qsize() >= MOST_WAITING:
            self.drop()
        else:
            self._waiting.put_nowait(news)

    def drop(self) -> None:
        """Forget what waits: whoever is this slow starts again where they were."""
        while not self._waiting.empty():
            self._waiting.get_nowait()
        self._waiting.put_nowait(None)
