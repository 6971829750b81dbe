"""Who asks, in the routes and commands of a pack: a tenant, or an anonymous request."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import asyncpg

from leasehold.database.actor import ActorTransaction
from leasehold.errors import LeaseholdError
from leasehold.program.client import Backend, Client
from leasehold.program.transaction import ReadOnlyTransaction, Transaction


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
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Commits at the end of the block; an error undoes everything."""
        async with ActorTransaction.open(self._backend.db, tenant=self.tenant_id, actor=self.actor) as db:
            tx = Transaction(db, self.tenant_id, lambda: self._backend.secret_keys)
            yield tx
        if tx.has_made_jobs:
            self._backend.announce()


class Stranger:
    """Whoever asks without a key. No tenant is set and nothing can be written: row security shows no row at all.

    What strangers may see comes from functions of the pack (``security definer``) that it grants to ``leasehold_api``.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[ReadOnlyTransaction]:
        async with self._backend.db.transaction() as connection:
            await connection.execute("set transaction read only")
            try:
                yield ReadOnlyTransaction(connection)
            except asyncpg.ReadOnlySQLTransactionError as problem:  # the pack's fault: no other server would take it
                raise LeaseholdError(f"a stranger's transaction writes nothing: {problem}") from problem
