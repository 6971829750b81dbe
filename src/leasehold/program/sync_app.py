"""``app.sync``: the app without an event loop."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack
from uuid import UUID

from leasehold.database import foreign_transaction
from leasehold.features.flows.model import Flow, Piece, flow_of
from leasehold.job import Enqueued
from leasehold.program.client import Backend
from leasehold.typed_options import JobOptions

if TYPE_CHECKING:
    from leasehold.program.app import Leasehold


class SyncLeasehold:
    """``app.sync``: enqueue from code without an event loop, in the caller's transaction or in one of its own."""

    def __init__(self, app: "Leasehold") -> None:
        self._app = app

    def enqueue(
        self,
        kind: str,
        payload: object = None,
        *,
        tenant: str | UUID | None = None,
        key: str | None = None,
        conn: object = None,
        **options: Unpack[JobOptions],
    ) -> Enqueued:
        keys = None if key is None else [key]
        return self.enqueue_many(kind, [payload], tenant=tenant, keys=keys, conn=conn, **options)[0]

    def enqueue_many(
        self,
        kind: str,
        payloads: Sequence[object],
        *,
        tenant: str | UUID | None = None,
        keys: Sequence[str | None] | None = None,
        conn: object = None,
        **options: Unpack[JobOptions],
    ) -> list[Enqueued]:
        if conn is None:
            return asyncio.run(self._on_its_own(kind, payloads, tenant, keys, options))
        texts, prepared = self._app.prepare(kind, payloads, options)
        given = self._app._foreign(kind, texts, prepared, tenant, keys)
        return foreign_transaction.enqueue_sync(conn, given, schema=self._app.settings.schema)

    def start(
        self, flow: Flow | Piece, *, name: str = "flow", tenant: str | UUID | None = None, conn: object = None
    ) -> UUID:
        """As ``app.start``."""
        built = flow_of(flow, name)
        if conn is None:
            return asyncio.run(self._start_on_its_own(built, tenant))
        given = self._app.foreign_flow(built, tenant)
        return foreign_transaction.start_flow_sync(conn, given, schema=self._app.settings.schema)

    async def _start_on_its_own(self, flow: Flow, tenant: str | UUID | None) -> UUID:
        async with Backend(self._app.settings) as backend:
            await self._app.introduce(backend.db)
            return await (await backend.client(tenant)).flows.start(flow, prepare=self._app.prepare_one)

    async def _on_its_own(
        self,
        kind: str,
        payloads: Sequence[object],
        tenant: str | UUID | None,
        keys: Sequence[str | None] | None,
        options: JobOptions,
    ) -> list[Enqueued]:
        texts, given = self._app.prepare(kind, payloads, options)
        async with Backend(self._app.settings) as backend:
            await self._app.introduce(backend.db)
            client = await backend.client(tenant)
            return await client.backend.enqueue(client.tenant_id, kind, texts, given, keys)
