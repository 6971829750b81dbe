"""``/v1/monitors/products``."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query

from leasehold import web
from leasehold_packs.monitors import service, site_setup
from leasehold_packs.monitors.handlers import PageReading
from leasehold_packs.monitors.model_results import (
    Day,
    Month,
    Observation,
    ProductDetail,
)
from leasehold_packs.monitors.routes import job_requested, job_result, log_pause
from leasehold_packs.monitors.schemas import (
    JobRequested,
    ProductChange,
    ProductPage,
    ProductRequest,
    SelectorRequest,
    SelectorTest,
)

routes = web.routes("monitors")
READ = web.needs("jobs:read")
WRITE = web.needs("jobs:write")
Limit = Annotated[int, Query(ge=1, le=1000)]
_HISTORY: dict[str, Callable[..., Awaitable[list[Observation] | list[Day] | list[Month]]]] = {
    "raw": service.list_observations,
    "day": service.list_days,
    "month": service.list_months,
}


@routes.post(
    "/v1/monitors/products",
    operation_id="monitors.watch",
    response_model=ProductDetail,
    summary="Watch a product from now on",
    status_code=201,
    openapi_extra=WRITE,
)
async def watch(tenant: web.Tenant, body: ProductRequest) -> web.Response:
    async with tenant.transaction() as tx:
        product = await service.watch(tx, tenant.tenant_id, body.url, tags=body.tags, selector=body.selector)
        found = await service.get_site(tx, product.site_id)
        await tx.log("monitors.watch", str(product.product_id), {"url": product.url})
    await site_setup.arrange(tenant, found)
    return web.answer(product, status=201, headers={"Location": f"/v1/monitors/products/{product.product_id}"})


@routes.get(
    "/v1/monitors/products",
    operation_id="monitors.products",
    response_model=ProductPage,
    summary="Products by id",
    openapi_extra=READ,
)
async def products(
    tenant: web.Tenant,
    site: UUID | None = None,
    state: Literal["active", "paused", "gone", "needs_attention"] | None = None,
    brand: Annotated[str | None, Query(max_length=200)] = None,
    tag: Annotated[str | None, Query(max_length=50)] = None,
    q: Annotated[str | None, Query(max_length=200)] = None,
    changed_since: datetime | None = None,
    after: UUID | None = None,
    limit: Limit = 100,
) -> web.Response:
    async with tenant.transaction() as tx:
        found = await service.list_products(
            tx, site_id=site, state=state, brand=brand, tag=tag, query=q, changed_since=changed_since, after=after,
            limit=limit,
        )  # fmt: skip
    return web.answer(ProductPage(data=found, next=found[-1].product_id if len(found) == limit else None))


@routes.get(
    "/v1/monitors/products/{product_id}",
    operation_id="monitors.product",
    response_model=ProductDetail,
    summary="One product",
    openapi_extra=READ,
)
async def product(tenant: web.Tenant, product_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await service.get_product(tx, product_id))


@routes.patch(
    "/v1/monitors/products/{product_id}",
    operation_id="monitors.change_product",
    response_model=ProductDetail,
    summary="Pause it, go on, or tag it",
    openapi_extra=WRITE,
)
async def change_product(tenant: web.Tenant, product_id: UUID, body: ProductChange) -> web.Response:
    async with tenant.transaction() as tx:
        changed = await service.change_product(tx, product_id, tags=body.tags, paused=body.paused)
        if body.tags is not None:
            await tx.log("monitors.tag", str(product_id), {"tags": body.tags})
        await log_pause(tx, product_id, body.paused)
        return web.answer(changed)


@routes.post(
    "/v1/monitors/products/{product_id}/check",
    operation_id="monitors.check",
    response_model=JobRequested,
    summary="Look at it now",
    status_code=202,
    openapi_extra=WRITE,
)
async def check(tenant: web.Tenant, product_id: UUID, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        await tx.log("monitors.check", str(product_id))
        return job_requested(await service.check(tx, product_id))

    return await tenant.once(idempotency_key, operate)


@routes.put(
    "/v1/monitors/products/{product_id}/selector",
    operation_id="monitors.put_selector",
    response_model=ProductDetail,
    summary="Say where the price stands",
    openapi_extra=WRITE,
)
async def put_selector(tenant: web.Tenant, product_id: UUID, body: SelectorRequest) -> web.Response:
    async with tenant.transaction() as tx:
        changed = await service.change_product(
            tx, product_id, selector=body.selector, forget_selector=body.selector is None
        )
        await tx.log("monitors.selector", str(product_id), {"selector": body.selector})
        return web.answer(changed)


@routes.post(
    "/v1/monitors/products/{product_id}/selector/test",
    operation_id="monitors.test_selector",
    response_model=PageReading | JobRequested,
    summary="What a selector finds on the page that was kept",
    openapi_extra=WRITE,
)
async def test_selector(tenant: web.Tenant, product_id: UUID, body: SelectorTest) -> web.Response:
    async with tenant.transaction() as tx:
        job_id = await service.try_selector(tx, product_id, body.selector)
    return await job_result(tenant, job_id)


@routes.get(
    "/v1/monitors/products/{product_id}/history",
    operation_id="monitors.history",
    response_model=web.Listing[Observation] | web.Listing[Day] | web.Listing[Month],
    summary="What it cost, the newest first",
    openapi_extra=READ,
)
async def history(
    tenant: web.Tenant,
    product_id: UUID,
    granularity: Literal["raw", "day", "month"] = "raw",
    variant: Annotated[str, Query(max_length=200)] = "",
    since: Annotated[datetime | None, Query(alias="from")] = None,
    until: Annotated[datetime | None, Query(alias="to")] = None,
    limit: Limit = 1000,
) -> web.Response:
    async with tenant.transaction() as tx:
        listing = _HISTORY[granularity]
        found = await listing(tx, product_id, variant=variant, since=since, until=until, limit=limit)
    return web.answer({"data": found})
