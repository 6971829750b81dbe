"""``/v1/audits``."""

from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from leasehold import web
from leasehold.errors import BadInput
from leasehold_packs.audits import report, schedule, service, start_run
from leasehold_packs.audits.model import Options
from leasehold_packs.audits.model_results import (
    AcceptedFinding,
    AuditSummary,
    Comparison,
    Finding,
    Issue,
    Page,
    PageDetail,
    PageSummary,
    SiteAudit,
    SiteSummary,
)
from leasehold_packs.audits.recipe import VERSION, Check, checks
from leasehold_packs.audits.run import RUNS
from leasehold_packs.audits.schedule import SiteSchedule
from leasehold_packs.audits.start_run import RequestedRun
from leasehold_packs.runs import stream
from leasehold_packs.runs.run import RunState
from leasehold_packs.webfacts.redacted import shown

routes = web.routes("audits")
READ = web.needs("jobs:read")
WRITE = web.needs("jobs:write")
Severity = Literal["critical", "high", "medium", "low"]
Limit = Annotated[int, Query(ge=1, le=1000)]
Cursor = Annotated[str | None, Query(max_length=200)]
FindingState = Literal["new", "open", "fixed", "regressed", "accepted"]
#: Seconds between two looks of a stream.
POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What is looked for, by which version of the recipe."""

    recipe: int
    data: list[Check]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedRun:
    run_id: UUID
    state: RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class Reevaluation:
    """The run that judges the pages of another one."""

    run_id: UUID


class AuditRequest(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"url": "https://example.com/"}, {"url": "https://example.com/", "force": True}]
        },
    )

    url: str = Field(min_length=8, max_length=2000, description="Where to begin: a whole http or https address.")
    options: Options = Field(default_factory=Options)
    force: bool = Field(False, strict=True, description="Even if the same audit runs, or has just ended.")


class Acceptance(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"note": "by design"}, {"note": None}]},
    )

    note: str | None = Field(min_length=1, max_length=1000, description="Why it is accepted; null opens it again.")
    accepted_until: datetime | None = Field(None, description="For ever if it is left out.")


class Again(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{}, {"settle": True}]})

    settle: bool = Field(
        False, strict=True, description="Let findings follow what is found; else it is only looked at."
    )


class Timetable(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"cron": "0 6 * * 1"}, {"cron": "@daily", "zone": "Europe/Rome"}]},
    )

    cron: str = Field(min_length=1, max_length=200, description="When an audit begins.")
    zone: str = Field("UTC", min_length=1, max_length=100, description="Whose clock that is.")
    options: Options = Field(default_factory=Options)


@routes.post(
    "/v1/audits",
    operation_id="audits.create",
    response_model=RequestedRun,
    summary="Audit a site",
    status_code=202,
    openapi_extra=WRITE,
)
async def create(tenant: web.Tenant, body: AuditRequest, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        asked = await start_run.request_run(tx, body.url, body.options, force=body.force)
        if asked.created:
            await tx.log("audits.start", str(asked.run_id), {"url": shown(body.url)})
        headers = {"Location": f"/v1/audits/{asked.run_id}"}
        return web.Answer(status=202 if asked.created else 200, value=asked, headers=headers)

    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/audits",
    operation_id="audits.list",
    response_model=web.Listing[AuditSummary],
    summary="The newest audits first",
    openapi_extra=READ,
)
async def list_(tenant: web.Tenant, site_id: UUID | None = None, limit: Limit = 50) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer_all(await service.list_runs(tx, site_id=site_id, limit=limit), of=AuditSummary)


@routes.get(
    "/v1/audits/sites",
    operation_id="audits.sites",
    response_model=web.Listing[SiteSummary],
    summary="All sites with their scores",
    openapi_extra=READ,
)
async def sites(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer_all(await service.list_sites(tx), of=SiteSummary)


@routes.get(
    "/v1/audits/checks",
    operation_id="audits.checks",
    response_model=Catalogue,
    summary="What is looked for",
    openapi_extra=READ,
)
async def list_checks(tenant: web.Tenant) -> web.Response:
    return web.answer(Catalogue(recipe=VERSION, data=list(checks().values())))


@routes.get(
    "/v1/audits/sites/{site_id}/findings",
    operation_id="audits.findings",
    response_model=Page[Finding],
    summary="What became of what was found: new, open, fixed, regressed, accepted",
    openapi_extra=READ,
)
async def findings(
    tenant: web.Tenant,
    site_id: UUID,
    state: FindingState | None = None,
    cursor: Cursor = None,
    limit: Limit = 1000,
) -> web.Response:
    async with tenant.transaction() as tx:
        found = await service.list_findings(tx, site_id, state=state, cursor=cursor, limit=limit)
        return web.answer(found)


@routes.put(
    "/v1/audits/sites/{site_id}/schedule",
    operation_id="audits.schedule",
    response_model=SiteSchedule,
    summary="Audit a site by the clock",
    openapi_extra=WRITE,
)
async def put_schedule(tenant: web.Tenant, site_id: UUID, body: Timetable) -> web.Response:
    async with tenant.transaction() as tx:
        await service.get_site(tx, site_id)
    made = await schedule.put(tenant, site_id, body.options, cron=body.cron, zone=body.zone)
    async with tenant.transaction() as tx:
        await tx.log("audits.schedule", str(site_id), {"cron": body.cron, "zone": body.zone})
    return web.answer(made)


@routes.delete(
    "/v1/audits/sites/{site_id}/schedule",
    operation_id="audits.unschedule",
    summary="Audit a site no more by the clock",
    status_code=204,
    openapi_extra=WRITE,
)
async def remove_schedule(tenant: web.Tenant, site_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await service.get_site(tx, site_id)
    await schedule.remove(tenant, site_id)
    async with tenant.transaction() as tx:
        await tx.log("audits.unschedule", str(site_id))
    return web.Response(None, 204)


@routes.patch(
    "/v1/audits/findings/{finding_id}",
    operation_id="audits.accept",
    response_model=AcceptedFinding,
    summary="Accept a finding, or open it again",
    openapi_extra=WRITE,
)
async def accept(tenant: web.Tenant, finding_id: UUID, body: Acceptance) -> web.Response:
    async with tenant.transaction() as tx:
        finding = await service.accept(tx, finding_id, note=body.note, until=body.accepted_until)
        await tx.log("audits.accept" if body.note else "audits.reopen", str(finding_id), {"note": body.note})
        return web.answer(finding)


@routes.get(
    "/v1/audits/{run_id}", operation_id="audits.get", response_model=SiteAudit, summary="One audit", openapi_extra=READ
)
async def get(request: web.Request, tenant: web.Tenant, run_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.tagged(request, await service.get_run(tx, run_id))


@routes.post(
    "/v1/audits/{run_id}/cancel",
    operation_id="audits.cancel",
    response_model=ChangedRun,
    summary="Stop an audit",
    openapi_extra=WRITE,
)
async def cancel(tenant: web.Tenant, run_id: UUID) -> web.Response:
    await RUNS.cancel(tenant, run_id, action="audits.stop")
    return web.answer(ChangedRun(run_id=run_id, state="canceled"))


@routes.post(
    "/v1/audits/{run_id}/resume",
    operation_id="audits.resume",
    response_model=ChangedRun,
    summary="Let an audit that was stopped go on where it was",
    openapi_extra=WRITE,
)
async def resume(tenant: web.Tenant, run_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await start_run.resume(tx, run_id)
        await tx.log("audits.resume", str(run_id))
    return web.answer(ChangedRun(run_id=run_id, state="running"))


@routes.post(
    "/v1/audits/{run_id}/reevaluate",
    operation_id="audits.reevaluate",
    response_model=Reevaluation,
    summary="Judge the pages that were kept by the recipe of today; nothing is fetched",
    status_code=202,
    openapi_extra=WRITE,
)
async def reevaluate(
    tenant: web.Tenant, run_id: UUID, body: Again, idempotency_key: web.IdempotencyKey = None
) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        new = await start_run.reevaluate_run(tx, run_id, settle=body.settle)
        await tx.log("audits.reevaluate", str(new), {"of": str(run_id)})
        return web.Answer(status=202, value=Reevaluation(run_id=new), headers={"Location": f"/v1/audits/{new}"})

    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/audits/{run_id}/events",
    operation_id="audits.events",
    summary="An audit as it goes: `state`, then `patch` for each event, then `end`",
    responses=stream.RESPONSES,
    openapi_extra=READ,
)
async def events(
    tenant: web.Tenant,
    run_id: UUID,
    last_event_id: web.LastEventId = None,
) -> web.Response:
    read = partial(service.snapshot, tenant, run_id)
    return await stream.respond(tenant, read, last_event_id, noun="audit", every_s=POLL_SECONDS)


@routes.get(
    "/v1/audits/{run_id}/issues",
    operation_id="audits.issues",
    response_model=Page[Issue],
    summary="What it found",
    openapi_extra=READ,
)
async def issues(
    tenant: web.Tenant,
    run_id: UUID,
    severity: Severity | None = None,
    check: Annotated[str | None, Query(max_length=50)] = None,
    state: FindingState | None = None,
    cursor: Cursor = None,
    limit: Limit = 1000,
) -> web.Response:
    async with tenant.transaction() as tx:
        found = await service.list_issues(
            tx, run_id, check=check, severity=severity, state=state, cursor=cursor, limit=limit
        )
        return web.answer(found)


@routes.get(
    "/v1/audits/{run_id}/urls",
    operation_id="audits.urls",
    response_model=Page[PageSummary],
    summary="The pages it met",
    openapi_extra=READ,
)
async def urls(
    tenant: web.Tenant,
    run_id: UUID,
    state: Literal["queued", "fetched", "failed", "blocked", "left"] | None = None,
    status: Annotated[int | None, Query(ge=100, le=999)] = None,
    depth: Annotated[int | None, Query(ge=0, le=1000)] = None,
    cursor: Cursor = None,
    limit: Limit = 1000,
) -> web.Response:
    async with tenant.transaction() as tx:
        found = await service.list_urls(tx, run_id, state=state, status=status, depth=depth, cursor=cursor, limit=limit)
        return web.answer(found)


@routes.get(
    "/v1/audits/{run_id}/url",
    operation_id="audits.url",
    response_model=PageDetail,
    summary="All about one page",
    openapi_extra=READ,
)
async def url(
    tenant: web.Tenant,
    run_id: UUID,
    url: Annotated[str | None, Query(min_length=1, max_length=2000)] = None,
    key: Annotated[str | None, Query(min_length=64, max_length=64, description="As it was listed.")] = None,
) -> web.Response:
    if (url is None) == (key is None):
        raise BadInput("a page is asked for by its url or by its key", hint="give one of the two")
    async with tenant.transaction() as tx:
        return web.answer(await service.get_url(tx, run_id, url, key=key))


@routes.get(
    "/v1/audits/{run_id}/report.{form}",
    operation_id="audits.report",
    summary="The whole audit as HTML, JSON or CSV",
    openapi_extra=READ,
)
async def get_report(tenant: web.Tenant, run_id: UUID, form: Literal["html", "json", "csv"]) -> web.Response:
    async with tenant.transaction() as tx:
        run = await service.get_run(tx, run_id)
        site = (await service.get_site(tx, run.site_id)).url
        if form == "html":
            sample = await service.sample_issues(tx, run_id, each=report.SHOWN)
            page = report.as_html(run, site, sample)
            return web.Response(page, headers=report.PAGE, media_type="text/html")
        found, left_out = await service.all_issues(tx, run_id)
    if form == "csv":
        return web.Response(report.as_csv(found, left_out=left_out), media_type="text/csv")
    return web.answer(asdict(run) | {"url": site, "issues": found, "issues_left_out": left_out})


@routes.get(
    "/v1/audits/{before}/diff/{after}",
    operation_id="audits.diff",
    response_model=Comparison,
    summary="What a later audit found that an earlier one did not, and the other way round",
    openapi_extra=READ,
)
async def diff(tenant: web.Tenant, before: UUID, after: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await service.compare(tx, before, after))
