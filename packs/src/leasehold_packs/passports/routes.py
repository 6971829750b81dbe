"""``/v1/passports``: what a tenant does with its passports. ``routes_public`` has what anybody may see."""

import asyncio
from datetime import UTC, datetime
from secrets import token_urlsafe
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query
from pydantic import AwareDatetime

from leasehold import web
from leasehold_packs.passports import (
    service,
    store,
    store_facts,
    store_snapshots,
    store_versions,
)
from leasehold_packs.passports.attributes import completeness
from leasehold_packs.passports.documents import CSV, MAX_BYTES, XLSX
from leasehold_packs.passports.model import (
    Document,
    Event,
    Invitation,
    Order,
    Passport,
    SnapshotSummary,
    Version,
)
from leasehold_packs.passports.routes_errors import body_of, passport_routes
from leasehold_packs.passports.schemas import (
    BulkMade,
    BulkRequest,
    CompileRequest,
    CompletenessReport,
    FactMade,
    FactPage,
    FactRequest,
    InvitationMade,
    InvitationRequest,
    MissingAttribute,
    PassportPage,
    PassportRequest,
    VersionMade,
    fact_page,
)
from leasehold_packs.passports.store_facts import Delivered

routes = passport_routes()
_READ = web.needs("jobs:read")
_WRITE = web.needs("jobs:write")
_ADMIN = web.needs("admin")


