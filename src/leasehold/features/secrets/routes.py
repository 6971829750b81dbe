"""``/v1/secrets``: what a tenant's attempts may open. Here secrets go in, and none comes out."""

from fastapi import Request, Response

from leasehold.api.answers import answer
from leasehold.api.auth import SignedIn
from leasehold.api.models import Name, SecretRequest, Secrets
from leasehold.api.route import needs, router
from leasehold.api.services import services_of
from leasehold.engine import secrets
from leasehold.engine.scope import Scope

routes = router("secrets")
_ADMIN = needs("admin")


@routes.get(
    "/v1/secrets",
    operation_id="secrets.list",
    summary="The names of the secrets, never their values",
    response_model=Secrets,
    openapi_extra=_ADMIN,
)
async def list_(request: Request, caller: SignedIn) -> Response:
    return answer({"data": await secrets.list_secrets(services_of(request).db, caller.tenant)})


@routes.put(
    "/v1/secrets/{name}",
    operation_id="secrets.set",
    summary="Keep a secret, in the place of the one that has its name",
    status_code=204,
    response_class=Response,
    openapi_extra=_ADMIN,
)
async def set_(request: Request, caller: SignedIn, name: Name, body: SecretRequest) -> Response:
    services = services_of(request)
    keys = services.secret_keys
    async with Scope.open(services.db, tenant=caller.tenant, actor=caller.actor) as scope:
        await secrets.put_secret(scope, caller.tenant, name, body.value, keys)
    return Response(None, 204)


@routes.delete(
    "/v1/secrets/{name}",
    operation_id="secrets.remove",
    summary="Remove a secret: jobs that ask for it fail from now on",
    status_code=204,
    response_class=Response,
    openapi_extra=_ADMIN,
)
async def remove(request: Request, caller: SignedIn, name: Name) -> Response:
    async with Scope.open(services_of(request).db, tenant=caller.tenant, actor=caller.actor) as scope:
        await secrets.remove_secret(scope, caller.tenant, name)
    return Response(None, 204)
