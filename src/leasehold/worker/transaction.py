"""``ctx.transaction()``: a handler's rows, its children and its outcome in one transaction, under its token."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from uuid import UUID

import asyncpg

from leasehold import payload
from leasehold.app import Leasehold
from leasehold.context import Emitted
from leasehold.engine import flows, jobs, webhooks
from leasehold.engine.database import Database
from leasehold.engine.statements import Statements
from leasehold.errors import LeaseLost
from leasehold.flows import Flow, Piece, flow_of
from leasehold.job import Ended, Enqueued
from leasehold.redact import scrub
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
            with connection.waiting_for(db.target.limits.long_call):  # they are the handler's own statements
                yield tx
        except BaseException:
            execution.completing = False  # rolled back: the attempt goes on
            raise
        if not tx.completed:
            await jobs.hold(db, grant.token, connection)
    execution.completed = tx.completed
    if tx.made_jobs:
        wake()


class HandlerTransaction(Statements):
    """What the handler gets: its own statements, jobs, and the end of its attempt."""

    def __init__(self, db: Database, app: Leasehold, execution: Execution, connection: asyncpg.Connection) -> None:
        super().__init__(connection)
        self.completed = False
        self.made_jobs = False
        self._db = db
        self._app = app
        self._execution = execution

    async def enqueue(self, kind: str, value: Any = None, *, key: str | None = None, **options: Any) -> Enqueued:
        return (await self.enqueue_many(kind, [value], keys=None if key is None else [key], **options))[0]

    async def enqueue_many(self, kind: str, values: list[Any], *, keys: Any = None, **options: Any) -> list[Enqueued]:
        self.made_jobs = True
        payloads, plain = self._app.prepare(kind, values, options)
        plain = self._execution.passed_on(plain)
        tenant = self._execution.grant.tenant_id
        return await jobs.enqueue(self._db, tenant, kind, payloads, plain, keys=keys, connection=self.connection)

    async def emit(self, type_: str, subject_type: str, subject_id: str, data: Any = None) -> UUID:
        text = payload.encode(data, what="data")
        return await self._tell(Emitted(type=type_, subject_type=subject_type, subject_id=subject_id, data=text))

    async def _tell(self, emitted: Emitted) -> UUID:
        self.made_jobs = True
        return await webhooks.emit_event(
            self._db,
            self._execution.grant.tenant_id,
            emitted.type,
            subject_type=emitted.subject_type,
            subject_id=emitted.subject_id,
            data=scrub(payload.decode(emitted.data), secrets=self._execution.secrets),
            connection=self.connection,
        )

    async def start(self, flow: Flow | Piece, *, name: str = "flow") -> UUID:
        self.made_jobs = True
        tenant, made = self._execution.grant.tenant_id, flow_of(flow, name)
        return await flows.start_flow(self._db, tenant, made, self._app.prepare_one, connection=self.connection)

    async def add(self, part: Flow | Piece) -> None:
        self.made_jobs = True
        await flows.add_steps(
            self._db, self._execution.grant.token, part, self._app.prepare_one, connection=self.connection
        )

    async def complete(self, result: R) -> R:
        await self.succeed(scrubbed(self._execution.handler.encode_result(result), self._execution.secrets))
        return result

    async def succeed(self, result: str | None) -> None:
        """End the attempt, and tell what it emitted."""
        token = self._execution.grant.token
        for emitted in self._execution.emitted:
            await self._tell(emitted)
        ended = Ended(token=token, outcome="succeeded", result=result)
        if token not in await jobs.finish(self._db, [ended], connection=self.connection):
            raise LeaseLost(f"the lease with token {token} is gone")
        self.completed = True
        # From here on until we know better, the attempt may have ended: the answer to a commit can be lost.
        self._execution.completing = True
