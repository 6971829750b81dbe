"""``/v1/postings/runs``."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import Query

from leasehold import web
from leasehold_packs.postings import service, store_runs, stream
from leasehold_packs.postings.model import Part, Run, RunLine, RunRequested, RunStopped, RunSummary
from leasehold_packs.postings.routes_sources import READ, WRITE
from leasehold_packs.postings.schemas import RunRequest
from leasehold_packs.postings.store_runs import RUNS
from leasehold_packs.runs.stream import RESPONSES

routes = web.routes("postings")
Limit = Annotated[int, Query(ge=1, le=1000)]


@routes.post(
    "/v1/postings/sources/{source_id}/sync",
    operation_id="postings.sync",
    summary="Ask one source now",
    status_code=202,
    response_model=RunRequested,
    openapi_extra=WRITE,
)
async def sync(tenant: web.Tenant, source_id: UUID, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    return await _start(tenant, RunRequest(sources=[source_id], details="due"), idempotency_key)


@routes.get(
    "/v1/postings/runs",
    operation_id="postings.runs",
    summary="The newest runs first",
    response_model=web.Listing[RunSummary],
    openapi_extra=READ,
)
async def list_runs(tenant: web.Tenant, limit: Limit = 50) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer_all(await store_runs.list_runs(tx, limit=limit), of=RunSummary)


@routes.post(
    "/v1/postings/runs",
    operation_id="postings.run",
    summary="Ask sources what they list now",
    status_code=202,
    response_model=RunRequested,
    openapi_extra=WRITE,
)
async def start_run(tenant: web.Tenant, body: RunRequest, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    return await _start(tenant, body, idempotency_key)


async def _start(tenant: web.Tenant, body: RunRequest, idempotency_key: str | None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        made = await service.request_run(tx, tenant.actor, sources=body.sources, details=body.details)
        await tx.log("postings.run", str(made.run_id), {"sources": made.sources})
        return web.Answer(status=202, value=made, headers={"Location": f"/v1/postings/runs/{made.run_id}"})

    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/postings/runs/{run_id}",
    operation_id="postings.get_run",
    summary="One run",
    response_model=Run,
    openapi_extra=READ,
)
async def get_run(tenant: web.Tenant, run_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await store_runs.get_run(tx, run_id))


@routes.post(
    "/v1/postings/runs/{run_id}/cancel",
    operation_id="postings.cancel",
    summary="Abort a run",
    response_model=RunStopped,
    openapi_extra=WRITE,
)
async def cancel(tenant: web.Tenant, run_id: UUID) -> web.Response:
    await RUNS.cancel(tenant, run_id, action="postings.abort")
    return web.answer(RunStopped(run_id=run_id))


@routes.get(
    "/v1/postings/runs/{run_id}/events",
    operation_id="postings.events",
    summary="A run as it goes: `state`, then `patch` for what changes, then `end`",
    responses=RESPONSES,
    openapi_extra=READ,
)
async def run_events(
    tenant: web.Tenant,
    run_id: UUID,
    last_event_id: web.LastEventId = None,
) -> web.Response:
    return await stream.respond(tenant, run_id, last_event_id)


@routes.get(
    "/v1/postings/runs/{run_id}/logs",
    operation_id="postings.logs",
    summary="What the steps of a run had to say, oldest first",
    response_model=web.Listing[RunLine],
    openapi_extra=READ,
)
async def run_logs(
    tenant: web.Tenant,
    run_id: UUID,
    group: Annotated[Sequence[Part], Query(max_length=4, description="Only of these; all if left out.")] = (),
    after: Annotated[int, Query(ge=0, le=2**62)] = 0,
    limit: Limit = 200,
) -> web.Response:
    async with tenant.transaction() as tx:
        await store_runs.get_run(tx, run_id)
        lines = await store_runs.list_lines(tx, run_id, parts=group, after=after, limit=limit)
        return web.answer_all(lines, of=RunLine)
