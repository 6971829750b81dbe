"""One transaction of one tenant and one actor, wherever a Database is wanted."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self
from uuid import UUID

import asyncpg

from leasehold.engine.database import Database


class Scope(Database):
    """Every call made through it is part of one transaction; the audit log names the actor."""

    def __init__(self, db: Database, connection: asyncpg.Connection, tenant: UUID | None) -> None:
        super().__init__(db.target)
        self.connection = connection
        self._tenant = tenant

    @classmethod
    @asynccontextmanager
    async def open(cls, db: Database, *, tenant: UUID | None, actor: str) -> AsyncIterator[Self]:
        """Commits at the end; an error undoes everything."""
        async with db.transaction(tenant=tenant) as connection:
            await connection.execute("select set_config('leasehold.actor', $1, true)", actor)
            yield cls(db, connection, tenant)

    async def call(
        self, function: str, *args: Any, tenant: UUID | None = None, connection: asyncpg.Connection | None = None
    ) -> list[asyncpg.Record]:
        if tenant not in (None, self._tenant) or connection not in (None, self.connection):
            raise RuntimeError("a scope is one transaction of one tenant")
        return await super().call(function, *args, connection=self.connection)


class Acting(Database):
    """Every call made through it is a transaction of its own; the audit log names the actor."""

    def __init__(self, db: Database, actor: str) -> None:
        super().__init__(db.target)
        self._db = db
        self._actor = actor

    async def call(
        self, function: str, *args: Any, tenant: UUID | None = None, connection: asyncpg.Connection | None = None
    ) -> list[asyncpg.Record]:
        if connection is not None:
            raise RuntimeError("every call is a transaction of its own")
        async with Scope.open(self._db, tenant=tenant, actor=self._actor) as scope:
            return await scope.call(function, *args, tenant=tenant)
