"""A pool of connections without ceremony.

Our shortest calls take about as long as asyncpg's own pool takes to hand a connection out and to take it back. Every
setting of ours ends with its transaction, so there is nothing to reset; and a call that was cut off gives its
connection up, so there is nothing to repair.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import NamedTuple

import asyncpg

#: Errors after which the server may still be answering; so does every cancellation.
_CUT_OFF = (OSError, TimeoutError, asyncpg.InterfaceError, asyncpg.InternalClientError)
#: One that nobody has needed for so long is closed.
_IDLE_SECONDS = 300.0


class Usage(NamedTuple):
    """How a pool is used now; ``waiting`` are calls that wait for a connection."""

    size: int
    used: int
    idle: int
    waiting: int


class Pool:
    """At most ``size`` connections, opened when they are needed, used newest first."""

    def __init__(self, connect: Callable[[], Awaitable[asyncpg.Connection]], size: int) -> None:
        self._connect = connect
        self._closed = False
        self._size = size
        self._waiting = 0
        self._permits = asyncio.Semaphore(size)
        self._idle: list[tuple[asyncpg.Connection, float]] = []  # and since when
        self._used: set[asyncpg.Connection] = set()
        self._outdated: set[asyncpg.Connection] = set()  # not to be used again

    def connection(self) -> "_Lent":
        """A connection for the block. One whose call may be unfinished is not used again."""
        return _Lent(self)

    def usage(self) -> Usage:
        return Usage(self._size, len(self._used), len(self._idle), self._waiting)

    def renew(self) -> None:
        """Connect anew from now on; one that is in use is given up when its user is done."""
        self._outdated |= self._used
        while self._idle:
            self._idle.pop()[0].terminate()

    async def close(self) -> None:
        """One that is in use is closed when its user is done."""
        self._closed = True
        while self._idle:
            await self._idle.pop()[0].close()

    def terminate(self) -> None:
        """At once, without a word to the server."""
        self._closed = True
        for connection in [*self._used, *(idle for idle, _ in self._idle)]:
            connection.terminate()
        self._idle.clear()

    async def take(self) -> asyncpg.Connection:
        self._waiting += 1
        try:
            await self._permits.acquire()
        finally:
            self._waiting -= 1
        try:
            if self._closed:
                raise asyncpg.InterfaceError("the pool is closed")
            connection = self._newest() or await self._connect()
        except BaseException:
            self._permits.release()
            raise
        self._used.add(connection)
        return connection

    def _newest(self) -> asyncpg.Connection | None:
        while self._idle:
            connection, _ = self._idle.pop()
            if not connection.is_closed():
                return connection
        return None

    def give_back(self, connection: asyncpg.Connection) -> None:
        self._used.discard(connection)
        unfit = self._closed or connection in self._outdated
        self._outdated.discard(connection)
        if not connection.is_closed() and (unfit or connection.is_in_transaction()):
            connection.terminate()
        if not connection.is_closed():
            now = time.monotonic()
            self._idle.append((connection, now))
            if self._idle[0][1] < now - _IDLE_SECONDS:
                self._idle.pop(0)[0].terminate()
        self._permits.release()


class _Lent:
    """Not a generator function: those take a while to begin and to end, and every call lends a connection."""

    __slots__ = ("_connection", "_pool")

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def __aenter__(self) -> asyncpg.Connection:
        self._connection = await self._pool.take()
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if problem is not None and (not isinstance(problem, Exception) or isinstance(problem, _CUT_OFF)):
            self._connection.terminate()
        self._pool.give_back(self._connection)
