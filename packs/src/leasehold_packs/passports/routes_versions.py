"""``/v1/passports/versions``, and what many of them are made, renewed and handed out by."""

import asyncio
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from leasehold import web
from leasehold.errors import Conflict, NotFound
from leasehold_packs.passports import (
    routes_public,
    service,
    store,
    store_keys,
    store_snapshots,
    store_versions,
)
from leasehold_packs.passports.attributes import Reader, Tier
from leasehold_packs.passports.bundle_zip import zipped
from leasehold_packs.passports.model import (
    Version,
)
from leasehold_packs.passports.model_jobs import ExportOrder, RecompileOrder, ReplayOrder
from leasehold_packs.passports.qr import symbol
from leasehold_packs.passports.replay import compiled_again, is_reproduced
from leasehold_packs.passports.routes_errors import job_answer, passport_routes
from leasehold_packs.passports.schemas import (
    BulkProgress,
    ExportRequest,
    FieldShown,
    JobMade,
    RecompileRequest,
    ReplayRequest,
    ReplayResult,
    RevokeRequest,
)

routes = passport_routes()
_READ = web.needs("jobs:read")
_WRITE = web.needs("jobs:write")
_ADMIN = web.needs("admin")


@routes.get(
    "/v1/passports/versions/{version_id}",
    operation_id="passports.versions.get",
    summary="One version",
    response_model=Version,
    openapi_extra=_READ,
)
async def get_version(tenant: web.Tenant, version_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await store_versions.get_version(tx, version_id))


