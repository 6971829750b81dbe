"""``/v1/keys``: a tenant's administrator makes and revokes its keys; the operator those of every tenant."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Request, Response

from leasehold import keys
from leasehold.api.answers import answer, plain
from leasehold.api.auth import Caller, SignedIn
from leasehold.api.idempotency import refuse_key
from leasehold.api.models import KeyMade, KeyRequest, Keys
from leasehold.api.problems import Problem
from leasehold.api.route import needs, router
from leasehold.api.services import services_of
from leasehold.engine import keys as engine
from leasehold.engine import tenants
from leasehold.engine.scope import Scope

routes = router("keys")
_ADMIN = needs("admin", "operator")
Tenant = Annotated[
    str | None, Query(min_length=1, max_length=100, description="Name or id; only the operator says it.")
]


@routes.post(
    "/v1/keys",
    operation_id="keys.create",
    summary="Make a key; it is shown this once",
    status_code=201,
    response_model=KeyMade,
    openapi_extra=_ADMIN,
)
async def create(request: Request, caller: SignedIn, body: KeyRequest) -> Response:
    refuse_key(request)
    _refuse_more_than_own(caller, body.scopes)
    services = services_of(request)
    key = keys.make(services.settings.key_env)
    name, expires_at = body.name, body.expires_at
    async with _keys_of(request, caller, body.tenant) as (scope, tenant):
        if tenant is None:
            _refuse_mixed(body.scopes)
            info = await engine.create_operator_key(scope, key, services.peppers, name=name, expires_at=expires_at)
        else:
            info = await engine.create_key(
                scope, tenant, key, services.peppers, name=name, scopes=list(body.scopes), expires_at=expires_at
            )
    return answer(plain(info) | {"key": key.text}, status=201, headers={"Location": f"/v1/keys/{key.key_id}"})


@routes.get(
    "/v1/keys",
    operation_id="keys.list",
    summary="The keys, newest first, revoked ones too",
    response_model=Keys,
    openapi_extra=_ADMIN,
)
async def list_(request: Request, caller: SignedIn, tenant: Tenant = None) -> Response:
    async with _keys_of(request, caller, tenant) as (scope, owner):
        found = await (engine.list_operator_keys(scope) if owner is None else engine.list_keys(scope, owner))
    return answer({"data": found})


@routes.delete(
    "/v1/keys/{key_id}",
    operation_id="keys.revoke",
    summary="Revoke a key: every process refuses it from its next request on",
    status_code=204,
    response_class=Response,
    openapi_extra=_ADMIN,
)
async def revoke(
    request: Request,
    caller: SignedIn,
    key_id: Annotated[str, Path(pattern="^[0-9A-Za-z]{22}$")],
    tenant: Tenant = None,
) -> Response:
    async with _keys_of(request, caller, tenant) as (scope, owner):
        await (engine.revoke_operator_key(scope, key_id) if owner is None else engine.revoke_key(scope, owner, key_id))
    return Response(None, 204)


@asynccontextmanager
async def _keys_of(request: Request, caller: Caller, tenant: str | None) -> AsyncIterator[tuple[Scope, UUID | None]]:
    """A transaction for the caller's own keys, or for those of the tenant that the operator names."""
    services = services_of(request)
    if caller.tenant_id is not None:
        if tenant is not None:
            raise Problem("forbidden", "only the operator's keys name a tenant: this one has its own")
        async with Scope.open(services.db, tenant=caller.tenant_id, actor=caller.actor) as scope:
            yield scope, caller.tenant_id
        return
    db = services.operator
    owner = None if tenant is None else await tenants.find_tenant(db, tenant)
    async with Scope.open(db, tenant=owner, actor=caller.actor) as scope:
        yield scope, owner


def _refuse_more_than_own(caller: Caller, scopes: Sequence[str]) -> None:
    """Nobody gives away what they do not have; the operator gives anything."""
    missing = set(scopes) - caller.scopes
    if missing and caller.tenant_id is not None:
        raise Problem("forbidden", f"this key cannot give away what it lacks: {', '.join(sorted(missing))}")


def _refuse_mixed(scopes: Sequence[str]) -> None:
    if set(scopes) != {"operator"}:
        raise Problem("invalid", "a key without a tenant has the scope operator, and only that", hint="name a tenant")
