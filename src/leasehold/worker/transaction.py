"""``ctx.transaction()``: a handler's rows, its children and its outcome in one transaction, under its token."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import asyncpg

from leasehold.app import Leasehold
from leasehold.engine import jobs
from leasehold.engine.database import Database
from leasehold.engine.statements import Statements
from leasehold.errors import LeaseLost
from leasehold.job import Ended, Enqueued
from leasehold.worker.execute import Execution, scrubbed

R = TypeVar("R")


@asynccontextmanager
async def transaction(
    db: Database, app: Leasehold, execution: Execution, wake: Callable[[], None]
) -> AsyncIterator["HandlerTransaction"]:
    """Commits at the end of the block if the lease is still ours; else raises LeaseLost and nothing was written."""
    grant = execution.grant
    async with db.transaction(tenant=grant.tenant_id) as connection:
        tx = HandlerTransaction(db, app, execution, connection)
        try:
            yield tx
        except BaseException:
            execution.completing = False  # rolled back: the attempt goes on
            raise
        if not tx.completed:
            await jobs.hold(db, grant.token, connection)
    execution.completed = tx.completed
    if tx.enqueued:
        wake()


class HandlerTransaction(Statements):
    """What the handler gets: its own statements, jobs, and the end of its attempt."""

    def __init__(self, db: Database, app: Leasehold, execution: Execution, connection: asyncpg.Connection) -> None:
        super().__init__(connection)
        self.completed = False
        self.enqueued = False
        self._db = db
        self._app = app
        self._execution = execution

    async def enqueue(self, kind: str, value: Any = None, *, key: str | None = None, **options: Any) -> Enqueued:
        return (await self.enqueue_many(kind, [value], keys=None if key is None else [key], **options))[0]

    async def enqueue_many(self, kind: str, values: list[Any], *, keys: Any = None, **options: Any) -> list[Enqueued]:
        self.enqueued = True
        payloads, plain = self._app.prepare(kind, values, options)
        tenant = self._execution.grant.tenant_id
        return await jobs.enqueue(self._db, tenant, kind, payloads, plain, keys=keys, connection=self.connection)

    async def complete(self, result: R) -> R:
        token = self._execution.grant.token
        text = scrubbed(self._execution.handler.encode_result(result), self._execution.secrets)
        ended = Ended(token=token, outcome="succeeded", result=text)
        if token not in await jobs.finish(self._db, [ended], connection=self.connection):
            raise LeaseLost(f"the lease with token {token} is gone")
        self.completed = True
        # From here on until we know better, the attempt may have ended: the answer to a commit can be lost.
        self._execution.completing = True
        return result
