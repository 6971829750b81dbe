"""Connections that stay open from test to test, as those of a program do from call to call.

A new one costs PostgreSQL ten to thirty milliseconds: it compiles each function that is called, and reads what it must
know of each table. What a pool closes in good order is given to the next pool that wants the same. That works in the
loop of the session alone, and a database that is reset must be told whom to spare.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import pytest

from leasehold.database import connection as making
from leasehold.database import database
from leasehold.database.connection import Connection
from leasehold.database.pool import Pool

_MOST = 6  # of the same, more are closed


class Kept:
    """Open connections that nobody uses now, by database and by what a pool asked for."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: dict[str, dict[Any, list[Connection]]] = defaultdict(lambda: defaultdict(list))
        self._wants: WeakKeyDictionary[Connection, tuple[str, Any]] = WeakKeyDictionary()
        self._databases: set[str] = set()  # those that a later test is handed out again

    @contextmanager
    def installed(self) -> Iterator["Kept"]:
        """In this block pools of the running loop take from here, and give back."""
        self._loop = asyncio.get_running_loop()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(database, "connect", self._connect)
            patch.setattr(Pool, "close", _close_with(self))
            yield self
        self._loop = None
        self.drop_all()

    def keep_for(self, name: str) -> None:
        """Keep connections to this database from now on, until it is dropped."""
        self._databases.add(name)

    def pids(self, name: str) -> list[int]:
        """The server's processes of those that are kept for this database."""
        return [connection.get_server_pid() for same in self._idle[name].values() for connection in same]

    def drop_all(self) -> None:
        for name in list(self._databases):
            self.drop(name)

    def drop(self, name: str) -> None:
        self._databases.discard(name)
        for same in self._idle.pop(name, {}).values():
            for connection in same:
                self._wants.pop(connection, None)
                connection.terminate()

    def keeps(self, connection: Connection) -> bool:
        """Take it, if it is fit to be used again."""
        wanted = self._wants.get(connection)
        if wanted is None or connection.is_closed() or connection.is_in_transaction():
            return False
        name, key = wanted
        same = self._idle[name][key]
        is_kept = name in self._databases and self._loop is asyncio.get_running_loop()
        if len(same) >= _MOST or not is_kept:
            self._wants.pop(connection)
            return False
        same.append(connection)
        return True

    async def _connect(self, url: str, name: str, **options: Any) -> Connection:
        of_database = urlsplit(url).path.removeprefix("/")
        is_kept = of_database in self._databases and not options.get("pooled")
        if not is_kept or self._loop is not asyncio.get_running_loop():
            return await making.connect(url, name, **options)
        key = (url, name, repr(options))
        idle = self._idle[of_database][key]
        while idle:
            connection = idle.pop()
            if not connection.is_closed():
                return connection
            self._wants.pop(connection, None)
        connection = await making.connect(url, name, **options)
        self._wants[connection] = of_database, key
        return connection


def _close_with(kept: Kept) -> Any:
    async def close(pool: Pool) -> None:
        """In place of ``Pool.close``."""
        pool._closed = True
        idle, pool._idle = pool._idle, []
        for connection, _ in idle:  # one by one: whatever ends this leaves no coroutine behind
            if not kept.keeps(connection):
                await connection.close()

    return close


KEPT = Kept()
