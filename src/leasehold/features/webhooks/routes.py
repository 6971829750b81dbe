"""``/v1/webhooks``: the endpoints that a tenant's events are sent to."""

from datetime import timedelta
from uuid import UUID

from fastapi import Request, Response

from leasehold.database.actor import ActorTransaction
from leasehold.database.database import Database
from leasehold.features.webhooks import store as webhooks
from leasehold.features.webhooks.model import Endpoint
from leasehold.features.webhooks.schemas import (
    DeliverySent,
    EndpointMade,
    EndpointRecovered,
    EndpointRequest,
    EndpointRotated,
    PauseRequest,
    RecoverRequest,
    RotateRequest,
)
from leasehold.http.auth import Caller, SignedIn
from leasehold.http.idempotency import IdempotencyKey, once, refuse_key
from leasehold.http.responses import Answer, answer, answer_all, plain
from leasehold.http.route import needs, router
from leasehold.http.services import services_of
from leasehold.http.types import Id, Listing

routes = router("webhooks")
_ADMIN = needs("admin")  # also to read: the URL of an endpoint may be a secret of its receiver


@routes.post(
    "/v1/webhooks",
    operation_id="webhooks.create",
    summary="Make an endpoint; its secret is shown this once",
    status_code=201,
    response_model=EndpointMade,
    openapi_extra=_ADMIN,
)
async def create(request: Request, caller: SignedIn, body: EndpointRequest) -> Response:
    refuse_key(request)
    services = services_of(request)
    keys = services.secret_keys
    async with ActorTransaction.open(services.db, tenant=caller.tenant, actor=caller.actor) as scope:
        endpoint_id, secret = await webhooks.create_endpoint(
            scope,
            caller.tenant,
            keys,
            services.settings,
            url=body.url,
            events=body.events,
            format_=body.format,
            header_names=body.header_names.model_dump(exclude_none=True),
            headers=body.headers,
            max_in_flight=body.max_in_flight,
            max_per_minute=body.max_per_minute,
            ordered=body.ordered,
            timeout_s=body.timeout_s,
            disable_after=timedelta(seconds=body.disable_after_s),
        )
        made = await _one(scope, caller, endpoint_id)
    return answer(
        EndpointMade(**plain(made), secret=secret), status=201, headers={"Location": f"/v1/webhooks/{endpoint_id}"}
    )


@routes.get(
    "/v1/webhooks",
    operation_id="webhooks.list",
    summary="All endpoints, oldest first",
    response_model=Listing[Endpoint],
    openapi_extra=_ADMIN,
)
async def list_(request: Request, caller: SignedIn) -> Response:
    found = await webhooks.list_endpoints(services_of(request).db, caller.tenant)
    return answer_all(found, of=Endpoint)


@routes.get(
    "/v1/webhooks/{endpoint_id}",
    operation_id="webhooks.get",
    summary="One endpoint",
    response_model=Endpoint,
    openapi_extra=_ADMIN,
)
async def get(request: Request, caller: SignedIn, endpoint_id: Id) -> Response:
    return answer(await _one(services_of(request).db, caller, endpoint_id))


@routes.delete(
    "/v1/webhooks/{endpoint_id}",
    operation_id="webhooks.remove",
    summary="Remove an endpoint with the history of its deliveries",
    status_code=204,
    response_class=Response,
    openapi_extra=_ADMIN,
)
async def remove(request: Request, caller: SignedIn, endpoint_id: Id) -> Response:
    async with ActorTransaction.open(services_of(request).db, tenant=caller.tenant, actor=caller.actor) as scope:
        await webhooks.remove_endpoint(scope, caller.tenant, endpoint_id)
    return Response(None, 204)


@routes.post(
    "/v1/webhooks/{endpoint_id}/resume",
    operation_id="webhooks.resume",
    summary="Let an endpoint that is paused or disabled go on; what waited for it is sent",
    response_model=Endpoint,
    openapi_extra=_ADMIN,
)
async def resume(
    request: Request, caller: SignedIn, endpoint_id: Id, idempotency_key: IdempotencyKey = None
) -> Response:
    return await _set_state(request, caller, endpoint_id, idempotency_key, "enabled")


@routes.post(
    "/v1/webhooks/{endpoint_id}/pause",
    operation_id="webhooks.pause",
    summary="Pause an endpoint: what comes meanwhile waits for it",
    response_model=Endpoint,
    openapi_extra=_ADMIN,
)
async def pause(
    request: Request,
    caller: SignedIn,
    endpoint_id: Id,
    body: PauseRequest | None = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    return await _set_state(request, caller, endpoint_id, idempotency_key, "paused", body.reason if body else None)


@routes.post(
    "/v1/webhooks/{endpoint_id}/rotate",
    operation_id="webhooks.rotate",
    summary="Give an endpoint a new secret, shown this once; the old ones go on signing for a while",
    response_model=EndpointRotated,
    openapi_extra=_ADMIN,
)
async def rotate(request: Request, caller: SignedIn, endpoint_id: Id, body: RotateRequest | None = None) -> Response:
    refuse_key(request)
    services = services_of(request)
    keys = services.secret_keys
    overlap_s = body.overlap_s if body else webhooks.OVERLAP_S
    async with ActorTransaction.open(services.db, tenant=caller.tenant, actor=caller.actor) as scope:
        secret = await webhooks.rotate_secret(scope, caller.tenant, endpoint_id, keys, overlap_s=overlap_s)
    return answer(EndpointRotated(endpoint_id=endpoint_id, secret=secret))


@routes.post(
    "/v1/webhooks/{endpoint_id}/test",
    operation_id="webhooks.test",
    summary="Send an endpoint an event of type endpoint.test",
    status_code=202,
    response_model=DeliverySent,
    openapi_extra=_ADMIN,
)
async def send_test(
    request: Request, caller: SignedIn, endpoint_id: Id, idempotency_key: IdempotencyKey = None
) -> Response:
    async def operate(scope: ActorTransaction) -> Answer:
        delivery_id = await webhooks.test_endpoint(scope, caller.tenant, endpoint_id)
        return Answer(status=202, value=DeliverySent(delivery_id=delivery_id))

    response = await once(request, caller, idempotency_key, operate)
    services_of(request).backend.announce()
    return response


@routes.post(
    "/v1/webhooks/{endpoint_id}/recover",
    operation_id="webhooks.recover",
    summary="Send an endpoint all that failed, or that it missed while it was disabled",
    response_model=EndpointRecovered,
    openapi_extra=_ADMIN,
)
async def recover(
    request: Request, caller: SignedIn, endpoint_id: Id, body: RecoverRequest, idempotency_key: IdempotencyKey = None
) -> Response:
    async def operate(scope: ActorTransaction) -> Answer:
        count = await webhooks.recover_deliveries(scope, caller.tenant, endpoint_id, body.since)
        return Answer(status=200, value=EndpointRecovered(recovered=count))

    return await once(request, caller, idempotency_key, operate)


async def _set_state(
    request: Request, caller: Caller, endpoint_id: UUID, key: str | None, state: str, reason: str | None = None
) -> Response:
    async def operate(scope: ActorTransaction) -> Answer:
        await webhooks.set_endpoint_state(scope, caller.tenant, endpoint_id, state, reason)
        return Answer(status=200, value=await _one(scope, caller, endpoint_id))

    return await once(request, caller, key, operate)


async def _one(db: Database, caller: Caller, endpoint_id: UUID) -> Endpoint:
    [found] = await webhooks.list_endpoints(db, caller.tenant, endpoint_id)
    return found
