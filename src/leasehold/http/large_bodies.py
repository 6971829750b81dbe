"""Large bodies: so many bytes of them in work at one time, and one thread beside the event loop that works on them.

One thread, because threads take turns at Python: the event loop waits for one other at most. What it runs is cut into
calls that are short each (``body.py`` bounds the values of a body): within a single call nobody else has a turn.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, Self, TypeVar

from leasehold.http.problems import Problem

P = ParamSpec("P")
T = TypeVar("T")

#: A body above this is large.
LARGE_BYTES = 64 * 1024
_WAIT_SECONDS = 5.0


class Room:
    """What one body takes, until it is released."""

    def __init__(self, bodies: "LargeBodies", owner: str, size: int) -> None:
        self.owner, self.size = owner, size
        self._bodies = bodies
        self._is_taken = False

    def take(self) -> None:
        self._is_taken = True

    def release(self) -> None:
        if self._is_taken:
            self._is_taken = False
            self._bodies.give_back(self)


class LargeBodies:
    """The large bodies of a process. Nobody has more than half of the room, so that one tenant cannot take it all."""

    def __init__(self, most: int, *, largest: int) -> None:
        self._most = max(most, largest)  # whatever is set, one body has room where there is no other
        self._share = max(self._most // 2, largest)
        self._taken: Counter[str] = Counter()
        self._waiting: deque[tuple[Room, asyncio.Future[None]]] = deque()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="large-bodies")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def room(self, owner: str, size: int) -> Room:
        """Room for a body, when there is some; 503 if there is none for a while."""
        room = Room(self, owner, size)
        if self._fits(room):
            self._take(room)
            return room
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((room, future))
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                await future
        except BaseException as problem:
            room.release()
            if isinstance(problem, TimeoutError):
                raise _busy() from None
            raise
        finally:
            self._waiting = deque(one for one in self._waiting if one[0] is not room)
        return room

    def give_back(self, room: Room) -> None:
        self._taken[room.owner] -= room.size
        if not self._taken[room.owner]:
            del self._taken[room.owner]
        for waiting, future in list(self._waiting):
            if not future.done() and self._fits(waiting):
                self._take(waiting)
                future.set_result(None)

    async def work(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function gives, which runs beside the event loop and after those that came before."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: function(*args, **kwargs))

    def _fits(self, room: Room) -> bool:
        return self._taken.total() + room.size <= self._most and self._taken[room.owner] + room.size <= self._share

    def _take(self, room: Room) -> None:
        room.take()
        self._taken[room.owner] += room.size


def _busy() -> Problem:
    return Problem(
        "busy",
        "other large requests are in work",
        hint="send it again, or in smaller parts",
        retry_after=2,
        headers={"Connection": "close"},
    )
