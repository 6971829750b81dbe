"""``/v1/postings``."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from leasehold import web
from leasehold.errors import BadInput
from leasehold_packs.postings import report, run_summary, search, service, store_people, stream, trends
from leasehold_packs.postings.model import Options, Words
from leasehold_packs.postings.service import BREAKER, GATES, NewSource

routes = web.routes("postings")
READ = web.needs("jobs:read")
WRITE = web.needs("jobs:write")
Limit = Annotated[int, Query(ge=1, le=1000)]
Some = Annotated[int, Query(ge=1, le=200)]
Number = Annotated[int, Query(ge=1, le=2_000_000_000)]
#: Seconds that a preview is waited for; after that its job can be asked.
_PATIENCE_S = 15.0
_EVERYTHING = 10_000
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "The stream"},
    204: {"description": "The end was seen: the browser need not come back"},
}


class Pasted(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"url": "https://jobs.lever.co/acme"}]})

    url: str = Field(min_length=8, max_length=2000, description="Of a board, or of a company's page about jobs.")


class SourceRequest(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"url": "https://jobs.lever.co/acme"},
                {"board": "recruitee", "slug": "acme", "base": "https://jobs.acme.example", "company": "Acme"},
            ]
        },
    )

    url: str | None = Field(None, min_length=8, max_length=2000)
    board: str | None = Field(None, max_length=50, description="With slug, instead of a url.")
    slug: str | None = Field(None, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")
    base: str | None = Field(None, min_length=8, max_length=500, description="For a board on a host of its own.")
    company: str | None = Field(None, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")
    options: Options = Field(default_factory=Options)


class SourceChange(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"enabled": False}]})

    enabled: bool | None = Field(None, strict=True)
    options: Options | None = None


class Decision(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"close": True}, {"close": False}]})

    close: bool = Field(strict=True, description="Whether what is missing is really gone.")


class RunRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{}, {"details": "all"}]})

    sources: list[UUID] | None = Field(None, min_length=1, max_length=1000, description="All enabled ones if left out.")
    details: Literal["due", "all"] = Field(
        "due", description="all: read every text again, not only those that are due."
    )


class Preference(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"companies": None, "title_include": ["engineer"]}]}
    )

    companies: list[UUID] | None = Field(None, max_length=1000, description="null: all of them.")
    title_include: Words = Field(default_factory=list)
    title_exclude: Words = Field(default_factory=list)


class SavedSearch(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"name": "Rust from home", "query": {"q": "rust", "remote": ["remote"]}}]},
    )

    name: str = Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f]+$")
    query: search.Query


class Application(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"stage": "applied", "note": "by mail"}]})

    stage: Literal["saved", "applied", "interview", "offer", "rejected"] = "saved"
    note: str | None = Field(None, max_length=5000, pattern=r"^[^\x00]*$")
    due: date | None = Field(None, description="When something is to be done about it.")


@routes.post(
    "/v1/postings/detect",
    operation_id="postings.detect",
    summary="Which board an address belongs to, and what it lists; nothing is kept",
    openapi_extra=WRITE,
)
async def detect(tenant: web.Tenant, body: Pasted) -> web.Response:
    service.http_url(body.url)
    made = await tenant.client.enqueue("postings.detect", {"url": body.url}, queue="postings")
    try:
        job = await tenant.client.wait(made.job_id, timeout=_PATIENCE_S)
    except TimeoutError:
        return web.answer({"job_id": made.job_id, "state": "running"}, status=202)
    if job.state != "succeeded":
        raise BadInput(f"the address cannot be read: {(job.error or {}).get('message') or job.state}")
    return web.answer(job.result)


@routes.get(
    "/v1/postings/sources", operation_id="postings.sources", summary="All sources with their health", openapi_extra=READ
)
async def list_sources(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer({"data": await service.list_sources(tx)})


@routes.post(
    "/v1/postings/sources",
    operation_id="postings.add_source",
    summary="Follow a board",
    status_code=201,
    openapi_extra=WRITE,
)
async def add_source(
    tenant: web.Tenant, body: SourceRequest, idempotency_key: web.IdempotencyKey = None
) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        new = NewSource(url=body.url, board=body.board, slug=body.slug, base=body.base, company=body.company)
        made = await service.add_source(tx, tenant.tenant_id, new, body.options)
        await tx.log("postings.follow", str(made["source_id"]), {"board": made["board"], "url": made["url"]})
        return web.Answer(status=201, value=made, headers={"Location": f"/v1/postings/sources/{made['source_id']}"})

    if (await tenant.client.gates.get(GATES)).rule is None:
        await tenant.client.gates.set(GATES, **BREAKER)
    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/postings/sources/{source_id}", operation_id="postings.source", summary="One source", openapi_extra=READ
)
async def get_source(tenant: web.Tenant, source_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        source = await service.get_source(tx, source_id)
    gate = await tenant.client.gates.get(f"{GATES}{source['host']}")
    return web.answer(source | {"breaker": {"state": gate.state, "next_at": gate.next_at, "waiting": gate.waiting}})


@routes.patch(
    "/v1/postings/sources/{source_id}",
    operation_id="postings.change_source",
    summary="Enable or disable a source, or change its filters",
    openapi_extra=WRITE,
)
async def change_source(tenant: web.Tenant, source_id: UUID, body: SourceChange) -> web.Response:
    async with tenant.transaction() as tx:
        changed = await service.change_source(tx, source_id, enabled=body.enabled, options=body.options)
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
        await service.remove_source(tx, tenant.tenant_id, source_id)
        await tx.log("postings.forget", str(source_id))
    return web.Response(None, 204)


@routes.post(
    "/v1/postings/sources/{source_id}/sync",
    operation_id="postings.sync",
    summary="Ask one source now",
    status_code=202,
    openapi_extra=WRITE,
)
async def sync(tenant: web.Tenant, source_id: UUID, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    return await _start(tenant, RunRequest(sources=[source_id], details="due"), idempotency_key)


@routes.post(
    "/v1/postings/sources/{source_id}/closings",
    operation_id="postings.decide",
    summary="Say whether postings that vanished all at once are really gone",
    openapi_extra=WRITE,
)
async def decide(tenant: web.Tenant, source_id: UUID, body: Decision) -> web.Response:
    async with tenant.transaction() as tx:
        done = await service.decide(tx, tenant.tenant_id, source_id, close=body.close)
        act = "postings.close_held" if body.close else "postings.keep_held"
        await tx.log(act, str(source_id), {"closed": done["closed"]})
        return web.answer(done)


@routes.get(
    "/v1/postings/companies",
    operation_id="postings.companies",
    summary="Companies and how they hire: open, new, closed, and ghosts",
    openapi_extra=READ,
)
async def list_companies(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer({"data": await service.list_companies(tx)})


@routes.get(
    "/v1/postings/trends",
    operation_id="postings.trends",
    summary="Hiring by the week: opened, closed, changed, and open in the end",
    openapi_extra=READ,
)
async def list_trends(
    tenant: web.Tenant,
    company: Annotated[UUID | None, Query(description="Of this one; of all if left out.")] = None,
    weeks: Annotated[int, Query(ge=1, le=trends.MOST_WEEKS)] = 26,
) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer({"data": await trends.weeks(tx, weeks=weeks, company=company)})


@routes.get(
    "/v1/postings/ghosts",
    operation_id="postings.ghosts",
    summary="Open postings that may be there for show alone, and the signals of it",
    openapi_extra=READ,
)
async def list_ghosts(tenant: web.Tenant, company: UUID | None = None, limit: Limit = 100) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer({"data": await trends.ghosts(tx, company=company, limit=limit)})


@routes.get("/v1/postings/runs", operation_id="postings.runs", summary="The newest runs first", openapi_extra=READ)
async def list_runs(tenant: web.Tenant, limit: Limit = 50) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer({"data": await service.list_runs(tx, limit=limit)})


@routes.post(
    "/v1/postings/runs",
    operation_id="postings.run",
    summary="Ask sources what they list now",
    status_code=202,
    openapi_extra=WRITE,
)
async def start_run(tenant: web.Tenant, body: RunRequest, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    return await _start(tenant, body, idempotency_key)


async def _start(tenant: web.Tenant, body: RunRequest, idempotency_key: str | None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        asked = await service.ask_run(tx, tenant.tenant_id, tenant.actor, sources=body.sources, details=body.details)
        await tx.log("postings.run", str(asked.run_id), {"sources": asked.sources})
        return web.Answer(status=202, value=asdict(asked), headers={"Location": f"/v1/postings/runs/{asked.run_id}"})

    return await tenant.once(idempotency_key, operate)


@routes.get("/v1/postings/runs/{run_id}", operation_id="postings.get_run", summary="One run", openapi_extra=READ)
async def get_run(tenant: web.Tenant, run_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await service.get_run(tx, run_id))


@routes.post(
    "/v1/postings/runs/{run_id}/cancel", operation_id="postings.cancel", summary="Abort a run", openapi_extra=WRITE
)
async def cancel(tenant: web.Tenant, run_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        flow_id = await service.stop_run(tx, run_id, "canceled")
        await tx.log("postings.abort", str(run_id))
    if flow_id:
        await tenant.client.flows.cancel(flow_id, "the run was canceled")
    return web.answer({"run_id": run_id, "state": "canceled"})


@routes.get(
    "/v1/postings/runs/{run_id}/events",
    operation_id="postings.events",
    summary="A run as it goes: `state`, then `patch` for what changes, then `end`",
    responses=_STREAM,
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
    openapi_extra=READ,
)
async def run_logs(
    tenant: web.Tenant,
    run_id: UUID,
    group: Annotated[
        Sequence[run_summary.Part], Query(max_length=4, description="Only of these; all if left out.")
    ] = (),
    after: Annotated[int, Query(ge=0, le=2**62)] = 0,
    limit: Limit = 200,
) -> web.Response:
    async with tenant.transaction() as tx:
        await service.get_run(tx, run_id)
        return web.answer(
            {"data": await run_summary.read(tx, run_id, groups=list(group) or None, after=after, limit=limit)}
        )


@routes.get(
    "/v1/postings/settings",
    operation_id="postings.settings",
    summary="What the caller wants to see; all companies and titles unless they said otherwise",
    openapi_extra=READ,
)
async def get_settings(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await store_people.get_preference(tx, tenant.actor))


@routes.put(
    "/v1/postings/settings", operation_id="postings.put_settings", summary="Say what to see", openapi_extra=WRITE
)
async def put_settings(tenant: web.Tenant, body: Preference) -> web.Response:
    async with tenant.transaction() as tx:
        told = await store_people.put_preference(
            tx, tenant.tenant_id, tenant.actor,
            companies=body.companies, include=body.title_include, exclude=body.title_exclude,
        )  # fmt: skip
        await tx.log("postings.settings", tenant.actor, body.model_dump(mode="json"))
        return web.answer(told)


@routes.get(
    "/v1/postings/searches", operation_id="postings.searches", summary="The caller's saved searches", openapi_extra=READ
)
async def list_searches(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer({"data": await store_people.list_searches(tx, tenant.actor)})


@routes.post(
    "/v1/postings/searches",
    operation_id="postings.save_search",
    summary="Be told of postings that answer a question (event `postings.search_matched`)",
    status_code=201,
    openapi_extra=WRITE,
)
async def save_search(tenant: web.Tenant, body: SavedSearch) -> web.Response:
    query = {
        name: value for name, value in body.model_dump(mode="json")["query"].items() if value not in (None, [], False)
    }
    async with tenant.transaction() as tx:
        made = await store_people.save_search(tx, tenant.tenant_id, tenant.actor, body.name, query)
        await tx.log("postings.save_search", str(made["search_id"]), {"name": made["name"]})
        headers = {"Location": f"/v1/postings/searches/{made['search_id']}"}
        return web.answer(made, status=201, headers=headers)


@routes.get(
    "/v1/postings/searches/{search_id}", operation_id="postings.search", summary="A saved search", openapi_extra=READ
)
async def get_search(tenant: web.Tenant, search_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await store_people.get_search(tx, tenant.actor, search_id))


@routes.delete(
    "/v1/postings/searches/{search_id}",
    operation_id="postings.remove_search",
    summary="Forget a saved search",
    status_code=204,
    openapi_extra=WRITE,
)
async def remove_search(tenant: web.Tenant, search_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await store_people.remove_search(tx, tenant.actor, search_id)
        await tx.log("postings.forget_search", str(search_id))
    return web.Response(None, 204)


@routes.get(
    "/v1/postings/searches/{search_id}/feed.atom",
    operation_id="postings.feed",
    summary="What a saved search was told of, as an Atom feed",
    openapi_extra=READ,
)
async def feed(request: web.Request, tenant: web.Tenant, search_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        found = await store_people.get_search(tx, tenant.actor, search_id)
        matches = await store_people.list_matches(tx, tenant.actor, search_id)
    return web.Response(report.as_atom(found, matches, address=str(request.url)), media_type="application/atom+xml")


@routes.get(
    "/v1/postings/applications",
    operation_id="postings.applications",
    summary="The caller's board, with the time in each stage, and how far it went at each company",
    openapi_extra=READ,
)
async def list_applications(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        data = await store_people.list_applications(tx, tenant.actor)
        return web.answer({"data": data, "companies": await store_people.success_by_company(tx, tenant.actor)})


@routes.put(
    "/v1/postings/{posting_id}/application",
    operation_id="postings.apply",
    summary="Put a posting on the caller's board, or move it",
    openapi_extra=WRITE,
)
async def put_application(tenant: web.Tenant, posting_id: UUID, body: Application) -> web.Response:
    async with tenant.transaction() as tx:
        told = await store_people.put_application(
            tx, tenant.tenant_id, tenant.actor, posting_id, stage=body.stage, note=body.note, due=body.due
        )
        await tx.log("postings.apply", str(posting_id), {"stage": body.stage})
        return web.answer(told)


@routes.delete(
    "/v1/postings/applications/{application_id}",
    operation_id="postings.remove_application",
    summary="Take a posting off the caller's board",
    status_code=204,
    openapi_extra=WRITE,
)
async def remove_application(tenant: web.Tenant, application_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await store_people.remove_application(tx, tenant.actor, application_id)
        await tx.log("postings.unsave", str(application_id))
    return web.Response(None, 204)


@routes.get(
    "/v1/postings",
    operation_id="postings.list",
    summary="Search postings: words as people write them, with filters, facets and typing slips put right",
    openapi_extra=READ,
)
async def list_postings(
    tenant: web.Tenant,
    q: Annotated[
        str | None, Query(max_length=search.MOST_LETTERS, description='`rust -remote "staff engineer" or c++`')
    ] = None,
    company: Annotated[Sequence[UUID], Query(max_length=100)] = (),
    source: Annotated[Sequence[UUID], Query(max_length=100)] = (),
    remote: Annotated[Sequence[search.Remote], Query()] = (),
    seniority: Annotated[Sequence[search.Level], Query()] = (),
    employment: Annotated[Sequence[search.Employment], Query()] = (),
    state: Annotated[Sequence[search.State], Query(description="open and suspect if left out")] = (),
    place: Annotated[str | None, Query(min_length=1, max_length=100)] = None,
    salary_min: Annotated[float | None, Query(ge=0, le=1e12, description="By the year; with currency.")] = None,
    currency: Annotated[str | None, Query(pattern="^[A-Z]{3}$")] = None,
    since: datetime | None = None,
    as_of: Annotated[datetime | None, Query(description="What was open then, as it was then.")] = None,
    duplicates: Annotated[bool, Query(description="Also the same job on other boards.")] = False,
    mine: Annotated[bool, Query(description="Only what the caller's settings let through.")] = False,
    exact: Annotated[bool, Query(description="Put nothing right.")] = False,
    facets: bool = False,
    limit: Some = 50,
    cursor: Annotated[str | None, Query(max_length=300)] = None,
) -> web.Response:
    query = search.Query(
        q=q, company=list(company), source=list(source), remote=list(remote), seniority=list(seniority),
        employment=list(employment), state=list(state), place=place, salary_min=salary_min, currency=currency,
        since=since, as_of=as_of, duplicates=duplicates,
    )  # fmt: skip
    async with tenant.transaction() as tx:
        wanted = store_people.as_condition(await store_people.get_preference(tx, tenant.actor)) if mine else {}
        question = search.asked(query, preference=wanted)
        found = await search.find(tx, question, limit=limit, cursor=cursor, exact=exact)
        told: dict[str, Any] = {"data": await service.read_postings(tx, found.ids), "next_cursor": found.next_cursor}
        told["has_more"] = found.next_cursor is not None
        if found.corrected is not None:
            told["corrected"] = {"q": found.corrected, "instead_of": q}
            question = question | {"q": found.corrected}
        if found.alike:
            told["alike"] = True
        if facets:
            told |= await search.facets(tx, question)
    return web.answer(told)


@routes.get(
    "/v1/postings/export.{form}",
    operation_id="postings.export",
    summary="Postings that answer a question, as CSV or JSON, 10,000 at most",
    openapi_extra=READ,
)
async def export(
    tenant: web.Tenant,
    form: Literal["csv", "json"],
    q: Annotated[str | None, Query(max_length=search.MOST_LETTERS)] = None,
    company: Annotated[Sequence[UUID], Query(max_length=100)] = (),
    state: Annotated[Sequence[search.State], Query()] = (),
    as_of: datetime | None = None,
) -> web.Response:
    question = search.asked(search.Query(q=q, company=list(company), state=list(state), as_of=as_of))
    async with tenant.transaction() as tx:
        found = await search.find(tx, question, limit=_EVERYTHING, exact=True)
        data = await service.read_postings(tx, found.ids)
    if form == "csv":
        return web.Response(report.as_csv(data), media_type="text/csv")
    return web.answer({"data": data})


@routes.get("/v1/postings/{posting_id}", operation_id="postings.get", summary="One posting", openapi_extra=READ)
async def get(tenant: web.Tenant, posting_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await service.get_posting(tx, posting_id))


@routes.get(
    "/v1/postings/{posting_id}/versions",
    operation_id="postings.versions",
    summary="What a posting was, and when",
    openapi_extra=READ,
)
async def versions(tenant: web.Tenant, posting_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer({"data": await service.list_versions(tx, posting_id)})


@routes.get(
    "/v1/postings/{posting_id}/diff",
    operation_id="postings.diff",
    summary="What two versions of a posting differ in",
    openapi_extra=READ,
)
async def diff(
    tenant: web.Tenant,
    posting_id: UUID,
    before: Annotated[int, Query(alias="from", ge=1, le=2_000_000_000)],
    to: Number,
) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await service.diff_versions(tx, posting_id, before, to))
