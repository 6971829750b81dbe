"""Databases for tests: clones of a template, handed out again after a reset, which takes less than a clone."""

import asyncio
import threading
import uuid
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Coroutine
from importlib.resources import files
from itertools import chain
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from leasehold.database.connection import BY_HAND, Connection, connect
from leasehold.database.errors import translated

T = TypeVar("T")


class Databases:
    """Hands out databases that equal ``template``. One whose schema a test has changed is dropped.

    The administrator's connections stay open from test to test: a new one compiles each function anew. They live in
    the event loop of a thread, as each test has a loop of its own.
    """

    def __init__(self, admin_url: str, template: str) -> None:
        self._admin_url = admin_url
        self._template = template
        self._free: list[str] = []
        self._connections: dict[str, list[Connection]] = defaultdict(list)
        self._resetting: dict[str, Connection] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="leasehold-testing", daemon=True)
        self._thread.start()

    async def take(self) -> str:
        """The name of a database that nobody else uses."""
        if self._free:
            return self._free.pop()
        name = f"{self._template}_{uuid.uuid4().hex[:12]}"
        await administer(self._admin_url, f'create database "{name}" template "{self._template}" strategy file_copy')
        return name

    async def give_back(self, name: str, *, spare: Collection[int] = ()) -> bool:
        """End what uses the database, but for these processes of its server; whether it could be reset.

        Then it is handed out again, else it is dropped.
        """
        if await self._in_thread(self._reset(name, spare)):
            self._free.append(name)
            return True
        await administer(self._admin_url, f'drop database "{name}" with (force)')
        return False

    async def run(self, name: str, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Let the administrator do this work in a database."""
        return await self._in_thread(self._run(name, work))

    def close(self) -> None:
        """Close the connections and end the thread. The databases stay: their server goes with them."""
        asyncio.run_coroutine_threadsafe(self._disconnect(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _in_thread(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _run(self, name: str, work: Callable[[Connection], Awaitable[T]]) -> T:
        idle = self._connections[name]
        while idle and idle[-1].is_closed():  # a test may have killed the server
            idle.pop()
        connection = idle.pop() if idle else await _connect(at(self._admin_url, name))
        try:
            return await work(connection)
        finally:
            if not connection.is_closed():
                self._connections[name].append(connection)

    async def _reset(self, name: str, spare: Collection[int]) -> bool:
        """Whether the database equals its template again; the administrator's connections to it are kept then."""
        kept = [one for one in self._connections.pop(name, []) if not one.is_closed()]
        resetting = self._resetting.pop(name, None)
        if resetting is None or resetting.is_closed():
            resetting = await _connect(at(self._admin_url, name))
            # A change of this forgets all plans of a connection, so it has one of its own.
            await resetting.execute("set session_replication_role = replica")
        for one in kept:
            await one.execute(f"{one.get_reset_query()}; discard temp")
        try:
            pids = [*spare, *(one.get_server_pid() for one in kept)]
            is_reset = await resetting.fetchval("select leasehold_reset.reset($1)", pids)
        except asyncpg.InvalidSchemaNameError:
            is_reset = False  # see enable_reset
        if is_reset:
            self._connections[name], self._resetting[name] = kept, resetting
            return True
        for one in (*kept, resetting):
            await one.close()
        return False

    async def _disconnect(self) -> None:
        for connection in (*chain(*self._connections.values()), *self._resetting.values()):
            connection.terminate()  # without a word: the server may be gone
        await asyncio.sleep(0)  # for the transports


async def enable_reset(template_url: str) -> None:
    """Let clones of this template be reset to what it holds now, where the administrator is a superuser."""
    connection = await _connect(template_url)
    try:
        if await connection.fetchval("select rolsuper from pg_roles where rolname = current_user"):
            await connection.execute((files("leasehold.testing") / "reset.sql").read_text())
            await connection.execute("select leasehold_reset.keep()")
    finally:
        await connection.close()


async def administer(admin_url: str, statement: str) -> None:
    """Run a statement as the administrator: making and removing databases is not for the roles."""
    with translated():
        connection = await _connect(admin_url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


async def _connect(url: str) -> Connection:
    return await connect(url, "leasehold-migrate", deadline=BY_HAND)


def at(url: str, database: str) -> str:
    """The URL of another database of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))
