"""``/v1/schedules``."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated

from fastapi import Query, Request, Response

from leasehold.database.actor import ActorDatabase, ActorTransaction
from leasehold.database.database import Database
from leasehold.features.schedules import store as engine
from leasehold.features.schedules.model import ScheduleInfo, Tick
from leasehold.features.schedules.schemas import ScheduleRequest, ScheduleRun
from leasehold.http.auth import Caller, SignedIn
from leasehold.http.idempotency import IdempotencyKey, once
from leasehold.http.responses import Answer, IfMatch, answer, answer_all, names_revision, page_by_name, tagged
from leasehold.http.route import needs, router
from leasehold.http.services import services_of
from leasehold.http.types import Listing, Name, Page
from leasehold.redact import MASK

routes = router("schedules")
READ = needs("jobs:read")
WRITE = needs("jobs:write")

Limit = Annotated[int, Query(ge=1, le=200)]


@routes.get(
    "/v1/schedules",
    operation_id="schedules.list",
    summary="The schedules by name",
    response_model=Page[ScheduleInfo],
    openapi_extra=READ,
)
async def list_(request: Request, caller: SignedIn, limit: Limit = 50, cursor: Name | None = None) -> Response:
    found = await _schedules(request, caller, services_of(request).db).list(after=cursor or "", limit=limit + 1)
    return page_by_name(request, [_visible(caller, info) for info in found], limit=limit, of=ScheduleInfo)


@routes.get(
    "/v1/schedules/{name}",
    operation_id="schedules.get",
    summary="One schedule, with its next five ticks",
    response_model=ScheduleInfo,
    openapi_extra=READ,
)
async def get(request: Request, caller: SignedIn, name: Name) -> Response:
    info = await _schedules(request, caller).get(name)
    return tagged(request, _visible(caller, info), revision=info.revision)


@routes.put(
    "/v1/schedules/{name}",
    operation_id="schedules.put",
    summary="Make a schedule, or let the one of this name be as given",
    response_model=ScheduleInfo,
    openapi_extra=WRITE,
)
async def put(
    request: Request, caller: SignedIn, name: Name, body: ScheduleRequest, if_match: IfMatch = None
) -> Response:
    if not body.force:
        services = services_of(request)
        await services.require_kinds(services.db, caller.tenant, [body.kind])
    given = body.model_dump(exclude={"kind", "payload", "options", "every_s", "jitter_s", "force"})
    options = body.options.model_dump(exclude_none=True) if body.options else {}
    info = await _schedules(request, caller).put_if(
        lambda found: names_revision(if_match, found.revision if found else None),
        name,
        body.kind,
        body.payload,
        every=body.every_s,
        jitter=body.jitter_s,
        **given,
        **options,
    )
    return answer(_visible(caller, info))


@routes.delete(
    "/v1/schedules/{name}",
    operation_id="schedules.delete",
    summary="Take a schedule away; its jobs stay",
    status_code=204,
    response_class=Response,
    openapi_extra=WRITE,
)
async def delete(request: Request, caller: SignedIn, name: Name) -> Response:
    await _schedules(request, caller).delete(name)
    return Response(None, 204)


@routes.post(
    "/v1/schedules/{name}/pause",
    operation_id="schedules.pause",
    summary="Let it not tick until it is resumed",
    response_model=ScheduleInfo,
    openapi_extra=WRITE,
)
async def pause(request: Request, caller: SignedIn, name: Name, idempotency_key: IdempotencyKey = None) -> Response:
    return await _acted(request, caller, idempotency_key, lambda schedules: schedules.pause(name))


@routes.post(
    "/v1/schedules/{name}/resume",
    operation_id="schedules.resume",
    summary="Let it go on with its next tick from now",
    response_model=ScheduleInfo,
    openapi_extra=WRITE,
)
async def resume(request: Request, caller: SignedIn, name: Name, idempotency_key: IdempotencyKey = None) -> Response:
    return await _acted(request, caller, idempotency_key, lambda schedules: schedules.resume(name))


@routes.post(
    "/v1/schedules/{name}/run",
    operation_id="schedules.run",
    summary="Make a job of it now; its ticks stay as they are",
    status_code=202,
    response_model=ScheduleRun,
    openapi_extra=WRITE,
)
async def run(request: Request, caller: SignedIn, name: Name, idempotency_key: IdempotencyKey = None) -> Response:
    async def operate(scope: ActorTransaction) -> Answer:
        job_id = await engine.run_schedule(scope, caller.tenant, name)
        return Answer(status=202, value=ScheduleRun(job_id=job_id), headers={"Location": f"/v1/jobs/{job_id}"})

    response = await once(request, caller, idempotency_key, operate)
    services_of(request).backend.announce()
    return response


@routes.get(
    "/v1/schedules/{name}/ticks",
    operation_id="schedules.ticks",
    summary="What became of its ticks, newest first",
    response_model=Listing[Tick],
    openapi_extra=READ,
)
async def ticks(request: Request, caller: SignedIn, name: Name, limit: Limit = 50) -> Response:
    return answer_all(await _schedules(request, caller).ticks(name, limit=limit), of=Tick)


async def _acted(
    request: Request, caller: Caller, key: str | None, act: Callable[[engine.Schedules], Awaitable[ScheduleInfo]]
) -> Response:
    async def operate(scope: ActorTransaction) -> Answer:
        return Answer(status=200, value=_visible(caller, await act(_schedules(request, caller, scope))))

    return await once(request, caller, key, operate)


def _schedules(request: Request, caller: Caller, db: Database | None = None) -> engine.Schedules:
    """The tenant's, in this transaction, or in one for each call: who edits tries again when a tick was quicker."""
    services = services_of(request)
    return engine.Schedules(db or ActorDatabase(services.db, caller.actor), caller.tenant, services.backend.announce)


def _visible(caller: Caller, info: ScheduleInfo) -> ScheduleInfo:
    return info if caller.sees_payloads else replace(info, payload=MASK)
