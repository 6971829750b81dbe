"""Statements of somebody else's in a transaction of ours."""

from typing import Any

import asyncpg


class Statements:
    """The driver's connection, and the four calls that most need of it."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self.connection = connection

    async def execute(self, statement: str, *args: Any) -> str:
        return str(await self.connection.execute(statement, *args))

    async def fetch(self, query: str, *args: Any) -> list[Any]:
        return list(await self.connection.fetch(query, *args))

    async def fetchrow(self, query: str, *args: Any) -> Any:
        return await self.connection.fetchrow(query, *args)

    async def fetchval(self, query: str, *args: Any) -> Any:
        return await self.connection.fetchval(query, *args)
