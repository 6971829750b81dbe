"""``/v1/tenants``: customers and their limits, for the operator."""

from typing import Annotated

from fastapi import Query, Request, Response

from leasehold.database.actor import ActorTransaction
from leasehold.engine import tenants
from leasehold.features.tenants.schemas import QuotaChange, TenantChange, TenantRequest
from leasehold.http.auth import SignedIn
from leasehold.http.responses import answer, answer_all, page_by_name
from leasehold.http.route import needs, router
from leasehold.http.services import services_of
from leasehold.http.types import Listing, Name, Page
from leasehold.job import Quota, Tenant

routes = router("tenants")
_OPERATOR = needs("operator")

Limit = Annotated[int, Query(ge=1, le=200)]


@routes.get(
    "/v1/tenants",
    operation_id="tenants.list",
    summary="Tenants by name",
    response_model=Page[Tenant],
    openapi_extra=_OPERATOR,
)
async def list_(request: Request, caller: SignedIn, limit: Limit = 50, cursor: Name | None = None) -> Response:
    found = await tenants.page_of_tenants(services_of(request).operator, after=cursor or "", limit=limit + 1)
    return page_by_name(request, found, limit=limit, of=Tenant)


@routes.post(
    "/v1/tenants",
    operation_id="tenants.create",
    summary="Make a tenant, unless it is there",
    status_code=201,
    response_model=Tenant,
    openapi_extra=_OPERATOR,
)
async def create(request: Request, caller: SignedIn, body: TenantRequest) -> Response:
    async with ActorTransaction.open(services_of(request).operator, tenant=None, actor=caller.actor) as scope:
        tenant = await tenants.get_tenant(scope, await tenants.create_tenant(scope, body.name))
    return answer(tenant, status=201, headers={"Location": f"/v1/tenants/{tenant.tenant_id}"})


@routes.get(
    "/v1/tenants/{tenant}",
    operation_id="tenants.get",
    summary="One tenant, by name or id",
    response_model=Tenant,
    openapi_extra=_OPERATOR,
)
async def get(request: Request, caller: SignedIn, tenant: str) -> Response:
    db = services_of(request).operator
    return answer(await tenants.get_tenant(db, await tenants.find_tenant(db, tenant)))


@routes.patch(
    "/v1/tenants/{tenant}",
    operation_id="tenants.set",
    summary="Change a tenant's weight and limits; what is left out stays",
    response_model=Tenant,
    openapi_extra=_OPERATOR,
)
async def set_(request: Request, caller: SignedIn, tenant: str, body: TenantChange) -> Response:
    async with ActorTransaction.open(services_of(request).operator, tenant=None, actor=caller.actor) as scope:
        tenant_id = await tenants.find_tenant(scope, tenant)
        await tenants.set_tenant(scope, tenant_id, **body.model_dump())
        return answer(await tenants.get_tenant(scope, tenant_id))


@routes.get(
    "/v1/tenants/{tenant}/quotas",
    operation_id="tenants.quotas",
    summary="How many endpoints, schedules and other things a tenant may have",
    response_model=Listing[Quota],
    openapi_extra=_OPERATOR,
)
async def quotas(request: Request, caller: SignedIn, tenant: str) -> Response:
    db = services_of(request).operator
    return answer_all(await tenants.list_quotas(db, await tenants.find_tenant(db, tenant)), of=Quota)


@routes.put(
    "/v1/tenants/{tenant}/quotas/{what}",
    operation_id="tenants.set_quota",
    summary="Let a tenant have more or fewer of a thing; what it has stays",
    response_model=Listing[Quota],
    openapi_extra=_OPERATOR,
)
async def set_quota(request: Request, caller: SignedIn, tenant: str, what: str, body: QuotaChange) -> Response:
    async with ActorTransaction.open(services_of(request).operator, tenant=None, actor=caller.actor) as scope:
        tenant_id = await tenants.find_tenant(scope, tenant)
        await tenants.set_quota(scope, tenant_id, what, body.most)
        return answer_all(await tenants.list_quotas(scope, tenant_id), of=Quota)
