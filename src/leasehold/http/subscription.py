"""One reader of a stream, and the look at the database that is taken for all readers together."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Generic, Self, TypeVar

from leasehold.database.database import Database
from leasehold.errors import LeaseholdError
from leasehold.log import emit

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


class ChangePoller(ABC):
    """Looks at the database while anybody follows: when there is news, and each second.

    News may be lost, and what others do to a job (cancel it, retry it) is not news: hence each second.
    ``listens`` says whether news is heard; else there is a look at every tick.
    """

    def __init__(self, db: Database, listens: Callable[[], bool]) -> None:
        self._db = db
        self._listens = listens
        self._someone = asyncio.Event()
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def heard(self) -> None:
        self._news.set()

    @abstractmethod
    def close(self) -> None:
        """Let go of every follower: the server stops, and they come back to another."""

    @abstractmethod
    async def _look(self) -> None:
        """Give the followers what is new."""

    async def _watch(self) -> None:
        while True:
            await self._someone.wait()
            await self._wait_for_news()
            try:
                await self._look()
            except LeaseholdError as problem:
                if not self._db.outage.covers(problem):
                    emit("streams wait for the database", level=logging.WARNING, problem=problem)
                await asyncio.sleep(self._db.outage.pause_seconds())

    async def _wait_for_news(self) -> None:
        await asyncio.sleep(TICK_SECONDS)
        if self._listens():  # else a tick is all we wait
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS - TICK_SECONDS):
                    await self._news.wait()
        self._news.clear()