@routes.post(
    "/v1/passports",
    operation_id="passports.create",
    summary="A passport for a model, or with a serial number for one battery",
    status_code=201,
    response_model=Passport,
    openapi_extra=_WRITE,
)
async def create(tenant: web.Tenant, body: PassportRequest, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        made = await store.add_passport(
            tx, name=body.name, category=body.category, gtin=body.gtin, serial=body.serial, model_id=body.model_id
        )
        found = await store.get_passport(tx, made)
        await tx.log("passports.create", str(made), {"name": body.name})
        return web.Answer(status=201, value=found, headers={"Location": f"/v1/passports/{made}"})

    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/passports",
    operation_id="passports.list",
    summary="Passports, or those of one model",
    response_model=PassportPage,
    openapi_extra=_READ,
)
async def list_(
    tenant: web.Tenant,
    model_id: UUID | None = None,
    after: UUID | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> web.Response:
    async with tenant.transaction() as tx:
        rows = await store.list_passports(tx, model_id=model_id, after=after, limit=limit + 1)
    data, more = rows[:limit], len(rows) > limit
    return web.answer(PassportPage(data=data, next_after=data[-1].passport_id if more else None))


@routes.get(
    "/v1/passports/{passport_id}",
    operation_id="passports.get",
    summary="One passport",
    response_model=Passport,
    openapi_extra=_READ,
)
async def get(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await store.get_passport(tx, passport_id))


@routes.get(
    "/v1/passports/{passport_id}/completeness",
    operation_id="passports.completeness",
    summary="How much of what its category requires is there",
    response_model=CompletenessReport,
    openapi_extra=_READ,
)
async def get_completeness(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        passport = await store.get_passport(tx, passport_id)
        facts = await store_facts.current_facts(tx, passport_id)
    there = {row.pointer or "": row.as_fact().value for row in facts if row.state == "ok"}
    found = await asyncio.to_thread(completeness, passport.category, there)
    report = CompletenessReport(
        share=found.share,
        present=len(found.present),
        missing=[MissingAttribute(number=each.number, name=each.name, at=list(each.at)) for each in found.missing],
        errors=sum(row.state == "error" for row in facts),
    )
    return web.answer(report)


@routes.post(
    "/v1/passports/{passport_id}/documents",
    operation_id="passports.documents.add",
    summary="Send a document as it is; facts are read from JSON, CSV and XLSX",
    status_code=202,
    response_model=Document,
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
        sent_document = await service.send_document(tx, passport_id, sent)
        await tx.log("passports.add_document", str(passport_id), {"document": str(sent_document.id), "name": name})
        found = await store_facts.get_document(tx, sent_document.id)
    if valid_until is not None:
        await service.schedule(tenant.client)
    headers = {"Location": f"/v1/jobs/{sent_document.job_id}"} if sent_document.job_id else {}
    return web.answer(found, status=202, headers=headers)


@routes.get(
    "/v1/passports/{passport_id}/documents",
    operation_id="passports.documents.list",
    summary="All versions of all documents of a passport",
    response_model=web.Listing[Document],
    openapi_extra=_READ,
)
async def list_documents(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await store.get_passport(tx, passport_id)
        return web.answer_all(await store_facts.list_documents(tx, passport_id), of=Document)


@routes.get(
    "/v1/passports/{passport_id}/facts",
    operation_id="passports.facts.list",
    summary="Facts with the cell or pointer that each was read from; without a state, the current ones",
    response_model=FactPage,
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
        await store.get_passport(tx, passport_id)
        rows = await store_facts.list_facts(tx, passport_id, state=state, after=after, limit=limit + 1)
    return web.answer(fact_page(rows, limit))


@routes.put(
    "/v1/passports/{passport_id}/facts",
    operation_id="passports.facts.state",
    summary="State a fact, or correct one: the one before is kept, and named",
    response_model=FactMade,
    openapi_extra=_WRITE,
)
async def state_fact(tenant: web.Tenant, passport_id: UUID, body: FactRequest) -> web.Response:
    async with tenant.transaction() as tx:
        made = await service.state_fact(
            tx, passport_id, pointer=body.pointer, value=body.value, unit=body.unit, author=tenant.actor
        )
        await tx.log("passports.state_fact", str(passport_id), {"pointer": body.pointer, "fact": made})
    return web.answer(FactMade(fact_id=made))


@routes.post(
    "/v1/passports/{passport_id}/facts/{fact_id}/dismiss",
    operation_id="passports.facts.dismiss",
    summary="Set a fact or an error aside",
    status_code=204,
    response_class=web.Response,
    openapi_extra=_WRITE,
)
async def dismiss_fact(tenant: web.Tenant, passport_id: UUID, fact_id: int) -> web.Response:
    async with tenant.transaction() as tx:
        await service.dismiss_fact(tx, passport_id, fact_id)
        await tx.log("passports.dismiss_fact", str(passport_id), {"fact": fact_id})
    return web.Response(None, 204)


@routes.post(
    "/v1/passports/{passport_id}/snapshots",
    operation_id="passports.snapshots.open",
    summary="Keep the current facts together, to be sealed",
    status_code=201,
    response_model=SnapshotSummary,
    openapi_extra=_WRITE,
)
async def open_snapshot(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        made = await store_snapshots.open_snapshot(tx, passport_id, tenant.actor)
        await tx.log("passports.open_snapshot", str(passport_id), {"snapshot": str(made)})
        return web.answer(await store_snapshots.get_snapshot(tx, made), status=201)


@routes.get(
    "/v1/passports/{passport_id}/snapshots",
    operation_id="passports.snapshots.list",
    summary="The snapshots of a passport, newest first",
    response_model=web.Listing[SnapshotSummary],
    openapi_extra=_READ,
)
async def list_snapshots(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await store.get_passport(tx, passport_id)
        return web.answer_all(await store_snapshots.list_snapshots(tx, passport_id), of=SnapshotSummary)


@routes.post(
    "/v1/passports/{passport_id}/compile",
    operation_id="passports.compile",
    summary="Ask for a new version: it is compiled, signed, given its QR code and activated by jobs",
    status_code=202,
    response_model=VersionMade,
    openapi_extra=_WRITE,
)
async def compile_(
    tenant: web.Tenant, passport_id: UUID, body: CompileRequest, idempotency_key: web.IdempotencyKey = None
) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        made = await service.compile_version(tx, passport_id, body.snapshot_id, _order(tenant, body))
        await tx.log("passports.compile", str(passport_id), {"version": str(made.id)})
        value = VersionMade(version_id=made.id, job_id=made.job_id)
        return web.Answer(status=202, value=value, headers={"Location": f"/v1/passports/versions/{made.id}"})

    return await tenant.once(idempotency_key, operate)


@routes.post(
    "/v1/passports/{passport_id}/bulk",
    operation_id="passports.bulks.create",
    summary="Passports of many batteries of this model, from the lines of a sheet",
    status_code=202,
    response_model=BulkMade,
    openapi_extra=_WRITE,
)
async def bulk(
    tenant: web.Tenant, passport_id: UUID, body: BulkRequest, idempotency_key: web.IdempotencyKey = None
) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        bulk_id = await service.request_bulk(tx, passport_id, body.document_version_id, _order(tenant, body))
        await tx.log("passports.bulk", str(passport_id), {"bulk": str(bulk_id)})
        headers = {"Location": f"/v1/passports/bulks/{bulk_id}"}
        return web.Answer(status=202, value=BulkMade(bulk_id=bulk_id), headers=headers)

    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/passports/{passport_id}/versions",
    operation_id="passports.versions.list",
    summary="The versions of a passport, newest first",
    response_model=web.Listing[Version],
    openapi_extra=_READ,
)
async def list_versions(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await store.get_passport(tx, passport_id)
        return web.answer_all(await store_versions.list_versions(tx, passport_id), of=Version)


@routes.get(
    "/v1/passports/{passport_id}/events",
    operation_id="passports.events",
    summary="What happened to a passport, oldest first; webhooks carry the same ids",
    response_model=web.Listing[Event],
    openapi_extra=_READ,
)
async def list_events(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await store.get_passport(tx, passport_id)
        return web.answer_all(await store.list_events(tx, passport_id), of=Event)


@routes.post(
    "/v1/passports/{passport_id}/invitations",
    operation_id="passports.invitations.create",
    summary="A link for an authority, or for somebody with a legitimate interest; it is shown this once",
    status_code=201,
    response_model=InvitationMade,
    openapi_extra=_ADMIN,
)
async def add_invitation(tenant: web.Tenant, passport_id: UUID, body: InvitationRequest) -> web.Response:
    token = token_urlsafe(32)
    async with tenant.transaction() as tx:
        await store.get_passport(tx, passport_id)
        invitation_id = await store.add_invitation(
            tx,
            passport_id,
            reader=body.reader,
            party=body.party,
            token=token,
            ends_at=body.ends_at,
            author=tenant.actor,
        )
        about = {"invitation": str(invitation_id), "reader": body.reader, "party": body.party}
        await tx.log("passports.invite", str(passport_id), about)
    return web.answer(
        InvitationMade(invitation_id=invitation_id, link=f"/p/{passport_id}?invitation={token}"), status=201
    )


@routes.get(
    "/v1/passports/{passport_id}/invitations",
    operation_id="passports.invitations.list",
    summary="Who may see more of a passport than the public, and until when",
    response_model=web.Listing[Invitation],
    openapi_extra=_ADMIN,
)
async def list_invitations(tenant: web.Tenant, passport_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await store.get_passport(tx, passport_id)
        return web.answer_all(await store.list_invitations(tx, passport_id), of=Invitation)


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
        await store.delete_invitation(tx, passport_id, invitation_id)
        await tx.log("passports.uninvite", str(passport_id), {"invitation": str(invitation_id)})
    return web.Response(None, 204)


def _order(tenant: web.Tenant, body: CompileRequest | BulkRequest) -> Order:
    return Order(
        package_id=body.package_id,
        issued_at=body.issued_at or datetime.now(UTC),
        activate=body.activate,
        author=tenant.actor,
    )
