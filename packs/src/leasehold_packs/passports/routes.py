"""``/v1/passports``: what a tenant does with its passports. ``public`` has what anybody may see."""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from secrets import token_urlsafe
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from pydantic import AwareDatetime

from leasehold import web
from leasehold.errors import Conflict, NotFound
from leasehold_packs.passports import routes_check, routes_public, store_facts, store_keys, store_versions
from leasehold_packs.passports import schemas as model
from leasehold_packs.passports.attributes import Category, Reader, Tier, completeness
from leasehold_packs.passports.bundle_zip import zipped
from leasehold_packs.passports.changes import facts_changed
from leasehold_packs.passports.documents import CSV, MAX_BYTES, XLSX
from leasehold_packs.passports.errors import abandoned
from leasehold_packs.passports.handlers import activate as activated
from leasehold_packs.passports.handlers import give_up
from leasehold_packs.passports.handlers_bulk import compiled_again, get_bulk, is_reproduced, request_bulk
from leasehold_packs.passports.model_jobs import ExportOrder, RecompileOrder, ReplayOrder
from leasehold_packs.passports.qr import symbol
from leasehold_packs.passports.router import body_of, routes
from leasehold_packs.passports.rules import package
from leasehold_packs.passports.service import (
    arrange,
    ask_for_version,
    ask_to_prove,
    dismiss_fact,
    revoke_version,
    send_document,
    state_fact,
)
from leasehold_packs.passports.store import TENANT, fact_of, one
from leasehold_packs.passports.store_facts import Delivered
from leasehold_packs.passports.store_versions import Order

__all__ = ["routes", "routes_check"]

_READ = web.needs("jobs:read")
_WRITE = web.needs("jobs:write")
_ADMIN = web.needs("admin")


def _now() -> datetime:
    return datetime.now(UTC)


def _plain(row: Mapping[str, Any], *, parsed: tuple[str, ...] = ()) -> dict[str, Any]:
    """A row as an object; ``parsed`` are the columns that hold JSON."""
    found = dict(row)
    return found | {name: json.loads(found[name]) for name in parsed if found[name] is not None}


# -- issuer and keys ------------------------------------------------------------------------------------------------


@routes.put(
    "/v1/passports/issuer",
    operation_id="passports.issuer.set",
    summary="Say who signs, and where its links lead",
    response_model=model.IssuerOut,
    openapi_extra=_ADMIN,
)
async def set_issuer(tenant: web.Tenant, body: model.IssuerIn) -> web.Response:
    async with tenant.transaction() as tx:
        if await tx.fetchval("select leasehold_passports.is_taken($1)", body.slug):
            raise Conflict("another issuer has this slug")
        made = await store_keys.set_issuer(tx, **body.model_dump(), development=tenant.is_development)
        await tx.log("passports.set_issuer", body.slug, {"name": body.name, "host": body.host})
    await arrange(tenant.client)
    return web.answer(made)


@routes.get(
    "/v1/passports/issuer",
    operation_id="passports.issuer.get",
    summary="Who signs",
    response_model=model.IssuerOut,
    openapi_extra=_READ,
)
async def get_issuer(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await store_keys.get_issuer(tx))


