"""``/v1/keys``: a tenant's administrator makes and revokes its keys; the operator those of every tenant."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Path, Request, Response

from leasehold import tokens as keys
from leasehold.features.api_keys import store as engine
from leasehold.features.api_keys.model import KeyInfo
from leasehold.features.api_keys.schemas import KeyMade, KeyRequest
from leasehold.http.auth import Caller, SignedIn
from leasehold.http.idempotency import refuse_key
from leasehold.http.problems import Problem
from leasehold.http.responses import answer, answer_all, plain
from leasehold.http.route import needs, router
from leasehold.http.services import services_of
from leasehold.http.tenant_param import Tenant, owner_scope
from leasehold.http.types import Listing

routes = router("keys")
_ADMIN = needs("admin", "operator")


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
    async with owner_scope(request, caller, body.tenant) as (scope, tenant):
        if tenant is None:
            info = await engine.create_operator_key(
                scope, key, services.peppers, name=name, scopes=list(body.scopes), expires_at=expires_at
            )
        else:
            if caller.tenant_id is not None and body.queues:
                _refuse_other_queues(caller, body.queues, await engine.list_keys(scope, tenant))
            info = await engine.create_key(
                scope,
                tenant,
                key,
                services.peppers,
                name=name,
                scopes=list(body.scopes),
                expires_at=expires_at,
                queues=body.queues,
            )
    return answer(KeyMade(**plain(info), key=key.text), status=201, headers={"Location": f"/v1/keys/{key.key_id}"})


@routes.get(
    "/v1/keys",
    operation_id="keys.list",
    summary="The keys, newest first, revoked ones too",
    response_model=Listing[KeyInfo],
    openapi_extra=_ADMIN,
)
async def list_(request: Request, caller: SignedIn, tenant: Tenant = None) -> Response:
    async with owner_scope(request, caller, tenant) as (scope, owner):
        found = await (engine.list_operator_keys(scope) if owner is None else engine.list_keys(scope, owner))
    return answer_all(found, of=KeyInfo)


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
    async with owner_scope(request, caller, tenant) as (scope, owner):
        await (engine.revoke_operator_key(scope, key_id) if owner is None else engine.revoke_key(scope, owner, key_id))
    return Response(None, 204)


def _refuse_more_than_own(caller: Caller, scopes: Sequence[str]) -> None:
    """Nobody gives away what they do not have; the operator gives anything."""
    missing = set(scopes) - caller.scopes
    if missing and caller.tenant_id is not None:
        raise Problem("forbidden", f"this key cannot give away what it lacks: {', '.join(sorted(missing))}")


def _refuse_other_queues(caller: Caller, queues: Sequence[str], known: Sequence[KeyInfo]) -> None:
    own = {queue for key in known if key.key_id == caller.key_id for queue in key.queues or ()}
    if missing := set(queues) - own:
        raise Problem("forbidden", f"this key does not work on {', '.join(sorted(missing))} itself")
