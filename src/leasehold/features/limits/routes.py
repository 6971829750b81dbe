"""``/v1/limits`` and what sets them: so many jobs of a queue or kind at once, none while it or a tenant is paused.

They belong to the installation, so the operator sees and sets them. A tenant's own limits: ``/v1/tenants``.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Request, Response

from leasehold.database.actor import ActorTransaction
from leasehold.engine import tenants
from leasehold.features.limits import store as limits_store
from leasehold.features.limits.schemas import KindLimited, KindPaused, LimitRequest, QueueLimited, TenantPaused
from leasehold.http.auth import Caller, SignedIn
from leasehold.http.responses import answer, answer_all
from leasehold.http.route import needs, router
from leasehold.http.services import services_of
from leasehold.http.types import Kind, Listing, Name
from leasehold.job import Limit

routes = router("limits")
_OPERATOR = needs("operator")


@routes.get(
    "/v1/limits",
    operation_id="limits.list",
    summary="What is limited or paused, beside the limits that every tenant has",
    response_model=Listing[Limit],
    openapi_extra=_OPERATOR,
)
async def list_(request: Request, caller: SignedIn) -> Response:
    return answer_all(await limits_store.list_limits(services_of(request).operator), of=Limit)


@routes.put(
    "/v1/queues/{queue}/limit",
    operation_id="queues.limit",
    summary="Let so many jobs of a queue run at once; null: as many as there are workers for",
    response_model=QueueLimited,
    openapi_extra=_OPERATOR,
)
async def limit_queue(request: Request, caller: SignedIn, queue: Name, body: LimitRequest) -> Response:
    await _as(request, caller, lambda scope: limits_store.limit_queue(scope, queue, body.max_running))
    return answer(QueueLimited(queue=queue, max_running=body.max_running))


@routes.put(
    "/v1/kinds/{kind}/limit",
    operation_id="kinds.limit",
    summary="Let so many jobs of a kind run at once, of all tenants together; null: as many as there are workers for",
    response_model=KindLimited,
    openapi_extra=_OPERATOR,
)
async def limit_kind(request: Request, caller: SignedIn, kind: Kind, body: LimitRequest) -> Response:
    await _as(request, caller, lambda scope: limits_store.limit_kind(scope, kind, body.max_running))
    return answer(KindLimited(kind=kind, max_running=body.max_running))


@routes.post(
    "/v1/kinds/{kind}/pause",
    operation_id="kinds.pause",
    summary="Let no job of a kind start; what runs goes on",
    response_model=KindPaused,
    openapi_extra=_OPERATOR,
)
async def pause_kind(request: Request, caller: SignedIn, kind: Kind) -> Response:
    await _as(request, caller, lambda scope: limits_store.pause_kind(scope, kind, paused=True))
    return answer(KindPaused(kind=kind, paused=True))


@routes.post(
    "/v1/kinds/{kind}/resume",
    operation_id="kinds.resume",
    summary="Let a paused kind go on",
    response_model=KindPaused,
    openapi_extra=_OPERATOR,
)
async def resume_kind(request: Request, caller: SignedIn, kind: Kind) -> Response:
    await _as(request, caller, lambda scope: limits_store.pause_kind(scope, kind, paused=False))
    return answer(KindPaused(kind=kind, paused=False))


@routes.post(
    "/v1/tenants/{tenant}/pause",
    operation_id="tenants.pause",
    summary="Let no job of a tenant start; it may go on asking for them, and what runs goes on",
    response_model=TenantPaused,
    openapi_extra=_OPERATOR,
)
async def pause_tenant(request: Request, caller: SignedIn, tenant: str) -> Response:
    return await _pause_tenant(request, caller, tenant, paused=True)


@routes.post(
    "/v1/tenants/{tenant}/resume",
    operation_id="tenants.resume",
    summary="Let a paused tenant go on",
    response_model=TenantPaused,
    openapi_extra=_OPERATOR,
)
async def resume_tenant(request: Request, caller: SignedIn, tenant: str) -> Response:
    return await _pause_tenant(request, caller, tenant, paused=False)


async def _pause_tenant(request: Request, caller: Caller, tenant: str, *, paused: bool) -> Response:
    async def operate(scope: ActorTransaction) -> Any:
        tenant_id = await tenants.find_tenant(scope, tenant)
        await limits_store.pause_tenant(scope, tenant_id, paused=paused)
        return tenant_id

    return answer(TenantPaused(tenant_id=await _as(request, caller, operate), paused=paused))


async def _as(request: Request, caller: Caller, operate: Callable[[ActorTransaction], Awaitable[Any]]) -> Any:
    """In one transaction that the audit log knows the caller of."""
    async with ActorTransaction.open(services_of(request).operator, tenant=None, actor=caller.actor) as scope:
        return await operate(scope)
