"""``/v1/passports/documents`` and ``/v1/passports/snapshots``: where facts come from, and what is kept of them."""

import asyncio
from typing import Annotated
from uuid import UUID

from fastapi import Query

from leasehold import web
from leasehold_packs.passports import (
    service,
    store_facts,
    store_snapshots,
)
from leasehold_packs.passports.changes import FactChange, facts_changed
from leasehold_packs.passports.model import (
    Document,
    SnapshotSummary,
)
from leasehold_packs.passports.routes_errors import passport_routes
from leasehold_packs.passports.schemas import (
    FactPage,
    ValidityRequest,
    fact_page,
)

routes = passport_routes()
_READ = web.needs("jobs:read")
_WRITE = web.needs("jobs:write")
_ADMIN = web.needs("admin")


@routes.get(
    "/v1/passports/documents/{document_version_id}",
    operation_id="passports.documents.get",
    summary="One version of a document, and how its reading went",
    response_model=Document,
    openapi_extra=_READ,
)
async def get_document(tenant: web.Tenant, document_version_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await store_facts.get_document(tx, document_version_id))


@routes.get(
    "/v1/passports/documents/{document_version_id}/bytes",
    operation_id="passports.documents.bytes",
    summary="A version of a document as it was received",
    response_class=web.Response,
    openapi_extra=_READ,
)
async def get_bytes(tenant: web.Tenant, document_version_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        raw = await store_facts.document_bytes(tx, document_version_id)
    # Never as what it says it is: a page of somebody else's must not run under our address.
    headers = {"Content-Disposition": "attachment"}
    return web.Response(raw, headers=headers, media_type="application/octet-stream")


@routes.put(
    "/v1/passports/documents/{document_version_id}/validity",
    operation_id="passports.documents.validity",
    summary="Say until when a version of a document is valid; null is for ever",
    response_model=Document,
    openapi_extra=_WRITE,
)
async def set_validity(tenant: web.Tenant, document_version_id: UUID, body: ValidityRequest) -> web.Response:
    async with tenant.transaction() as tx:
        await store_facts.set_validity(tx, document_version_id, body.valid_until)
        until = body.valid_until.isoformat() if body.valid_until else None
        await tx.log("passports.set_validity", str(document_version_id), {"valid_until": until})
        found = await store_facts.get_document(tx, document_version_id)
    await service.schedule(tenant.client)
    return web.answer(found)


@routes.get(
    "/v1/passports/documents/{document_version_id}/facts",
    operation_id="passports.documents.facts",
    summary="All that was read from a version of a document, with its cells or pointers",
    response_model=FactPage,
    openapi_extra=_READ,
)
async def document_facts(
    tenant: web.Tenant,
    document_version_id: UUID,
    after: Annotated[int, Query(ge=0, lt=2**63)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> web.Response:
    async with tenant.transaction() as tx:
        await store_facts.get_document(tx, document_version_id)
        rows = await store_facts.list_document_facts(tx, document_version_id, after=after, limit=limit + 1)
    return web.answer(fact_page(rows, limit))


@routes.get(
    "/v1/passports/snapshots/{snapshot_id}/changes",
    operation_id="passports.snapshots.changes",
    summary="What differs from another snapshot: every fact before and after, with where it was read",
    response_model=web.Listing[FactChange],
    openapi_extra=_READ,
)
async def snapshot_changes(tenant: web.Tenant, snapshot_id: UUID, since: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        before, after = await store_snapshots.two_snapshots(tx, since, snapshot_id)
    return web.answer_all(await asyncio.to_thread(facts_changed, before, after), of=FactChange)


@routes.get(
    "/v1/passports/snapshots/{snapshot_id}",
    operation_id="passports.snapshots.get",
    summary="One snapshot",
    response_model=SnapshotSummary,
    openapi_extra=_READ,
)
async def get_snapshot(tenant: web.Tenant, snapshot_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await store_snapshots.get_snapshot(tx, snapshot_id))


@routes.post(
    "/v1/passports/snapshots/{snapshot_id}/seal",
    operation_id="passports.snapshots.seal",
    summary="Seal a snapshot: its facts never change again",
    response_model=SnapshotSummary,
    openapi_extra=_WRITE,
)
async def seal(tenant: web.Tenant, snapshot_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await store_snapshots.seal_snapshot(tx, snapshot_id)
        await tx.log("passports.seal", str(snapshot_id))
        return web.answer(await store_snapshots.get_snapshot(tx, snapshot_id))
