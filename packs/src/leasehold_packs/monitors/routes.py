"""``/v1/monitors``."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query

from leasehold import web
from leasehold.errors import BadInput
from leasehold_packs.monitors import service, site_setup
from leasehold_packs.monitors.model import Search
from leasehold_packs.monitors.model_results import Day, Month, Observation
from leasehold_packs.monitors.schemas import (
    Decision,
    PreviewRequest,
    ProductChange,
    ProductRequest,
    SelectorRequest,
    SelectorTest,
    SiteChange,
    SiteRequest,
)
from leasehold_packs.monitors.store import CRAWL

routes = web.routes("monitors")
READ = web.needs("jobs:read")
WRITE = web.needs("jobs:write")
Limit = Annotated[int, Query(ge=1, le=1000)]
_PATIENCE_S = 10.0
_HISTORY: dict[str, Callable[..., Awaitable[list[Observation] | list[Day] | list[Month]]]] = {
    "raw": service.list_observations,
    "day": service.list_days,
    "month": service.list_months,
}


@routes.post(
    "/v1/monitors/preview",
    operation_id="monitors.preview",
    summary="How a product page is read, within seconds",
    openapi_extra=WRITE,
)
async def preview(tenant: web.Tenant, body: PreviewRequest) -> web.Response:
    async with tenant.transaction() as tx:
        asked = await tx.enqueue("monitors.preview", body.model_dump(), queue=CRAWL, priority=1)
    return await _result(tenant, asked.job_id)


# -- sites ------------------------------------------------------------------------------------------------------


@routes.post(
    "/v1/monitors/sites",
    operation_id="monitors.put_site",
    summary="Register a site, or give it new settings",
    status_code=201,
    openapi_extra=WRITE,
)
async def put_site(tenant: web.Tenant, body: SiteRequest) -> web.Response:
    async with tenant.transaction() as tx:
        site = await service.put_site(tx, tenant.tenant_id, body.url, body.settings)
        await tx.log("monitors.put_site", str(site.site_id), {"url": site.url})
    await site_setup.arrange(tenant, site)
    return web.answer(site, status=201, headers={"Location": f"/v1/monitors/sites/{site.site_id}"})


@routes.get(
    "/v1/monitors/sites", operation_id="monitors.sites", summary="All sites and their health", openapi_extra=READ
)
async def sites(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer({"data": await service.list_sites(tx)})


@routes.get("/v1/monitors/sites/{site_id}", operation_id="monitors.site", summary="One site", openapi_extra=READ)
async def site(tenant: web.Tenant, site_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await service.get_site(tx, site_id))


@routes.patch(
    "/v1/monitors/sites/{site_id}",
    operation_id="monitors.change_site",
    summary="Change settings, pause or go on",
    openapi_extra=WRITE,
)
async def change_site(tenant: web.Tenant, site_id: UUID, body: SiteChange) -> web.Response:
    async with tenant.transaction() as tx:
        changed = await service.change_site(tx, site_id, settings=body.settings, paused=body.paused)
        if body.settings is not None:
            await tx.log("monitors.settings", str(site_id), body.settings)
        await _log_pause(tx, site_id, body.paused)
    await site_setup.arrange(tenant, changed)
    return web.answer(changed)


@routes.delete(
    "/v1/monitors/sites/{site_id}",
    operation_id="monitors.remove_site",
    summary="Stop watching a site, and forget its products",
    status_code=204,
    openapi_extra=WRITE,
)
async def remove_site(tenant: web.Tenant, site_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await service.remove_site(tx, site_id)
        await tx.log("monitors.forget", str(site_id))
    await site_setup.clear(tenant, site_id)
    return web.Response(status_code=204)


@routes.post(
    "/v1/monitors/sites/{site_id}/crawl",
    operation_id="monitors.crawl",
    summary="Check all products now",
    status_code=202,
    openapi_extra=WRITE,
)
async def crawl(tenant: web.Tenant, site_id: UUID, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        await tx.log("monitors.crawl", str(site_id))
        return _accepted(await service.crawl(tx, site_id))

    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/monitors/sites/{site_id}/runs", operation_id="monitors.runs", summary="The newest runs", openapi_extra=READ
)
async def runs(tenant: web.Tenant, site_id: UUID, limit: Limit = 50) -> web.Response:
    async with tenant.transaction() as tx:
        await service.get_site(tx, site_id)
        return web.answer({"data": await service.list_runs(tx, site_id, limit=limit)})


@routes.post(
    "/v1/monitors/sites/{site_id}/reread",
    operation_id="monitors.reread",
    summary="Read the pages that were kept by the rules of today: who would change",
    status_code=202,
    openapi_extra=WRITE,
)
async def reread(tenant: web.Tenant, site_id: UUID, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        await tx.log("monitors.reread", str(site_id))
        return _accepted(await service.reread(tx, site_id))

    return await tenant.once(idempotency_key, operate)


@routes.post(
    "/v1/monitors/sites/{site_id}/discover",
    operation_id="monitors.discover",
    summary="Look for products by sitemaps and categories",
    status_code=202,
    openapi_extra=WRITE,
)
async def discover(
    tenant: web.Tenant, site_id: UUID, body: Search, idempotency_key: web.IdempotencyKey = None
) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        search_id = await service.search(tx, tenant.tenant_id, site_id, body)
        await tx.log("monitors.discover", str(site_id))
        return web.Answer(status=202, value={"search_id": search_id})

    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/monitors/sites/{site_id}/searches",
    operation_id="monitors.searches",
    summary="The newest searches for products",
    openapi_extra=READ,
)
async def searches(tenant: web.Tenant, site_id: UUID, limit: Limit = 50) -> web.Response:
    async with tenant.transaction() as tx:
        await service.get_site(tx, site_id)
        return web.answer({"data": await service.list_searches(tx, site_id, limit=limit)})


@routes.get(
    "/v1/monitors/sites/{site_id}/candidates",
    operation_id="monitors.candidates",
    summary="What was found and waits for a decision",
    openapi_extra=READ,
)
async def candidates(
    tenant: web.Tenant,
    site_id: UUID,
    state: Literal["proposed", "approved", "rejected"] = "proposed",
    limit: Limit = 500,
) -> web.Response:
    async with tenant.transaction() as tx:
        await service.get_site(tx, site_id)
        return web.answer({"data": await service.list_candidates(tx, site_id, state=state, limit=limit)})


@routes.post(
    "/v1/monitors/sites/{site_id}/candidates/{decision}",
    operation_id="monitors.decide",
    summary="Approve candidates, which are watched from then on, or reject them",
    openapi_extra=WRITE,
)
async def decide(
    tenant: web.Tenant, site_id: UUID, decision: Literal["approve", "reject"], body: Decision
) -> web.Response:
    async with tenant.transaction() as tx:
        count = await service.decide(
            tx,
            tenant.tenant_id,
            site_id,
            approve=decision == "approve",
            by=tenant.actor,
            candidates=body.candidates,
            least=body.least_confidence,
            tags=body.tags,
        )
        await tx.log(f"monitors.{decision}", str(site_id), {"candidates": count})
    return web.answer({"decided": count})


# -- products ---------------------------------------------------------------------------------------------------


@routes.post(
    "/v1/monitors/products",
    operation_id="monitors.watch",
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


@routes.get("/v1/monitors/products", operation_id="monitors.products", summary="Products by id", openapi_extra=READ)
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
    return web.answer({"data": found, "next": found[-1].product_id if len(found) == limit else None})


@routes.get(
    "/v1/monitors/products/{product_id}", operation_id="monitors.product", summary="One product", openapi_extra=READ
)
async def product(tenant: web.Tenant, product_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await service.get_product(tx, product_id))


@routes.patch(
    "/v1/monitors/products/{product_id}",
    operation_id="monitors.change_product",
    summary="Pause it, go on, or tag it",
    openapi_extra=WRITE,
)
async def change_product(tenant: web.Tenant, product_id: UUID, body: ProductChange) -> web.Response:
    async with tenant.transaction() as tx:
        changed = await service.change_product(tx, product_id, tags=body.tags, paused=body.paused)
        if body.tags is not None:
            await tx.log("monitors.tag", str(product_id), {"tags": body.tags})
        await _log_pause(tx, product_id, body.paused)
        return web.answer(changed)


async def _log_pause(tx: web.Transaction, target: UUID, paused: bool | None) -> None:
    if paused is not None:
        await tx.log("monitors.pause" if paused else "monitors.resume", str(target))


@routes.post(
    "/v1/monitors/products/{product_id}/check",
    operation_id="monitors.check",
    summary="Look at it now",
    status_code=202,
    openapi_extra=WRITE,
)
async def check(tenant: web.Tenant, product_id: UUID, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        await tx.log("monitors.check", str(product_id))
        return _accepted(await service.check(tx, product_id))

    return await tenant.once(idempotency_key, operate)


@routes.put(
    "/v1/monitors/products/{product_id}/selector",
    operation_id="monitors.put_selector",
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
    summary="What a selector finds on the page that was kept",
    openapi_extra=WRITE,
)
async def test_selector(tenant: web.Tenant, product_id: UUID, body: SelectorTest) -> web.Response:
    async with tenant.transaction() as tx:
        job_id = await service.try_selector(tx, product_id, body.selector)
    return await _result(tenant, job_id)


@routes.get(
    "/v1/monitors/products/{product_id}/history",
    operation_id="monitors.history",
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


async def _result(tenant: Any, job_id: UUID) -> web.Response:
    """What a short job says; where it takes longer, 202 and where to ask for it."""
    try:
        job = await tenant.client.wait(job_id, timeout=_PATIENCE_S)
    except TimeoutError:
        return _accepted(job_id).response()
    if job.state != "succeeded":
        raise BadInput((job.error or {}).get("message") or f"the job is {job.state}")
    return web.answer(job.result)


def _accepted(job_id: UUID) -> web.Answer:
    return web.Answer(status=202, value={"job_id": job_id}, headers={"Location": f"/v1/jobs/{job_id}"})
