"""Databases for tests: clones of a template, handed out again after a reset, which takes less than a clone."""

import uuid
from importlib.resources import files
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from leasehold.engine.driver import BY_HAND, Connection, connect
from leasehold.engine.translate import translated


class Databases:
    """Hands out databases that equal ``template``. One whose schema a test has changed is dropped."""

    def __init__(self, admin_url: str, template: str) -> None:
        self._admin_url = admin_url
        self._template = template
        self._free: list[str] = []

    async def take(self) -> str:
        """The name of a database that nobody else uses."""
        if self._free:
            return self._free.pop()
        name = f"{self._template}_{uuid.uuid4().hex[:12]}"
        await administer(self._admin_url, f'create database "{name}" template "{self._template}" strategy file_copy')
        return name

    async def give_back(self, name: str) -> None:
        """Ends what still uses the database. It is handed out again if it could be reset, else dropped."""
        if await _reset(at(self._admin_url, name)):
            self._free.append(name)
        else:
            await administer(self._admin_url, f'drop database "{name}" with (force)')


async def enable_reset(template_url: str) -> None:
    """Let clones of this template be reset to what it holds now, where the administrator is a superuser."""
    connection = await _connect(template_url)
    try:
        if await connection.fetchval("select rolsuper from pg_roles where rolname = current_user"):
            await connection.execute((files("leasehold.testing") / "reset.sql").read_text())
            await connection.execute("select leasehold_reset.keep()")
    finally:
        await connection.close()


async def _reset(url: str) -> bool:
    connection = await _connect(url)
    try:
        return bool(await connection.fetchval("select leasehold_reset.reset()"))
    except asyncpg.InvalidSchemaNameError:
        return False  # the administrator is no superuser, see enable_reset
    finally:
        await connection.close()


async def administer(url: str, statement: str) -> None:
    """Run a statement as the administrator: making and removing databases is not for the roles."""
    with translated():
        connection = await _connect(url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


async def _connect(url: str) -> Connection:
    return await connect(url, "leasehold-migrate", deadline=BY_HAND)


def at(url: str, database: str) -> str:
    """The URL of another database of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))
