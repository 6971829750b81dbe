"""``/v1/deliveries``: events on their way to a tenant's endpoints."""

from typing import Annotated

from fastapi import Query, Request, Response

from leasehold.api.answers import Answer, answer, decode_cursor, page
from leasehold.api.auth import SignedIn
from leasehold.api.idempotency import IdempotencyKey, once
from leasehold.api.models import Cursor, Deliveries, DeliveryAttempts, DeliverySent, DeliveryState, Id
from leasehold.api.route import needs, router
from leasehold.api.services import services_of
from leasehold.engine import webhooks
from leasehold.engine.scope import Scope

routes = router("deliveries")
_READ = needs("jobs:read", "admin")


@routes.get(
    "/v1/deliveries",
    operation_id="deliveries.list",
    summary="The newest deliveries first",
    response_model=Deliveries,
    openapi_extra=_READ,
)
async def list_(
    request: Request,
    caller: SignedIn,
    endpoint_id: Id | None = None,
    state: DeliveryState | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Cursor | None = None,
) -> Response:
    found = await webhooks.list_deliveries(
        services_of(request).db,
        caller.tenant,
        endpoint=endpoint_id,
        state=state,
        before=decode_cursor(cursor),
        limit=limit + 1,
    )
    return page(request, found, limit=limit, last="delivery_id")


@routes.get(
    "/v1/deliveries/{delivery_id}/attempts",
    operation_id="deliveries.attempts",
    summary="What was sent for a delivery and what came back, oldest first",
    response_model=DeliveryAttempts,
    openapi_extra=_READ,
)
async def attempts(request: Request, caller: SignedIn, delivery_id: Id) -> Response:
    found = await webhooks.list_delivery_attempts(services_of(request).db, caller.tenant, delivery_id)
    return answer({"data": found})


@routes.post(
    "/v1/deliveries/{delivery_id}/resend",
    operation_id="deliveries.resend",
    summary="Send a delivery now: again, or before its time; the receiver sees the same id",
    status_code=202,
    response_model=DeliverySent,
    openapi_extra=needs("admin"),
)
async def resend(
    request: Request, caller: SignedIn, delivery_id: Id, idempotency_key: IdempotencyKey = None
) -> Response:
    async def operate(scope: Scope) -> Answer:
        await webhooks.resend_delivery(scope, caller.tenant, delivery_id)
        return Answer(status=202, value={"delivery_id": delivery_id})

    response = await once(request, caller, idempotency_key, operate)
    services_of(request).backend.announce()
    return response
