"""``/v1/passports/issuer`` and ``/v1/passports/keys``: who signs, and with what."""

from datetime import UTC, datetime

from leasehold import web
from leasehold.errors import Conflict
from leasehold_packs.passports import service, store_keys
from leasehold_packs.passports.model import Issuer, Key
from leasehold_packs.passports.routes_errors import job_answer, passport_routes
from leasehold_packs.passports.schemas import (
    IssuerRequest,
    JobMade,
    RevokeKeyRequest,
)

routes = passport_routes()
_READ = web.needs("jobs:read")
_WRITE = web.needs("jobs:write")
_ADMIN = web.needs("admin")


@routes.put(
    "/v1/passports/issuer",
    operation_id="passports.issuer.set",
    summary="Say who signs, and where its links lead",
    response_model=Issuer,
    openapi_extra=_ADMIN,
)
async def set_issuer(tenant: web.Tenant, body: IssuerRequest) -> web.Response:
    async with tenant.transaction() as tx:
        if await tx.fetchval("select leasehold_passports.is_taken($1)", body.slug):
            raise Conflict("another issuer has this slug")
        made = await store_keys.set_issuer(tx, **body.model_dump(), development=tenant.is_development)
        await tx.log("passports.set_issuer", body.slug, {"name": body.name, "host": body.host})
    await service.schedule(tenant.client)
    return web.answer(made)


@routes.get(
    "/v1/passports/issuer",
    operation_id="passports.issuer.get",
    summary="Who signs",
    response_model=Issuer,
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
    response_model=JobMade,
    openapi_extra=_ADMIN,
)
async def prove_host(tenant: web.Tenant, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        return job_answer(await service.request_proof(tx))

    return await tenant.once(idempotency_key, operate)


@routes.post(
    "/v1/passports/keys",
    operation_id="passports.keys.rotate",
    summary="Make a new key; what the one before signed goes on to hold",
    status_code=201,
    response_model=Key,
    openapi_extra=_ADMIN,
)
async def rotate_key(tenant: web.Tenant, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        made = await store_keys.rotate_key(tx, datetime.now(UTC))
        await tx.log("passports.rotate_key", made.key_id)
        [key] = [key for key in await store_keys.list_keys(tx) if key.key_id == made.key_id]
        return web.Answer(status=201, value=key)

    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/passports/keys",
    operation_id="passports.keys.list",
    summary="All keys, oldest first; their private parts never come out",
    response_model=web.Listing[Key],
    openapi_extra=_READ,
)
async def list_keys(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer_all(await store_keys.list_keys(tx), of=Key)


@routes.post(
    "/v1/passports/keys/{key_id}/revoke",
    operation_id="passports.keys.revoke",
    summary="Revoke a key: what it signed since then does not hold",
    status_code=204,
    response_class=web.Response,
    openapi_extra=_ADMIN,
)
async def revoke_key(tenant: web.Tenant, key_id: str, body: RevokeKeyRequest) -> web.Response:
    async with tenant.transaction() as tx:
        await store_keys.revoke_key(tx, key_id, body.since)
        await tx.log("passports.revoke_key", key_id, {"since": body.since.isoformat()})
    return web.Response(None, 204)
