"""``/v1/queues``: they belong to the installation, so the operator sees and pauses them."""

from fastapi import Request, Response

from leasehold.database.actor import ActorTransaction
from leasehold.engine import tenants
from leasehold.features.limits import store as limits_store
from leasehold.features.limits.schemas import QueuePaused
from leasehold.http.auth import Caller, SignedIn
from leasehold.http.responses import answer, answer_all
from leasehold.http.route import needs, router
from leasehold.http.services import services_of
from leasehold.http.types import Listing, Name
from leasehold.job import Queue

routes = router("queues")


@routes.get(
    "/v1/queues",
    operation_id="queues.list",
    summary="All queues with what waits and runs in them, counted up to 10,000",
    response_model=Listing[Queue],
    openapi_extra=needs("operator"),
)
async def list_(request: Request, caller: SignedIn) -> Response:
    return answer_all(await tenants.list_queues(services_of(request).operator), of=Queue)


@routes.post(
    "/v1/queues/{queue}/pause",
    operation_id="queues.pause",
    summary="Let nothing of a queue be claimed; what runs goes on",
    response_model=QueuePaused,
    openapi_extra=needs("operator"),
)
async def pause(request: Request, caller: SignedIn, queue: Name) -> Response:
    return await _pause(request, caller, queue, paused=True)


@routes.post(
    "/v1/queues/{queue}/resume",
    operation_id="queues.resume",
    summary="Let a paused queue go on",
    response_model=QueuePaused,
    openapi_extra=needs("operator"),
)
async def resume(request: Request, caller: SignedIn, queue: Name) -> Response:
    return await _pause(request, caller, queue, paused=False)


async def _pause(request: Request, caller: Caller, queue: str, *, paused: bool) -> Response:
    async with ActorTransaction.open(services_of(request).operator, tenant=None, actor=caller.actor) as scope:
        await limits_store.pause_queue(scope, queue, paused=paused)
    return answer(QueuePaused(queue=queue, paused=paused))
