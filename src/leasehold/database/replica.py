"""Lists and pages from a replica while it is fresh enough; from the primary otherwise.

Nobody's clock is compared. The primary is asked now and then how far its log has come. Once the replica has replayed so
much, it shows all that was committed before that question: the question's age bounds how stale an answer can be, and
whoever wrote before it was asked sees what they wrote.
"""

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, NamedTuple, Self
from uuid import UUID

import asyncpg

from leasehold.database.connection import Connection
from leasehold.database.database import Database, Target, Wake
from leasehold.errors import LeaseholdError
from leasehold.log import emit

_WRITTEN = "select (pg_current_wal_insert_lsn() - '0/0')::bigint"
#: None where the server is no replica, or not any more: then its log is another.
_REPLAYED = "select case when pg_is_in_recovery() then (pg_last_wal_replay_lsn() - '0/0')::bigint end"
_MOST_QUESTIONS = 100
_ASK_SECONDS = 0.5


class _Question(NamedTuple):
    at: float
    written: int


class Replica:
    """Whether a replica is fresh enough, found out all the time: ``async with Replica(primary, copy, within_s=2)``."""

    def __init__(self, primary: Database, copy: Database, *, within_s: float) -> None:
        self.copy = copy
        self._primary = primary
        self._within_s = within_s
        self._questions: deque[_Question] = deque(maxlen=_MOST_QUESTIONS)
        self._fresh_at = -math.inf
        self._wrote: dict[UUID | None, float] = {}
        self._failing = False
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self.copy)
        asking = asyncio.create_task(self._ask_forever())
        self._stack.callback(asking.cancel)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    def staleness(self) -> float:
        """Everything that is older than so many seconds is in the replica."""
        return time.monotonic() - self._fresh_at

    def wrote(self, tenant: UUID | None) -> None:
        """Somebody of this tenant (None: an operator) has changed something through this process."""
        self._wrote[tenant] = time.monotonic()

    def is_fresh_for(self, tenant: UUID | None) -> bool:
        return self.staleness() <= self._within_s and self._fresh_at > self._wrote.get(tenant, -math.inf)

    async def _ask_forever(self) -> None:
        while True:
            try:
                async with asyncio.timeout(self._within_s):
                    await self._ask()
                self._failing = False
            except (LeaseholdError, TimeoutError) as problem:
                if not self._failing:
                    emit("replica not asked", level=logging.WARNING, problem=str(problem) or "no answer in time")
                self._failing = True
            await asyncio.sleep(min(self._within_s / 4, _ASK_SECONDS))

    async def _ask(self) -> None:
        at = time.monotonic()
        self._questions.append(_Question(at, await _number(self._primary, _WRITTEN) or 0))
        replayed = await _number(self.copy, _REPLAYED) or 0
        while self._questions and self._questions[0].written <= replayed:
            self._fresh_at = self._questions.popleft().at
        self._wrote = {tenant: at for tenant, at in self._wrote.items() if at >= self._fresh_at}


class Reading(Database):
    """Every call goes to the replica if that is fresh enough for this tenant now, else to the primary."""

    def __init__(self, replica: Replica, primary: Database, copy: Database, tenant: UUID | None) -> None:
        super().__init__(primary.target)
        self.stale_s: float | None = None  # of what was read: at most so old; None where all came from the primary
        self._replica, self._primary, self._copy, self._tenant = replica, primary, copy, tenant

    async def call(
        self,
        function: str,
        *args: Any,
        tenant: UUID | None = None,
        connection: asyncpg.Connection | None = None,
        wake: Wake | None = None,
    ) -> list[asyncpg.Record]:
        if connection is None and self._replica.is_fresh_for(self._tenant):
            stale_s = self._replica.staleness()
            try:
                rows = await self._copy.call(function, *args, tenant=tenant)
            except LeaseholdError:  # it is down, had to end our query to go on replaying, or does not know this role
                return await self._primary.call(function, *args, tenant=tenant)
            self.stale_s = max(self.stale_s or 0.0, stale_s)
            return rows
        return await self._primary.call(function, *args, tenant=tenant, connection=connection, wake=wake)

    @asynccontextmanager
    async def transaction(self, *, tenant: UUID | None = None, actor: str | None = None) -> AsyncIterator[Connection]:
        """Of the primary: whoever wants one may write."""
        async with self._primary.transaction(tenant=tenant, actor=actor) as connection:
            yield connection


def on_replica(target: Target, url: str) -> Target:
    """The same role on another server."""
    return replace(target, url=url, assume=True, listen_url=None)


async def _number(db: Database, statement: str) -> int | None:
    async with db.transaction() as connection:
        found: int | None = await connection.fetchval(statement)
        return found
