"""``/v1/reports``: ask for reports, find them, and hand them out: by key, or by a link that was signed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse

from leasehold import json_codec
from leasehold.database.actor import ActorTransaction
from leasehold.engine import jobs
from leasehold.errors import NotFound
from leasehold.features.blobs.object_store import ObjectStore
from leasehold.features.blobs.store import Bodies
from leasehold.features.reports import store as reports
from leasehold.features.reports.model import Report, ReportOrder
from leasehold.features.reports.schemas import ReportAsked, ReportLinked
from leasehold.http.auth import SignedIn
from leasehold.http.idempotency import IdempotencyKey, once
from leasehold.http.problems import Problem
from leasehold.http.responses import Answer, answer, page, plain
from leasehold.http.responses import decode_cursor as decode
from leasehold.http.route import needs, router
from leasehold.http.services import Services, services_of
from leasehold.http.types import Cursor, Id, Page

routes = router("reports")
_READ, _WRITE = needs("jobs:read"), needs("jobs:write")
_FILES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}, "description": "The report"}
}
#: A page of ours shows its own styles and charts, and nothing else: no script, no other host.
_PAGE = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"


@dataclass(frozen=True, slots=True, kw_only=True)
class Objects:
    """Where the server reads the bodies of reports, if that is not the database."""

    store: ObjectStore | None


@asynccontextmanager
async def open_objects(services: Services) -> AsyncIterator[Objects]:
    store = ObjectStore.of(services.settings)
    try:
        yield Objects(store=store)
    finally:
        if store:
            await store.__aexit__(None, None, None)


@routes.post(
    "/v1/reports",
    operation_id="reports.create",
    summary="Ask for a report: a job of kind report.generate makes it",
    status_code=202,
    response_model=ReportAsked,
    openapi_extra=_WRITE,
)
async def create(
    request: Request, caller: SignedIn, body: ReportOrder, idempotency_key: IdempotencyKey = None
) -> Response:
    text = json_codec.encode(body.model_dump(mode="json", exclude_unset=True))

    async def operate(scope: ActorTransaction) -> Answer:
        [made] = await jobs.enqueue(scope, caller.tenant, "report.generate", [text], {})
        headers = {"Location": f"/v1/reports/{made.job_id}"}
        return Answer(status=202, value=ReportAsked(report_id=made.job_id, state=made.state), headers=headers)

    response = await once(request, caller, idempotency_key, operate)
    services_of(request).backend.announce()
    return response


@routes.get(
    "/v1/reports",
    operation_id="reports.list",
    summary="The newest reports first",
    response_model=Page[Report],
    openapi_extra=_READ,
)
async def list_(
    request: Request,
    caller: SignedIn,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Cursor | None = None,
) -> Response:
    db = services_of(request).db
    found = await reports.list_reports(db, caller.tenant, before=decode(cursor), limit=limit + 1)
    return page(request, found, limit=limit, last="report_id", of=Report)


@routes.get(
    "/v1/reports/{report_id}",
    operation_id="reports.get",
    summary="One report, with a link that opens it without a key",
    response_model=ReportLinked,
    openapi_extra=_READ,
)
async def get(
    request: Request,
    caller: SignedIn,
    report_id: Id,
    link_hours: Annotated[float, Query(gt=0, le=8760, description="How long the link holds.")] = 24.0,
) -> Response:
    services = services_of(request)
    [found] = await reports.list_reports(services.db, caller.tenant, report_id)
    until = min(datetime.now(UTC) + timedelta(hours=link_hours), found.expires_at).replace(microsecond=0)
    link = reports.signed_link(services.secret_keys, report_id, until, base=services.settings.public_url)
    return answer(ReportLinked(**plain(found), link=link, link_expires_at=until))


@routes.get(
    "/v1/reports/{report_id}/content",
    operation_id="reports.content",
    summary="The report itself",
    response_class=Response,
    responses=_FILES,
    openapi_extra=_READ,
)
async def content(request: Request, caller: SignedIn, report_id: Id) -> Response:
    return await _file(services_of(request), caller.tenant, report_id)


@routes.get(
    "/v1/reports/{report_id}/file",
    operation_id="reports.file",
    summary="The report itself, for whoever has a link that was signed",
    response_class=Response,
    responses=_FILES,
)
async def file(
    request: Request,
    report_id: Id,
    expires: Annotated[int, Query(ge=0, le=10**11)],
    signature: Annotated[str, Query(min_length=1, max_length=100)],
) -> Response:
    services = services_of(request)
    if not reports.is_signed(services.secret_keys, report_id, expires, signature):
        raise Problem("forbidden", "the link is not valid, or not any more")
    tenant = await reports.find_report(services.db, report_id)
    if tenant is None:
        raise NotFound(f"there is no report {report_id}", hint="it may have expired")
    return await _file(services, tenant, report_id)


@routes.delete(
    "/v1/reports/{report_id}",
    operation_id="reports.remove",
    summary="Remove a report: links to it lead nowhere from now on",
    status_code=204,
    response_class=Response,
    openapi_extra=_WRITE,
)
async def remove(request: Request, caller: SignedIn, report_id: Id) -> Response:
    async with ActorTransaction.open(services_of(request).db, tenant=caller.tenant, actor=caller.actor) as scope:
        await reports.remove_report(scope, caller.tenant, report_id)
    return Response(None, 204)


async def _file(services: Services, tenant: UUID, report_id: UUID) -> Response:
    [found] = await reports.list_reports(services.db, tenant, report_id)
    bodies = Bodies(services.db, tenant, days=services.settings.body_days, objects=services.part(Objects).store)
    await bodies.look(found.sha256)  # before the answer has begun
    headers = {
        "Content-Disposition": f'inline; filename="{found.name}-{found.created_at:%Y-%m-%d}.{found.format}"',
        "Content-Length": str(found.size),
        "Content-Security-Policy": _PAGE,
    }
    return StreamingResponse(bodies.chunks(found.sha256), headers=headers, media_type=found.media_type)
