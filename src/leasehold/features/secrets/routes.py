"""``/v1/secrets``: what a tenant's attempts may open. Here secrets go in, and none comes out."""

from fastapi import Request, Response

from leasehold.database.actor import ActorTransaction
from leasehold.features.secrets import store as secrets
from leasehold.features.secrets.model import SecretInfo
from leasehold.features.secrets.schemas import SecretRequest
from leasehold.http.auth import SignedIn
from leasehold.http.responses import answer_all
from leasehold.http.route import needs, router
from leasehold.http.services import services_of
from leasehold.http.types import Listing, Name

routes = router("secrets")
_ADMIN = needs("admin")


@routes.get(
    "/v1/secrets",
    operation_id="secrets.list",
    summary="The names of the secrets, never their values",
    response_model=Listing[SecretInfo],
    openapi_extra=_ADMIN,
)
async def list_(request: Request, caller: SignedIn) -> Response:
    return answer_all(await secrets.list_secrets(services_of(request).db, caller.tenant), of=SecretInfo)


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
    async with ActorTransaction.open(services.db, tenant=caller.tenant, actor=caller.actor) as scope:
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
    async with ActorTransaction.open(services_of(request).db, tenant=caller.tenant, actor=caller.actor) as scope:
        await secrets.remove_secret(scope, caller.tenant, name)
    return Response(None, 204)