@routes.post(
    "/v1/passports/issuer/prove",
    operation_id="passports.issuer.prove",
    summary="Look whether the issuer's host publishes its challenge; the host is the tenant's from then on",
    status_code=202,
    response_model=model.JobMade,
    openapi_extra=_ADMIN,
)
async def prove_host(tenant: web.Tenant, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        return _job(await ask_to_prove(tx))

    return await tenant.once(idempotency_key, operate)


@routes.post(
    "/v1/passports/keys",
    operation_id="passports.keys.rotate",
    summary="Make a new key; what the one before signed goes on to hold",
    status_code=201,
    response_model=model.KeyOut,
    openapi_extra=_ADMIN,
)
async def rotate_key(tenant: web.Tenant, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        made = await store_keys.rotate_key(tx, _now())
        await tx.log("passports.rotate_key", made.key_id)
        [row] = [_key(row) for row in await store_keys.list_keys(tx) if row["key_id"] == made.key_id]
        return web.Answer(status=201, value=row)

    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/passports/keys",
    operation_id="passports.keys.list",
    summary="All keys, oldest first; their private parts never come out",
    response_model=model.Keys,
    openapi_extra=_READ,
)
async def list_keys(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer({"data": [_key(row) for row in await store_keys.list_keys(tx)]})


def _page(rows: list[Any], limit: int, key: str) -> web.Response:
    """Rows that were asked for with one more than the page may have; ``next_after`` is where the next page begins."""
    more = rows[limit - 1][key] if len(rows) > limit else None
    return web.answer({"data": [dict(row) for row in rows[:limit]], "next_after": more})


def _key(row: Any) -> dict[str, Any]:
    return {name: row[name] for name in model.KeyOut.model_fields}


@routes.post(
    "/v1/passports/keys/{key_id}/revoke",
    operation_id="passports.keys.revoke",
    summary="Revoke a key: what it signed since then does not hold",
    status_code=204,
    response_class=web.Response,
    openapi_extra=_ADMIN,
)
async def revoke_key(tenant: web.Tenant, key_id: str, body: model.RevokeKeyIn) -> web.Response:
    async with tenant.transaction() as tx:
        await store_keys.revoke_key(tx, key_id, body.since)
        await tx.log("passports.revoke_key", key_id, {"since": body.since.isoformat()})
    return web.Response(None, 204)


# -- rule packages --------------------------------------------------------------------------------------------------


@routes.post(
    "/v1/passports/packages",
    operation_id="passports.packages.create",
    summary="A rule package as a draft; the same name and version again replaces the draft",
    status_code=201,
    response_model=model.PackageOut,
    openapi_extra=web.needs("jobs:write", large=True),
)
async def add_package(request: web.Request, tenant: web.Tenant, body: dict[str, Any]) -> web.Response:
    checked = await web.beside(request, package, body)
    async with tenant.transaction() as tx:
        made = await store_versions.add_package(tx, checked, tenant.actor)
        await tx.log(
            "passports.add_package", str(made["package_id"]), {"name": made["name"], "version": made["version"]}
        )
    return web.answer(dict(made), status=201, headers={"Location": f"/v1/passports/packages/{made['package_id']}"})


@routes.get(
    "/v1/passports/packages",
    operation_id="passports.packages.list",
    summary="All rule packages",
    response_model=model.Packages,
    openapi_extra=_READ,
)
async def list_packages(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer({"data": [dict(row) for row in await store_versions.list_packages(tx)]})


@routes.get(
    "/v1/passports/packages/{package_id}",
    operation_id="passports.packages.get",
    summary="One rule package with its source",
    openapi_extra=_READ,
)
async def get_package(tenant: web.Tenant, package_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(_plain(await store_versions.get_package(tx, package_id), parsed=("source",)))


@routes.post(
    "/v1/passports/packages/{package_id}/{action}",
    operation_id="passports.packages.set",
    summary="Publish a rule package, which then never changes; or retire it",
    response_model=model.PackageOut,
    openapi_extra=_WRITE,
)
async def set_package(tenant: web.Tenant, package_id: UUID, action: Literal["publish", "retire"]) -> web.Response:
    async with tenant.transaction() as tx:
        state = {"publish": "published", "retire": "retired"}[action]
        changed = dict(await store_versions.set_package_state(tx, package_id, state))
        await tx.log(f"passports.{action}_package", str(package_id))
        return web.answer(changed)


# -- versions, by their own ids -------------------------------------------------------------------------------------


@routes.get(
    "/v1/passports/versions/{version_id}",
    operation_id="passports.versions.get",
    summary="One version",
    response_model=model.VersionOut,
    openapi_extra=_READ,
)
async def get_version(tenant: web.Tenant, version_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(_plain(await store_versions.get_version(tx, version_id), parsed=("problem",)))


@routes.post(
    "/v1/passports/versions/{version_id}/activate",
    operation_id="passports.versions.activate",
    summary="Publish a signed version in the place of the active one",
    response_model=model.VersionOut,
    openapi_extra=_WRITE,
)
async def activate(tenant: web.Tenant, version_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        version = await store_versions.get_version(tx, version_id)
        if version["state"] != "signed" or version["link"] is None:
            raise Conflict(f"the version is {version['state']}", hint="one that is signed and has its QR code can be")
        await activated(tx, [version])
        await tx.log("passports.activate", str(version_id))
        return web.answer(_plain(await store_versions.get_version(tx, version_id), parsed=("problem",)))


@routes.post(
    "/v1/passports/versions/{version_id}/revoke",
    operation_id="passports.versions.revoke",
    summary="Revoke a version: its page and every check say so, with the reason",
    response_model=model.VersionOut,
    openapi_extra=_WRITE,
)
async def revoke(tenant: web.Tenant, version_id: UUID, body: model.RevokeIn) -> web.Response:
    async with tenant.transaction() as tx:
        await revoke_version(tx, version_id, body.reason)
        await tx.log("passports.revoke", str(version_id), {"reason": body.reason})
        return web.answer(_plain(await store_versions.get_version(tx, version_id), parsed=("problem",)))


@routes.post(
    "/v1/passports/versions/{version_id}/abandon",
    operation_id="passports.versions.abandon",
    summary="Give a version up that is under way, when its job was canceled or used up its attempts",
    response_model=model.VersionOut,
    openapi_extra=_WRITE,
)
async def abandon(tenant: web.Tenant, version_id: UUID, body: model.RevokeIn) -> web.Response:
    async with tenant.transaction() as tx:
        version = await store_versions.get_version(tx, version_id)
        if version["state"] not in ("requested", "compiled"):
            raise Conflict(f"the version is {version['state']}", hint="one that is published can be revoked")
        await give_up(tx, version, abandoned(body.reason))
        await tx.log("passports.abandon", str(version_id), {"reason": body.reason})
        return web.answer(_plain(await store_versions.get_version(tx, version_id), parsed=("problem",)))


@routes.post(
    "/v1/passports/versions/{version_id}/replay",
    operation_id="passports.versions.replay",
    summary="Derive a version once more, and compare every byte",
    response_model=model.Replay,
    openapi_extra=_WRITE,
)
async def replay_one(tenant: web.Tenant, version_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        if (await store_versions.get_version(tx, version_id))["state"] in ("requested", "compiled", "failed"):
            raise Conflict("the version is not signed yet")
        return web.answer({"same": await is_reproduced(tx, version_id)})


@routes.get(
    "/v1/passports/versions/{version_id}/fields",
    operation_id="passports.versions.fields",
    summary="Every field with its tier and what it was derived from",
    response_model=model.FieldsOut,
    openapi_extra=_READ,
)
async def fields(tenant: web.Tenant, version_id: UUID, tier: Tier | None = None) -> web.Response:
    async with tenant.transaction() as tx:
        version = await store_versions.signed_version(tx, version_id)
        made = await compiled_again(tx, version)
    if made is None or made.receipt != bytes(version["receipt"]):
        raise Conflict("the version cannot be derived again as it was signed")
    found = [
        {"pointer": each.pointer, "tier": each.tier, "value": each.value, "derivation": each.derivation}
        for each in made.fields
        if tier in (None, each.tier)
    ]
    return web.answer({"data": found})


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
        keys = [store_keys.public_key(row) for row in await store_keys.list_keys(tx)]
    if part == "bundle.zip":
        return web.Response(zipped(made, keys), media_type="application/zip")
    if part == "integrity.png":
        return web.Response(routes_public.integrity_png(version), media_type="image/png")
    if part.startswith("qr."):
        if version["link"] is None:
            raise NotFound("the version has no QR code yet")
        made_symbol = await asyncio.to_thread(symbol, version["link"])
        return routes_public.image(made_symbol, part)
    return web.Response(getattr(made, part), media_type="application/json")


# -- documents, snapshots and bulks, by their own ids ---------------------------------------------------------------


@routes.get(
    "/v1/passports/documents/{document_version_id}",
    operation_id="passports.documents.get",
    summary="One version of a document, and how its reading went",
    response_model=model.DocumentOut,
    openapi_extra=_READ,
)
async def get_document(tenant: web.Tenant, document_version_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(_plain(await store_facts.get_document(tx, document_version_id), parsed=("problem",)))


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
    response_model=model.DocumentOut,
    openapi_extra=_WRITE,
)
async def set_validity(tenant: web.Tenant, document_version_id: UUID, body: model.ValidityIn) -> web.Response:
    async with tenant.transaction() as tx:
        await store_facts.set_validity(tx, document_version_id, body.valid_until)
        until = body.valid_until.isoformat() if body.valid_until else None
        await tx.log("passports.set_validity", str(document_version_id), {"valid_until": until})
        found = _plain(await store_facts.get_document(tx, document_version_id), parsed=("problem",))
    await arrange(tenant.client)
    return web.answer(found)


@routes.get(
    "/v1/passports/documents/{document_version_id}/facts",
    operation_id="passports.documents.facts",
    summary="All that was read from a version of a document, with its cells or pointers",
    response_model=model.Facts,
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
        rows = await store_facts.document_facts(tx, document_version_id, after=after, limit=limit + 1)
    return _page(rows, limit, "fact_id")


@routes.get(
    "/v1/passports/snapshots/{snapshot_id}/changes",
    operation_id="passports.snapshots.changes",
    summary="What differs from another snapshot: every fact before and after, with where it was read",
    response_model=model.FactChanges,
    openapi_extra=_READ,
)
async def snapshot_changes(tenant: web.Tenant, snapshot_id: UUID, since: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        before, after = await store_versions.two_snapshots(tx, since, snapshot_id)
    return web.answer({"data": await asyncio.to_thread(facts_changed, before, after)})


@routes.get(
    "/v1/passports/snapshots/{snapshot_id}",
    operation_id="passports.snapshots.get",
    summary="One snapshot",
    response_model=model.SnapshotOut,
    openapi_extra=_READ,
)
async def get_snapshot(tenant: web.Tenant, snapshot_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(dict(await store_versions.get_snapshot(tx, snapshot_id)))


@routes.post(
    "/v1/passports/snapshots/{snapshot_id}/seal",
    operation_id="passports.snapshots.seal",
    summary="Seal a snapshot: its facts never change again",
    response_model=model.SnapshotOut,
    openapi_extra=_WRITE,
)
async def seal(tenant: web.Tenant, snapshot_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await store_versions.seal_snapshot(tx, snapshot_id)
        await tx.log("passports.seal", str(snapshot_id))
        return web.answer(dict(await store_versions.get_snapshot(tx, snapshot_id)))


@routes.get(
    "/v1/passports/bulks/{bulk_id}",
    operation_id="passports.bulks.get",
    summary="How far a bulk is, and the states of its versions",
    response_model=model.BulkOut,
    openapi_extra=_READ,
)
async def get_bulk_(tenant: web.Tenant, bulk_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        found = await get_bulk(tx, bulk_id)
        counts = await store_versions.count_states(tx, found["base_id"])
    shown = {name: found[name] for name in ("bulk_id", "model_id", "state", "next_line", "made")}
    return web.answer({**shown, "refused": json.loads(found["refused"]), "versions": counts})


@routes.post(
    "/v1/passports/recompile",
    operation_id="passports.recompile",
    summary="Renew what a changed fact or rule affects; with dry_run, say what would differ",
    status_code=202,
    response_model=model.JobMade,
    openapi_extra=_WRITE,
)
async def recompile(
    tenant: web.Tenant, body: model.RecompileIn, idempotency_key: web.IdempotencyKey = None
) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        await store_versions.published_package(tx, body.package_id)
        order = RecompileOrder(
            package_id=body.package_id,
            issued_at=body.issued_at or _now(),
            author=tenant.actor,
            passport_id=body.passport_id,
            activate=body.activate,
            dry_run=body.dry_run,
        )
        await tx.log("passports.recompile", str(body.package_id), {"dry_run": body.dry_run})
        return _job(await tx.enqueue("passports.recompile", order))

    return await tenant.once(idempotency_key, operate)


@routes.post(
    "/v1/passports/exports",
    operation_id="passports.exports.create",
    summary="Many passports as files to be checked offline; /v1/reports/{job_id} has each, with a link",
    status_code=202,
    response_model=model.JobMade,
    openapi_extra=_WRITE,
)
async def export(tenant: web.Tenant, body: model.ExportIn, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        if body.passport_id:
            await store_facts.get_passport(tx, body.passport_id)
        await tx.log("passports.export", str(body.passport_id or "all"), {"reader": body.reader})
        return _job(await tx.enqueue("passports.export", ExportOrder(**body.model_dump())))

    return await tenant.once(idempotency_key, operate)


@routes.post(
    "/v1/passports/replays",
    operation_id="passports.replays.create",
    summary="Derive a sample of the published versions once more",
    status_code=202,
    response_model=model.JobMade,
    openapi_extra=_WRITE,
)
async def replay(tenant: web.Tenant, body: model.ReplayIn, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        return _job(await tx.enqueue("passports.replay", ReplayOrder(sample=body.sample)))

    return await tenant.once(idempotency_key, operate)


def _job(made: Any) -> web.Answer:
    return web.Answer(status=202, value={"job_id": made.job_id}, headers={"Location": f"/v1/jobs/{made.job_id}"})


# -- passports ------------------------------------------------------------------------------------------------------


@routes.post(
    "/v1/passports",
    operation_id="passports.create",
    summary="A passport for a model, or with a serial number for one battery",
    status_code=201,
    response_model=model.PassportOut,
    openapi_extra=_WRITE,
)
async def create(
    tenant: web.Tenant, body: model.PassportIn, idempotency_key: web.IdempotencyKey = None
) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        made = await store_facts.add_passport(
            tx, name=body.name, category=body.category, gtin=body.gtin, serial=body.serial, model_id=body.model_id
        )
        found = dict(await store_facts.get_passport(tx, made))
        await tx.log("passports.create", str(made), {"name": body.name})
        return web.Answer(status=201, value=found, headers={"Location": f"/v1/passports/{made}"})

    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/passports",
    operation_id="passports.list",
    summary="Passports, or those of one model",
    response_model=model.Passports,
    openapi_extra=_READ,
)
async def list_(
    tenant: web.Tenant,
    model_id: UUID | None = None,
    after: UUID | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> web.Response:
    async with tenant.transaction() as tx:
        rows = await store_facts.list_passports(tx, model_id=model_id, after=after, limit=limit + 1)
    return _page(rows, limit, "passport_id")


@routes.get(
    "/v1/passports/{passport_id}",
    operation_id="passports.get",
    summary="One passport",
    response_model=model.PassportOut,
    openapi_extra=_READ,
)
async def get(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(dict(await store_facts.get_passport(tx, passport_id)))


@routes.get(
    "/v1/passports/{passport_id}/completeness",
    operation_id="passports.completeness",
    summary="How much of what its category requires is there",
    response_model=model.CompletenessOut,
    openapi_extra=_READ,
)
async def get_completeness(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        passport = await store_facts.get_passport(tx, passport_id)
        facts = await store_facts.current_facts(tx, passport_id)
    there = {row["pointer"]: fact_of(row).value for row in facts if row["state"] == "ok"}
    found = await asyncio.to_thread(completeness, Category(passport["category"]), there)
    missing = [{"number": each.number, "name": each.name, "at": each.at} for each in found.missing]
    errors = sum(row["state"] == "error" for row in facts)
    return web.answer({"share": found.share, "present": len(found.present), "missing": missing, "errors": errors})


@routes.post(
    "/v1/passports/{passport_id}/documents",
    operation_id="passports.documents.add",
    summary="Send a document as it is; facts are read from JSON, CSV and XLSX",
    status_code=202,
    response_model=model.DocumentOut,
    openapi_extra={
        **_WRITE,
        "requestBody": {
            "required": True,
            "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
        },
    },
)
async def add_document(
    request: web.Request,
    tenant: web.Tenant,
    passport_id: UUID,
    name: Annotated[str, Query(min_length=1, max_length=200)],
    role: Literal["facts", "schema", "sheet", "evidence"] = "facts",
    under: Annotated[str, Query(max_length=2_000)] = "",
    schema_id: UUID | None = None,
    valid_until: Annotated[AwareDatetime | None, Query(description="The end of a certificate.")] = None,
) -> web.Response:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_json = media_type == "application/json" or media_type.endswith("+json")
    if role == "facts" and not is_json and media_type not in (CSV, XLSX):
        raise web.Problem("unsupported_media_type", f"facts are read from application/json, {CSV} and {XLSX}")
    sent = Delivered(
        raw=await body_of(request, MAX_BYTES),
        name=name,
        role=role,
        media_type=media_type or "application/octet-stream",
        author=tenant.actor,
        under=under,
        schema_id=schema_id,
        valid_until=valid_until,
    )
    async with tenant.transaction() as tx:
        asked = await send_document(tx, passport_id, sent)
        await tx.log("passports.add_document", str(passport_id), {"document": str(asked.id), "name": name})
        found = _plain(await store_facts.get_document(tx, asked.id), parsed=("problem",))
    if valid_until is not None:
        await arrange(tenant.client)
    headers = {"Location": f"/v1/jobs/{asked.job_id}"} if asked.job_id else {}
    return web.answer(found, status=202, headers=headers)


@routes.get(
    "/v1/passports/{passport_id}/documents",
    operation_id="passports.documents.list",
    summary="All versions of all documents of a passport",
    response_model=model.Documents,
    openapi_extra=_READ,
)
async def list_documents(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await store_facts.get_passport(tx, passport_id)
        rows = await store_facts.list_documents(tx, passport_id)
    return web.answer({"data": [_plain(row, parsed=("problem",)) for row in rows]})


@routes.get(
    "/v1/passports/{passport_id}/facts",
    operation_id="passports.facts.list",
    summary="Facts with the cell or pointer that each was read from; without a state, the current ones",
    response_model=model.Facts,
    openapi_extra=_READ,
)
async def list_facts(
    tenant: web.Tenant,
    passport_id: UUID,
    state: Literal["ok", "error", "superseded", "dismissed"] | None = None,
    after: Annotated[int, Query(ge=0, lt=2**63)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> web.Response:
    async with tenant.transaction() as tx:
        await store_facts.get_passport(tx, passport_id)
        rows = await store_facts.list_facts(tx, passport_id, state=state, after=after, limit=limit + 1)
    return _page(rows, limit, "fact_id")


@routes.put(
    "/v1/passports/{passport_id}/facts",
    operation_id="passports.facts.state",
    summary="State a fact, or correct one: the one before is kept, and named",
    response_model=model.FactMade,
    openapi_extra=_WRITE,
)
async def state_fact_(tenant: web.Tenant, passport_id: UUID, body: model.FactIn) -> web.Response:
    async with tenant.transaction() as tx:
        made = await state_fact(
            tx, passport_id, pointer=body.pointer, value=body.value, unit=body.unit, author=tenant.actor
        )
        await tx.log("passports.state_fact", str(passport_id), {"pointer": body.pointer, "fact": made})
    return web.answer({"fact_id": made})


@routes.post(
    "/v1/passports/{passport_id}/facts/{fact_id}/dismiss",
    operation_id="passports.facts.dismiss",
    summary="Set a fact or an error aside",
    status_code=204,
    response_class=web.Response,
    openapi_extra=_WRITE,
)
async def dismiss_fact_(tenant: web.Tenant, passport_id: UUID, fact_id: int) -> web.Response:
    async with tenant.transaction() as tx:
        await dismiss_fact(tx, passport_id, fact_id)
        await tx.log("passports.dismiss_fact", str(passport_id), {"fact": fact_id})
    return web.Response(None, 204)


@routes.post(
    "/v1/passports/{passport_id}/snapshots",
    operation_id="passports.snapshots.open",
    summary="Keep the current facts together, to be sealed",
    status_code=201,
    response_model=model.SnapshotOut,
    openapi_extra=_WRITE,
)
async def open_snapshot(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        made = await store_versions.open_snapshot(tx, passport_id, tenant.actor)
        await tx.log("passports.open_snapshot", str(passport_id), {"snapshot": str(made)})
        return web.answer(dict(await store_versions.get_snapshot(tx, made)), status=201)


@routes.get(
    "/v1/passports/{passport_id}/snapshots",
    operation_id="passports.snapshots.list",
    summary="The snapshots of a passport, newest first",
    response_model=model.Snapshots,
    openapi_extra=_READ,
)
async def list_snapshots(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await store_facts.get_passport(tx, passport_id)
        rows = await store_versions.list_snapshots(tx, passport_id)
    return web.answer({"data": [dict(row) for row in rows]})


@routes.post(
    "/v1/passports/{passport_id}/compile",
    operation_id="passports.compile",
    summary="Ask for a new version: it is compiled, signed, given its QR code and activated by jobs",
    status_code=202,
    response_model=model.VersionMade,
    openapi_extra=_WRITE,
)
async def compile_(
    tenant: web.Tenant, passport_id: UUID, body: model.CompileIn, idempotency_key: web.IdempotencyKey = None
) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        asked = await ask_for_version(tx, passport_id, body.snapshot_id, _order(tenant, body))
        await tx.log("passports.compile", str(passport_id), {"version": str(asked.id)})
        value = {"version_id": asked.id, "job_id": asked.job_id}
        return web.Answer(status=202, value=value, headers={"Location": f"/v1/passports/versions/{asked.id}"})

    return await tenant.once(idempotency_key, operate)


def _order(tenant: web.Tenant, body: model.CompileIn | model.BulkIn) -> Order:
    return Order(
        package_id=body.package_id,
        issued_at=body.issued_at or _now(),
        activate=body.activate,
        author=tenant.actor,
    )


@routes.post(
    "/v1/passports/{passport_id}/bulk",
    operation_id="passports.bulks.create",
    summary="Passports of many batteries of this model, from the lines of a sheet",
    status_code=202,
    response_model=model.BulkMade,
    openapi_extra=_WRITE,
)
async def bulk(
    tenant: web.Tenant, passport_id: UUID, body: model.BulkIn, idempotency_key: web.IdempotencyKey = None
) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        bulk_id = await request_bulk(tx, passport_id, body.document_version_id, _order(tenant, body))
        await tx.log("passports.bulk", str(passport_id), {"bulk": str(bulk_id)})
        headers = {"Location": f"/v1/passports/bulks/{bulk_id}"}
        return web.Answer(status=202, value={"bulk_id": bulk_id}, headers=headers)

    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/passports/{passport_id}/versions",
    operation_id="passports.versions.list",
    summary="The versions of a passport, newest first",
    response_model=model.Versions,
    openapi_extra=_READ,
)
async def list_versions(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await store_facts.get_passport(tx, passport_id)
        rows = await store_versions.list_versions(tx, passport_id)
    return web.answer({"data": [_plain(row, parsed=("problem",)) for row in rows]})


@routes.get(
    "/v1/passports/{passport_id}/events",
    operation_id="passports.events",
    summary="What happened to a passport, oldest first; webhooks carry the same ids",
    response_model=model.Events,
    openapi_extra=_READ,
)
async def list_events(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await store_facts.get_passport(tx, passport_id)
        rows = await tx.fetch(
            "select event_id, version_id, type, at from leasehold_passports.event where passport_id = $1"
            " order by at, event_id limit 1000",
            passport_id,
        )
    return web.answer({"data": [dict(row) for row in rows]})


# -- who may see more -----------------------------------------------------------------------------------------------


@routes.post(
    "/v1/passports/{passport_id}/invitations",
    operation_id="passports.invitations.create",
    summary="A link for an authority, or for somebody with a legitimate interest; it is shown this once",
    status_code=201,
    response_model=model.InvitationMade,
    openapi_extra=_ADMIN,
)
async def add_invitation(tenant: web.Tenant, passport_id: UUID, body: model.InvitationIn) -> web.Response:
    token = token_urlsafe(32)
    async with tenant.transaction() as tx:
        await store_facts.get_passport(tx, passport_id)
        invitation_id = await tx.fetchval(
            "insert into leasehold_passports.invitation"
            " (tenant_id, passport_id, reader, party, token_hash, ends_at, author)"
            f" values ({TENANT}, $1, $2, $3, $4, $5, $6) returning invitation_id",
            passport_id, body.reader, body.party, sha256(token.encode()).digest(), body.ends_at, tenant.actor,
        )  # fmt: skip
        about = {"invitation": str(invitation_id), "reader": body.reader, "party": body.party}
        await tx.log("passports.invite", str(passport_id), about)
    return web.answer({"invitation_id": invitation_id, "link": f"/p/{passport_id}?invitation={token}"}, status=201)


@routes.get(
    "/v1/passports/{passport_id}/invitations",
    operation_id="passports.invitations.list",
    summary="Who may see more of a passport than the public, and until when",
    response_model=model.Invitations,
    openapi_extra=_ADMIN,
)
async def list_invitations(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await store_facts.get_passport(tx, passport_id)
        rows = await tx.fetch(
            "select invitation_id, passport_id, reader, party, ends_at, author from leasehold_passports.invitation"
            " where passport_id = $1 order by created_at",
            passport_id,
        )
    return web.answer({"data": [dict(row) for row in rows]})


@routes.delete(
    "/v1/passports/{passport_id}/invitations/{invitation_id}",
    operation_id="passports.invitations.remove",
    summary="Take an invitation back, at once",
    status_code=204,
    response_class=web.Response,
    openapi_extra=_ADMIN,
)
async def remove_invitation(tenant: web.Tenant, passport_id: UUID, invitation_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        query = "delete from leasehold_passports.invitation where passport_id = $1 and invitation_id = $2 returning 1"
        await one(tx, "invitation", query, passport_id, invitation_id)
        await tx.log("passports.uninvite", str(passport_id), {"invitation": str(invitation_id)})
    return web.Response(None, 204)
