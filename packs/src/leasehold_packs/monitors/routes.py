"""``/v1/monitors``."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query

from leasehold import web
from leasehold.errors import BadInput
from leasehold_packs.monitors import service, site_setup
from leasehold_packs.monitors.handlers import Preview
from leasehold_packs.monitors.model import Search
from leasehold_packs.monitors.model_results import (
    Candidate,
    CrawlRun,
    ProductSearch,
    Site,
)
from leasehold_packs.monitors.schemas import (
    Decided,
    Decision,
    JobRequested,
    PreviewRequest,
    SearchRequested,
    SiteChange,
    SiteRequest,
)
from leasehold_packs.monitors.store import CRAWL

routes = web.routes("monitors")
READ = web.needs("jobs:read")
WRITE = web.needs("jobs:write")
Limit = Annotated[int, Query(ge=1, le=1000)]
_PATIENCE_S = 10.0


@routes.post(
    "/v1/monitors/preview",
    operation_id="monitors.preview",
    response_model=Preview | JobRequested,
    summary="How a product page is read, within seconds",
    openapi_extra=WRITE,
)
async def preview(tenant: web.Tenant, body: PreviewRequest) -> web.Response:
    async with tenant.transaction() as tx:
        asked = await tx.enqueue("monitors.preview", body.model_dump(), queue=CRAWL, priority=1)
    return await job_result(tenant, asked.job_id)


# -- sites ------------------------------------------------------------------------------------------------------


@routes.post(
    "/v1/monitors/sites",
    operation_id="monitors.put_site",
    response_model=Site,
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
    "/v1/monitors/sites",
    operation_id="monitors.sites",
    response_model=web.Listing[Site],
    summary="All sites and their health",
    openapi_extra=READ,
)
async def sites(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer_all(await service.list_sites(tx), of=Site)


@routes.get(
    "/v1/monitors/sites/{site_id}",
    operation_id="monitors.site",
    response_model=Site,
    summary="One site",
    openapi_extra=READ,
)
async def site(tenant: web.Tenant, site_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await service.get_site(tx, site_id))


@routes.patch(
    "/v1/monitors/sites/{site_id}",
    operation_id="monitors.change_site",
    response_model=Site,
    summary="Change settings, pause or go on",
    openapi_extra=WRITE,
)
async def change_site(tenant: web.Tenant, site_id: UUID, body: SiteChange) -> web.Response:
    async with tenant.transaction() as tx:
        changed = await service.change_site(tx, site_id, settings=body.settings, paused=body.paused)
        if body.settings is not None:
            await tx.log("monitors.settings", str(site_id), body.settings)
        await log_pause(tx, site_id, body.paused)
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
    response_model=JobRequested,
    summary="Check all products now",
    status_code=202,
    openapi_extra=WRITE,
)
async def crawl(tenant: web.Tenant, site_id: UUID, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        await tx.log("monitors.crawl", str(site_id))
        return job_requested(await service.crawl(tx, site_id))

    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/monitors/sites/{site_id}/runs",
    operation_id="monitors.runs",
    response_model=web.Listing[CrawlRun],
    summary="The newest runs",
    openapi_extra=READ,
)
async def runs(tenant: web.Tenant, site_id: UUID, limit: Limit = 50) -> web.Response:
    async with tenant.transaction() as tx:
        await service.get_site(tx, site_id)
        return web.answer_all(await service.list_runs(tx, site_id, limit=limit), of=CrawlRun)


@routes.post(
    "/v1/monitors/sites/{site_id}/reread",
    operation_id="monitors.reread",
    response_model=JobRequested,
    summary="Read the pages that were kept by the rules of today: who would change",
    status_code=202,
    openapi_extra=WRITE,
)
async def reread(tenant: web.Tenant, site_id: UUID, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        await tx.log("monitors.reread", str(site_id))
        return job_requested(await service.reread(tx, site_id))

    return await tenant.once(idempotency_key, operate)


@routes.post(
    "/v1/monitors/sites/{site_id}/discover",
    operation_id="monitors.discover",
    response_model=SearchRequested,
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
        return web.Answer(status=202, value=SearchRequested(search_id=search_id))

    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/monitors/sites/{site_id}/searches",
    operation_id="monitors.searches",
    response_model=web.Listing[ProductSearch],
    summary="The newest searches for products",
    openapi_extra=READ,
)
async def searches(tenant: web.Tenant, site_id: UUID, limit: Limit = 50) -> web.Response:
    async with tenant.transaction() as tx:
        await service.get_site(tx, site_id)
        return web.answer_all(await service.list_searches(tx, site_id, limit=limit), of=ProductSearch)


@routes.get(
    "/v1/monitors/sites/{site_id}/candidates",
    operation_id="monitors.candidates",
    response_model=web.Listing[Candidate],
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
        return web.answer_all(await service.list_candidates(tx, site_id, state=state, limit=limit), of=Candidate)


@routes.post(
    "/v1/monitors/sites/{site_id}/candidates/{decision}",
    operation_id="monitors.decide",
    response_model=Decided,
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
    return web.answer(Decided(decided=count))


async def job_result(tenant: Any, job_id: UUID) -> web.Response:
    """What a short job says; where it takes longer, 202 and where to ask for it."""
    try:
        job = await tenant.client.wait(job_id, timeout=_PATIENCE_S)
    except TimeoutError:
        return job_requested(job_id).response()
    if job.state != "succeeded":
        raise BadInput((job.error or {}).get("message") or f"the job is {job.state}")
    return web.answer(job.result)


def job_requested(job_id: UUID) -> web.Answer:
    return web.Answer(status=202, value=JobRequested(job_id=job_id), headers={"Location": f"/v1/jobs/{job_id}"})


async def log_pause(tx: web.Transaction, target: UUID, paused: bool | None) -> None:
    if paused is not None:
        await tx.log("monitors.pause" if paused else "monitors.resume", str(target))
