"""One tenant's jobs and rows, as the routes and commands of a pack reach them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from leasehold import payload
from leasehold.client import Backend, Client, plain_options
from leasehold.engine import jobs
from leasehold.engine.scope import Scope
from leasehold.engine.statements import Statements
from leasehold.job import Enqueued


class Access:
    """What is asked for in the name of one tenant. ``client`` has its jobs; ``transaction()`` has its rows."""

    def __init__(self, backend: Backend, tenant_id: UUID, actor: str) -> None:
        self.tenant_id = tenant_id
        self.client = Client(backend, tenant_id)
        self._backend = backend
        self._actor = actor

    @asynccontextmanager
    async def transaction(self) -> "AsyncIterator[Transaction]":
        """Row security shows and takes only the tenant's rows. Commits at the end; an error undoes everything."""
        async with Scope.open(self._backend.db, tenant=self.tenant_id, actor=self._actor) as scope:
            tx = Transaction(scope, self.tenant_id)
            yield tx
        if tx.enqueued:
            self._backend.announce()


class Transaction(Statements):
    """The pack's own statements, and jobs."""

    def __init__(self, scope: Scope, tenant_id: UUID) -> None:
        super().__init__(scope.connection)
        self.enqueued = False
        self.scope = scope
        self._tenant_id = tenant_id

    async def enqueue(self, kind: str, value: Any = None, *, key: str | None = None, **options: Any) -> Enqueued:
        """Ask for one job; it is there when the transaction commits."""
        return (await self.enqueue_many(kind, [value], keys=None if key is None else [key], **options))[0]

    async def enqueue_many(
        self, kind: str, values: Sequence[Any], *, keys: Sequence[str | None] | None = None, **options: Any
    ) -> list[Enqueued]:
        self.enqueued = True
        payloads = [payload.encode({} if value is None else value) for value in values]
        return await jobs.enqueue(self.scope, self._tenant_id, kind, payloads, plain_options(options), keys=keys)
