"""``/v1/postings/sources``, and how the companies behind them hire."""

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import Query

from leasehold import web
from leasehold.errors import BadInput
from leasehold_packs.postings import service, store, store_postings
from leasehold_packs.postings.model import (
    ClosingsDecided,
    Company,
    DetectedBoard,
    NewSource,
    Source,
    SourceDetails,
    UnsupportedBoard,
)
from leasehold_packs.postings.model_postings import Ghost, HiringWeek
from leasehold_packs.postings.schemas import (
    ClosingsRequest,
    DetectionRunning,
    DetectRequest,
    SourceChange,
    SourceRequest,
)
from leasehold_packs.rows.values import value_of

routes = web.routes("postings")
READ = web.needs("jobs:read")
WRITE = web.needs("jobs:write")
#: Seconds that a preview is waited for; after that its job can be asked.
_PATIENCE_S = 15.0


@routes.post(
    "/v1/postings/detect",
    operation_id="postings.detect",
    summary="Which board an address belongs to, and what it lists; nothing is kept",
    response_model=DetectedBoard | UnsupportedBoard | DetectionRunning,
    openapi_extra=WRITE,
)
async def detect(tenant: web.Tenant, body: DetectRequest) -> web.Response:
    service.http_url(body.url)
    made = await tenant.client.enqueue("postings.detect", {"url": body.url}, queue="postings")
    try:
        job = await tenant.client.wait(made.job_id, timeout=_PATIENCE_S)
    except TimeoutError:
        return web.answer(DetectionRunning(job_id=made.job_id), status=202)
    if job.state != "succeeded":
        raise BadInput(f"the address cannot be read: {(job.error or {}).get('message') or job.state}")
    return web.answer(job.result)


@routes.get(
    "/v1/postings/sources",
    operation_id="postings.sources",
    summary="All sources with their health",
    response_model=web.Listing[Source],
    openapi_extra=READ,
)
async def list_sources(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer_all(await store.list_sources(tx), of=Source)


@routes.post(
    "/v1/postings/sources",
    operation_id="postings.add_source",
    summary="Follow a board",
    status_code=201,
    response_model=Source,
    openapi_extra=WRITE,
)
async def add_source(
    tenant: web.Tenant, body: SourceRequest, idempotency_key: web.IdempotencyKey = None
) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        new = NewSource(url=body.url, board=body.board, slug=body.slug, base=body.base, company=body.company)
        made = await service.add_source(tx, new, body.options)
        await tx.log("postings.follow", str(made.source_id), {"board": made.board, "url": made.url})
        return web.Answer(status=201, value=made, headers={"Location": f"/v1/postings/sources/{made.source_id}"})

    await service.set_breaker(tenant.client)
    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/postings/sources/{source_id}",
    operation_id="postings.source",
    summary="One source",
    response_model=SourceDetails,
    openapi_extra=READ,
)
async def get_source(tenant: web.Tenant, source_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        source = await store.get_source(tx, source_id)
    breaker = await service.get_breaker(tenant.client, source.host)
    return web.answer(value_of(SourceDetails, asdict(source), breaker=breaker))


@routes.patch(
    "/v1/postings/sources/{source_id}",
    operation_id="postings.change_source",
    summary="Enable or disable a source, or change its filters",
    response_model=Source,
    openapi_extra=WRITE,
)
async def change_source(tenant: web.Tenant, source_id: UUID, body: SourceChange) -> web.Response:
    async with tenant.transaction() as tx:
        changed = await store.change_source(tx, source_id, enabled=body.enabled, options=body.options)
        if body.enabled is not None:
            await tx.log("postings.enable" if body.enabled else "postings.disable", str(source_id))
        if body.options is not None:
            await tx.log("postings.filter", str(source_id), asdict(body.options))
        return web.answer(changed)


@routes.delete(
    "/v1/postings/sources/{source_id}",
    operation_id="postings.remove_source",
    summary="Forget a source and its postings",
    status_code=204,
    openapi_extra=WRITE,
)
async def remove_source(tenant: web.Tenant, source_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await service.delete_source(tx, source_id)
        await tx.log("postings.forget", str(source_id))
    return web.Response(None, 204)


@routes.post(
    "/v1/postings/sources/{source_id}/closings",
    operation_id="postings.decide",
    summary="Say whether postings that vanished all at once are really gone",
    response_model=ClosingsDecided,
    openapi_extra=WRITE,
)
async def decide(tenant: web.Tenant, source_id: UUID, body: ClosingsRequest) -> web.Response:
    async with tenant.transaction() as tx:
        done = await service.decide_closings(tx, source_id, close=body.close)
        act = "postings.close_held" if body.close else "postings.keep_held"
        await tx.log(act, str(source_id), {"closed": done.closed})
        return web.answer(done)


@routes.get(
    "/v1/postings/companies",
    operation_id="postings.companies",
    summary="Companies and how they hire: open, new, closed, and ghosts",
    response_model=web.Listing[Company],
    openapi_extra=READ,
)
async def list_companies(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer_all(await store.list_companies(tx), of=Company)


@routes.get(
    "/v1/postings/trends",
    operation_id="postings.trends",
    summary="Hiring by the week: opened, closed, changed, and open in the end",
    response_model=web.Listing[HiringWeek],
    openapi_extra=READ,
)
async def list_trends(
    tenant: web.Tenant,
    company: Annotated[UUID | None, Query(description="Of this one; of all if left out.")] = None,
    weeks: Annotated[int, Query(ge=1, le=store_postings.MOST_WEEKS)] = 26,
) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer_all(await store_postings.hiring_by_week(tx, weeks=weeks, company=company), of=HiringWeek)


@routes.get(
    "/v1/postings/ghosts",
    operation_id="postings.ghosts",
    summary="Open postings that may be there for show alone, and the signals of it",
    response_model=web.Listing[Ghost],
    openapi_extra=READ,
)
async def list_ghosts(
    tenant: web.Tenant, company: UUID | None = None, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer_all(await store_postings.list_ghosts(tx, company=company, limit=limit), of=Ghost)
