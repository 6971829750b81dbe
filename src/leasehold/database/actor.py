"""Calls in the name of an actor, wherever a Database is wanted: the stores of the features take either."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self
from uuid import UUID

import asyncpg

from leasehold.database.database import Database, Wake
from leasehold.errors import Conflict


class _Ended:
    """In place of the connection of a transaction that has ended."""

    def __getattr__(self, name: str) -> Any:
        raise Conflict(
            "the transaction has ended: nothing is written in it any more",
            hint="move the call into the block of `async with … transaction()`",
        )


_ENDED: Any = _Ended()


class ActorTransaction(Database):
    """Each call is part of one transaction of one tenant; the audit log names the actor."""

    def __init__(self, db: Database, connection: asyncpg.Connection, tenant: UUID | None) -> None:
        super().__init__(db.target, outage=db.outage)
        self.connection = connection
        self.tenant_id = tenant

    @classmethod
    @asynccontextmanager
    async def open(cls, db: Database, *, tenant: UUID | None, actor: str) -> AsyncIterator[Self]:
        """Commits at the end; an error undoes everything."""
        async with db.transaction(tenant=tenant, actor=actor) as connection:
            opened = cls(db, connection, tenant)
            try:
                yield opened
            finally:
                opened.connection = _ENDED  # the pool lends the connection to others now

    async def call(
        self,
        function: str,
        *args: Any,
        tenant: UUID | None = None,
        connection: asyncpg.Connection | None = None,
        wake: Wake | None = None,
    ) -> list[asyncpg.Record]:
        if tenant not in (None, self.tenant_id) or connection not in (None, self.connection):
            raise RuntimeError("a transaction of one tenant and one actor calls nothing for others")
        return await super().call(function, *args, connection=self.connection)


class ActorDatabase(Database):
    """Each call is a transaction of its own; the audit log names the actor."""

    def __init__(self, db: Database, actor: str) -> None:
        super().__init__(db.target, outage=db.outage)
        self._db = db
        self._actor = actor

    async def call(
        self,
        function: str,
        *args: Any,
        tenant: UUID | None = None,
        connection: asyncpg.Connection | None = None,
        wake: Wake | None = None,
    ) -> list[asyncpg.Record]:
        if connection is not None:
            raise RuntimeError("each call is a transaction of its own")
        async with ActorTransaction.open(self._db, tenant=tenant, actor=self._actor) as tx:
            return await tx.call(function, *args, tenant=tenant)
