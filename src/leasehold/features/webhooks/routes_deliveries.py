"""``/v1/deliveries``: events on their way to a tenant's endpoints."""

from typing import Annotated

from fastapi import Query, Request, Response

from leasehold.database.actor import ActorTransaction
from leasehold.features.webhooks import store as webhooks
from leasehold.features.webhooks.model import Delivery, DeliveryAttempt, DeliveryState
from leasehold.features.webhooks.schemas import DeliverySent
from leasehold.http.auth import SignedIn
from leasehold.http.idempotency import IdempotencyKey, once
from leasehold.http.responses import Answer, answer_all, decode_cursor, page
from leasehold.http.route import needs, router
from leasehold.http.services import services_of
from leasehold.http.types import Cursor, Id, Listing, Page

routes = router("deliveries")
_READ = needs("jobs:read", "admin")


@routes.get(
    "/v1/deliveries",
    operation_id="deliveries.list",
    summary="The newest deliveries first",
    response_model=Page[Delivery],
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
    return page(request, found, limit=limit, last="delivery_id", of=Delivery)


@routes.get(
    "/v1/deliveries/{delivery_id}/attempts",
    operation_id="deliveries.attempts",
    summary="What was sent for a delivery and what came back, oldest first",
    response_model=Listing[DeliveryAttempt],
    openapi_extra=_READ,
)
async def attempts(request: Request, caller: SignedIn, delivery_id: Id) -> Response:
    found = await webhooks.list_delivery_attempts(services_of(request).db, caller.tenant, delivery_id)
    return answer_all(found, of=DeliveryAttempt)


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
    async def operate(scope: ActorTransaction) -> Answer:
        await webhooks.resend_delivery(scope, caller.tenant, delivery_id)
        return Answer(status=202, value=DeliverySent(delivery_id=delivery_id))

    response = await once(request, caller, idempotency_key, operate)
    services_of(request).backend.announce()
    return response
