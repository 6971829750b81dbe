"""The database as tests want it: nothing stays open between two calls, so nothing belongs to an event loop.

A test runner gives each test a loop of its own, and a pool that outlives its loop cannot even be closed. A connection
for each call costs some milliseconds; that is the price.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self
from uuid import UUID

import asyncpg

from leasehold.database.connect import target
from leasehold.database.database import Database, Role, Wake
from leasehold.engine import jobs
from leasehold.job import Enqueued
from leasehold.program.client import Backend
from leasehold.settings import Settings


class BriefDatabase(Database):
    """Opens for one call or one transaction at a time."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def call(
        self,
        function: str,
        *args: Any,
        tenant: UUID | None = None,
        connection: asyncpg.Connection | None = None,
        wake: Wake | None = None,
    ) -> list[asyncpg.Record]:
        if connection is not None:
            return await super().call(function, *args, tenant=tenant, connection=connection)
        async with Database(self.target, connections=1) as once:
            return await once.call(function, *args, tenant=tenant)

    async def call_long(self, function: str, *args: Any) -> list[asyncpg.Record]:
        async with Database(self.target, connections=1) as once:
            return await once.call_long(function, *args)

    @asynccontextmanager
    async def transaction(
        self, *, tenant: UUID | None = None, actor: str | None = None
    ) -> AsyncIterator[asyncpg.Connection]:
        async with (
            Database(self.target, connections=1) as once,
            once.transaction(tenant=tenant, actor=actor) as connection,
        ):
            yield connection


class BriefBackend(Backend):
    """What an app of a test enqueues through: each call for itself, and no wake-ups that outlive the test."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, BriefDatabase(target(settings, Role.API)))

    async def enqueue(
        self,
        tenant: UUID,
        kind: str,
        payloads: Sequence[str],
        options: Mapping[str, Any],
        keys: Sequence[str | None] | None,
    ) -> list[Enqueued]:
        return await jobs.enqueue(self.db, tenant, kind, payloads, options, keys=keys)
