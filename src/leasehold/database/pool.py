"""A pool of connections without ceremony.

Our shortest calls take about as long as asyncpg's own pool takes to hand a connection out and to take it back. Every
setting of ours ends with its transaction, so there is nothing to reset; and a call that was cut off gives its
connection up, so there is nothing to repair.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import NamedTuple

import asyncpg

from leasehold.database.connection import Connection, Deadline, NoAnswer

#: Errors after which the server may still be answering; so does every cancellation.
_CUT_OFF = (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError)
#: One that nobody has needed for so long is closed.
_IDLE_SECONDS = 300.0


class PoolClosed(asyncpg.InterfaceError):  # type: ignore[misc]  # asyncpg has no types
    """It was closed while somebody had a use for it."""


class AllInUse(NoAnswer):
    """No connection became free in time: the database may be well."""


class Usage(NamedTuple):
    """How a pool is used now; ``waiting`` are calls that wait for a connection."""

    size: int
    used: int
    idle: int
    waiting: int


class Pool:
    """At most ``size`` connections, opened when they are needed, used newest first.

    ``turn`` is how long somebody may wait for one; None: until it comes.
    """

    def __init__(
        self, connect: Callable[[], Awaitable[Connection]], size: int, *, turn: Deadline | None = None
    ) -> None:
        self._connect = connect
        self._turn = turn
        self._closed = False
        self._size = size
        self._free = size  # more may be used at the same time
        self._turns: deque[asyncio.Future[None]] = deque()  # of those who wait
        self._idle: list[tuple[Connection, float]] = []  # and since when
        self._used: set[Connection] = set()

    def connection(self) -> "_Lent":
        """A connection for the block. One whose call may be unfinished is not used again."""
        return _Lent(self)

    def usage(self) -> Usage:
        return Usage(self._size, len(self._used), len(self._idle), sum(not turn.done() for turn in self._turns))

    async def close(self) -> None:
        """One that is in use is closed when its user is done."""
        self._closed = True
        idle, self._idle = self._idle, []
        await asyncio.gather(*(connection.close() for connection, _ in idle))

    def terminate(self) -> None:
        """At once, without a word to the server."""
        self._closed = True
        for connection in [*self._used, *(idle for idle, _ in self._idle)]:
            connection.terminate()
        self._idle.clear()

    def take_idle(self) -> Connection | None:
        """One that is at hand, if nobody waits for it. As ``take``, without a wait or a coroutine."""
        if not self._free or self._closed or (connection := self._newest()) is None:
            return None
        self._free -= 1
        self._used.add(connection)
        return connection

    async def take(self) -> Connection:
        """One to ``give_back``, after ``give_up`` if something went wrong."""
        await self._take_turn()
        try:
            if self._closed:
                raise PoolClosed("the pool is closed")
            connection = self._newest() or await self._connect()
        except BaseException:
            self._next_turn()
            raise
        self._used.add(connection)
        return connection

    def give_up(self, connection: Connection, problem: BaseException) -> None:
        """Not to be used again, if what went wrong means that its call may not be finished."""
        if not isinstance(problem, Exception) or isinstance(problem, _CUT_OFF):
            connection.give_up()
        if isinstance(problem, NoAnswer):  # what has happened to this one has happened to those that stood beside it
            self._drop_idle()

    def give_back(self, connection: Connection) -> None:
        self._used.discard(connection)
        if connection.is_closed() or connection.is_given_up:
            pass
        elif self._closed or connection.is_in_transaction():
            connection.terminate()
        else:
            now = time.monotonic()
            self._idle.append((connection, now))
            if self._idle[0][1] < now - _IDLE_SECONDS:
                self._idle.pop(0)[0].terminate()
        self._next_turn()

    def _newest(self) -> Connection | None:
        while self._idle:
            connection, _ = self._idle.pop()
            if not connection.is_closed():
                return connection
        return None

    def _drop_idle(self) -> None:
        while self._idle:
            self._idle.pop()[0].terminate()

    async def _take_turn(self) -> None:
        """Whoever waits gets the turn of whoever is done, in order; ``_free`` is 0 as long as anybody waits."""
        if self._free:
            self._free -= 1
            return
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        self._turns.append(turn)
        timer = loop.call_later(self._turn.seconds, self._no_turn, turn) if self._turn else None
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled() and turn.exception() is None:  # it came at the same moment
                self._next_turn()
            raise
        finally:
            if timer:
                timer.cancel()

    def _no_turn(self, turn: asyncio.Future[None]) -> None:
        assert self._turn
        if not turn.done():
            turn.set_exception(AllInUse(f"all {self._size} connections have been in use", self._turn))

    def _next_turn(self) -> None:
        while self._turns:
            turn = self._turns.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


class _Lent:
    """Not a generator function: those take a while to begin and to end, and every call lends a connection."""

    __slots__ = ("_connection", "_pool")

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def __aenter__(self) -> Connection:
        self._connection = await self._pool.take()
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if problem is not None:
            self._pool.give_up(self._connection, problem)
        self._pool.give_back(self._connection)
