"""What an attempt says and asks goes straight to the database, under its token."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from leasehold.app import Leasehold
from leasehold.context import Emitted, Transaction
from leasehold.engine import jobs
from leasehold.engine.bodies import Bodies
from leasehold.engine.database import Database
from leasehold.errors import BadInput, LeaseLost, Unreachable
from leasehold.job import Enqueued
from leasehold.worker.execute import Execution, Stop

if TYPE_CHECKING:
    from leasehold.engine.flows import Parent
    from leasehold.net.fetch import Fetcher
    from leasehold.secrets import Keys


class DirectLink:
    """How an attempt in the worker's own process reaches the engine."""

    __slots__ = ("_app", "_db", "_execution", "_tell", "_wake")

    def __init__(
        self,
        db: Database,
        app: Leasehold,
        execution: Execution,
        wake: Callable[[], None],
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        self._db = db
        self._app = app
        self._execution = execution
        self._wake = wake  # tells workers that there may be work
        self._tell = tell  # tells those who follow jobs that there is news

    async def say(
        self, type_: str, *, message: str | None = None, progress: float | None = None, data: str | None = None
    ) -> None:
        """Store an event. A database that is away for a moment is waited for: that is no fault of the handler."""
        token = self._execution.grant.token
        if self._execution.completing:  # its lease is deleted in a transaction that is still open: we would wait for it
            raise BadInput("the job is complete: say it before tx.complete()")
        while True:
            if self._execution.stop is Stop.LOST:
                raise LeaseLost(f"the lease with token {token} is gone")
            try:
                await jobs.append_event(self._db, token, type_, message=message, progress=progress, data=data)
                self._tell()
                return
            except Unreachable:
                await asyncio.sleep(self._db.outage.pause_seconds())

    async def extend(self, seconds: float) -> datetime:
        deadline = await jobs.extend(self._db, self._execution.grant.token, seconds)
        self._execution.extend(seconds)
        return deadline

    async def enqueue(
        self, kind: str, values: Sequence[Any], *, keys: Sequence[str | None] | None, options: dict[str, Any]
    ) -> list[Enqueued]:
        payloads, plain = self._app.prepare(kind, values, options)
        plain = self._execution.passed_on(plain)
        made = await jobs.enqueue(self._db, self._execution.grant.tenant_id, kind, payloads, plain, keys=keys)
        self._wake()
        return made

    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        from leasehold.worker.transaction import transaction  # here, as below: few attempts need it

        return transaction(self._db, self._app, self._execution, self._wake)

    async def emit(self, emitted: Emitted) -> None:
        if self._execution.completing or self._execution.completed:
            raise BadInput("the job is complete: emit it before tx.complete()")
        self._execution.emitted.append(emitted)

    async def complete(self, result: str | None) -> None:
        """End the attempt as succeeded, in one transaction with the events that it emitted."""
        from leasehold.worker.transaction import transaction

        async with transaction(self._db, self._app, self._execution, self._wake) as tx:
            await tx.succeed(result)

    async def ask_leave(self, url: str, agent: str | None, rules_since: datetime | None) -> float:
        from leasehold.net.dial import on_share_of
        from leasehold.worker.politeness import ask_leave

        with on_share_of(str(self._execution.grant.tenant_id)):  # also for a process that has no such block
            return await ask_leave(self._db, self._app, url, agent, rules_since)

    async def secret(self, name: str) -> str:
        from leasehold.engine import secrets

        return await secrets.open_secret(self._db, self._execution.grant.tenant_id, name, self.secret_keys)

    async def parents(self) -> "list[Parent]":
        from leasehold.engine import flows

        return await flows.list_parents(self._db, self._execution.grant.token)

    @property
    def bodies(self) -> Bodies:
        days, tenant = self._app.settings.body_days, self._execution.grant.tenant_id
        return Bodies(self._db, tenant, days=days, objects=self._app.objects)

    @property
    def fetcher(self) -> "Fetcher":
        return self._app.fetcher

    @property
    def db(self) -> Database:
        return self._db

    @property
    def secret_keys(self) -> "Keys":
        return self._app.secret_keys
