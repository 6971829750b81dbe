"""One tenant's jobs and rows, as the routes and commands of a pack reach them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import asyncpg
from pydantic_core import to_jsonable_python

from leasehold import payload
from leasehold.client import Backend, Client
from leasehold.engine import flows, jobs, secrets, watch, webhooks
from leasehold.engine.scope import Scope
from leasehold.engine.statements import Statements
from leasehold.errors import LeaseholdError
from leasehold.flows import Flow, Piece, flow_of, plain_prepare
from leasehold.job import Enqueued
from leasehold.options import plain


class Access:
    """What is asked for in the name of one tenant. ``client`` has its jobs; ``transaction()`` has its rows."""

    def __init__(self, backend: Backend, tenant_id: UUID, actor: str) -> None:
        self.tenant_id = tenant_id
        self.client = Client(backend, tenant_id)
        self._backend = backend
        self.actor = actor

    @property
    def is_development(self) -> bool:
        """Whether the installation is one that only this machine reaches, under no public name."""
        return self._backend.is_development

    @asynccontextmanager
    async def transaction(self) -> "AsyncIterator[Transaction]":
        """Row security shows and takes only the tenant's rows. Commits at the end; an error undoes everything."""
        async with Scope.open(self._backend.db, tenant=self.tenant_id, actor=self.actor) as scope:
            tx = Transaction(scope, self.tenant_id, self._backend)
            yield tx
        if tx.enqueued:
            self._backend.announce()


class Transaction(Statements):
    """The pack's own statements, jobs, events and secrets."""

    def __init__(self, scope: Scope, tenant_id: UUID, backend: Backend) -> None:
        super().__init__(scope.connection)
        self.enqueued = False
        self.scope = scope
        self._tenant_id = tenant_id
        self._backend = backend

    async def enqueue(self, kind: str, value: Any = None, *, key: str | None = None, **options: Any) -> Enqueued:
        """Ask for one job; it is there when the transaction commits."""
        return (await self.enqueue_many(kind, [value], keys=None if key is None else [key], **options))[0]

    async def enqueue_many(
        self, kind: str, values: Sequence[Any], *, keys: Sequence[str | None] | None = None, **options: Any
    ) -> list[Enqueued]:
        self.enqueued = True
        found = [{} if value is None else to_jsonable_python(value, inf_nan_mode="constants") for value in values]
        payloads = [payload.encode(value) for value in found]
        return await jobs.enqueue(self.scope, self._tenant_id, kind, payloads, plain(options), keys=keys)

    async def emit(self, type_: str, subject_type: str, subject_id: str, data: Any = None) -> UUID:
        """Tell the tenant's endpoints when this commits; the event's id, which receivers see too."""
        self.enqueued = True  # deliveries are jobs
        about = {"subject_type": subject_type, "subject_id": subject_id}
        return await webhooks.emit_event(self.scope, self._tenant_id, type_, **about, data=data)

    async def log(self, action: str, target: str, detail: Any = None) -> None:
        """Write the tenant's audit log: who did this, called ``<pack>.<verb>``, and to what."""
        await watch.log_own_action(self.scope, self._tenant_id, action, target, detail)

    async def start(self, flow: Flow | Piece, *, name: str = "flow") -> UUID:
        """Start a flow; it is there when the transaction commits. Its id."""
        self.enqueued = True
        return await flows.start_flow(self.scope, self._tenant_id, flow_of(flow, name), plain_prepare)

    async def put_secret(self, name: str, value: str) -> None:
        """Keep a secret that only attempts can open, by ``ctx.secret(name)``."""
        await secrets.put_secret(self.scope, self._tenant_id, name, value, self._backend.secret_keys)


class Stranger:
    """Whoever asks without a key. No tenant is set and nothing can be written: row security shows no row at all.

    What strangers may see comes from functions of the pack (``security definer``) that it grants to ``leasehold_api``.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Statements]:
        async with self._backend.db.transaction() as connection:
            await connection.execute("set transaction read only")
            try:
                yield Statements(connection)
            except asyncpg.ReadOnlySQLTransactionError as problem:  # the pack's fault: no other server would take it
                raise LeaseholdError(f"a stranger's transaction writes nothing: {problem}") from problem