@routes.post(
    "/v1/passports/versions/{version_id}/activate",
    operation_id="passports.versions.activate",
    summary="Publish a signed version in the place of the active one",
    response_model=Version,
    openapi_extra=_WRITE,
)
async def activate(tenant: web.Tenant, version_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        version = await store_versions.get_version(tx, version_id)
        if version.state != "signed" or version.link is None:
            raise Conflict(f"the version is {version.state}", hint="one that is signed and has its QR code can be")
        await service.activate(tx, [version])
        await tx.log("passports.activate", str(version_id))
        return web.answer(await store_versions.get_version(tx, version_id))


@routes.post(
    "/v1/passports/versions/{version_id}/revoke",
    operation_id="passports.versions.revoke",
    summary="Revoke a version: its page and every check say so, with the reason",
    response_model=Version,
    openapi_extra=_WRITE,
)
async def revoke(tenant: web.Tenant, version_id: UUID, body: RevokeRequest) -> web.Response:
    async with tenant.transaction() as tx:
        await service.revoke_version(tx, version_id, body.reason)
        await tx.log("passports.revoke", str(version_id), {"reason": body.reason})
        return web.answer(await store_versions.get_version(tx, version_id))


@routes.post(
    "/v1/passports/versions/{version_id}/abandon",
    operation_id="passports.versions.abandon",
    summary="Give a version up that is under way, when its job was canceled or used up its attempts",
    response_model=Version,
    openapi_extra=_WRITE,
)
async def abandon(tenant: web.Tenant, version_id: UUID, body: RevokeRequest) -> web.Response:
    async with tenant.transaction() as tx:
        version = await store_versions.get_version(tx, version_id)
        if version.state not in ("requested", "compiled"):
            raise Conflict(f"the version is {version.state}", hint="one that is published can be revoked")
        await service.abandon(tx, version, body.reason)
        await tx.log("passports.abandon", str(version_id), {"reason": body.reason})
        return web.answer(await store_versions.get_version(tx, version_id))


@routes.post(
    "/v1/passports/versions/{version_id}/replay",
    operation_id="passports.versions.replay",
    summary="Derive a version once more, and compare every byte",
    response_model=ReplayResult,
    openapi_extra=_WRITE,
)
async def replay_one(tenant: web.Tenant, version_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        if (await store_versions.get_version(tx, version_id)).state in ("requested", "compiled", "failed"):
            raise Conflict("the version is not signed yet")
        return web.answer(ReplayResult(same=await is_reproduced(tx, version_id)))


@routes.get(
    "/v1/passports/versions/{version_id}/fields",
    operation_id="passports.versions.fields",
    summary="Every field with its tier and what it was derived from",
    response_model=web.Listing[FieldShown],
    openapi_extra=_READ,
)
async def fields(tenant: web.Tenant, version_id: UUID, tier: Tier | None = None) -> web.Response:
    async with tenant.transaction() as tx:
        version = await store_versions.signed_version(tx, version_id)
        made = await compiled_again(tx, version)
    if made is None or made.receipt != version.receipt:
        raise Conflict("the version cannot be derived again as it was signed")
    found = [
        FieldShown(pointer=each.pointer, tier=each.tier, value=each.value, derivation=each.derivation)
        for each in made.fields
        if tier in (None, each.tier)
    ]
    return web.answer_all(found, of=FieldShown)


@routes.get(
    "/v1/passports/versions/{version_id}/{part}",
    operation_id="passports.versions.part",
    summary="A part of a version, a QR code, or all as a file; as the owner or as another reader sees it",
    response_class=web.Response,
    openapi_extra=_READ,
)
async def part(
    tenant: web.Tenant,
    version_id: UUID,
    part: Literal[
        "payload", "receipt", "proof", "log", "disclosure", "bundle.zip", "qr.svg", "qr.png", "integrity.png"
    ],
    reader: Reader = Reader.OWNER,
) -> web.Response:
    async with tenant.transaction() as tx:
        version = await store_versions.signed_version(tx, version_id)
        made = await store_versions.bundle_of(tx, version, reader)
        keys = await store_keys.public_keys(tx)
    if part == "bundle.zip":
        return web.Response(zipped(made, keys), media_type="application/zip")
    if part == "integrity.png":
        return web.Response(routes_public.integrity_png(version), media_type="image/png")
    if part.startswith("qr."):
        if version.link is None:
            raise NotFound("the version has no QR code yet")
        made_symbol = await asyncio.to_thread(symbol, version.link)
        return routes_public.image(made_symbol, part)
    return web.Response(getattr(made, part), media_type="application/json")


@routes.get(
    "/v1/passports/bulks/{bulk_id}",
    operation_id="passports.bulks.get",
    summary="How far a bulk is, and the states of its versions",
    response_model=BulkProgress,
    openapi_extra=_READ,
)
async def get_bulk(tenant: web.Tenant, bulk_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        bulk = await store_versions.get_bulk(tx, bulk_id)
        counts = await store_versions.count_states(tx, bulk.base_id)
    progress = BulkProgress(
        bulk_id=bulk.bulk_id,
        model_id=bulk.model_id,
        state=bulk.state,
        next_line=bulk.next_line,
        made=bulk.made,
        refused=bulk.refused,
        versions=counts,
    )
    return web.answer(progress)


@routes.post(
    "/v1/passports/recompile",
    operation_id="passports.recompile",
    summary="Renew what a changed fact or rule affects; with dry_run, say what would differ",
    status_code=202,
    response_model=JobMade,
    openapi_extra=_WRITE,
)
async def recompile(
    tenant: web.Tenant, body: RecompileRequest, idempotency_key: web.IdempotencyKey = None
) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        await store_snapshots.published_package(tx, body.package_id)
        order = RecompileOrder(
            package_id=body.package_id,
            issued_at=body.issued_at or datetime.now(UTC),
            author=tenant.actor,
            passport_id=body.passport_id,
            activate=body.activate,
            dry_run=body.dry_run,
        )
        await tx.log("passports.recompile", str(body.package_id), {"dry_run": body.dry_run})
        return job_answer(await tx.enqueue("passports.recompile", order))

    return await tenant.once(idempotency_key, operate)


@routes.post(
    "/v1/passports/exports",
    operation_id="passports.exports.create",
    summary="Many passports as files to be checked offline; /v1/reports/{job_id} has each, with a link",
    status_code=202,
    response_model=JobMade,
    openapi_extra=_WRITE,
)
async def export(tenant: web.Tenant, body: ExportRequest, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        if body.passport_id:
            await store.get_passport(tx, body.passport_id)
        await tx.log("passports.export", str(body.passport_id or "all"), {"reader": body.reader})
        return job_answer(await tx.enqueue("passports.export", ExportOrder(**body.model_dump())))

    return await tenant.once(idempotency_key, operate)


@routes.post(
    "/v1/passports/replays",
    operation_id="passports.replays.create",
    summary="Derive a sample of the published versions once more",
    status_code=202,
    response_model=JobMade,
    openapi_extra=_WRITE,
)
async def replay(tenant: web.Tenant, body: ReplayRequest, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        return job_answer(await tx.enqueue("passports.replay", ReplayOrder(sample=body.sample)))

    return await tenant.once(idempotency_key, operate)
