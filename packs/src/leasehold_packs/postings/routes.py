"""``/v1/postings``: the search, and one posting."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query

from leasehold import web
from leasehold_packs.postings import report, search, store_people, store_postings
from leasehold_packs.postings.model_postings import PostingDetails, PostingSummary, Version, VersionDifference
from leasehold_packs.postings.routes_sources import READ
from leasehold_packs.postings.schemas import Corrected, PostingsFound

routes = web.routes("postings")
Some = Annotated[int, Query(ge=1, le=200)]
Number = Annotated[int, Query(ge=1, le=2_000_000_000)]
_EVERYTHING = 10_000


@routes.get(
    "/v1/postings",
    operation_id="postings.list",
    summary="Search postings: words as people write them, with filters, facets and typing slips put right",
    response_model=PostingsFound,
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
        wanted = await store_people.get_preference(tx, tenant.actor) if mine else None
        question = search.question_of(query, preference=wanted)
        found = await search.find(tx, question, limit=limit, cursor=cursor, exact=exact)
        postings = await store_postings.list_postings(tx, found.ids)
        if found.corrected is not None:
            question = replace(question, q=found.corrected)
        counted = await search.count(tx, question) if facets else None
    answer = PostingsFound(
        data=postings,
        next_cursor=found.next_cursor,
        has_more=found.next_cursor is not None,
        corrected=None if found.corrected is None else Corrected(q=found.corrected, instead_of=q),
        alike=found.alike,
        total=counted.total if counted else None,
        at_least=counted.at_least if counted else None,
        facets=counted.facets if counted else None,
    )
    return web.answer(answer)


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
    question = search.question_of(search.Query(q=q, company=list(company), state=list(state), as_of=as_of))
    async with tenant.transaction() as tx:
        found = await search.find(tx, question, limit=_EVERYTHING, exact=True)
        data = await store_postings.list_postings(tx, found.ids)
    if form == "csv":
        return web.Response(report.as_csv(data), media_type="text/csv")
    return web.answer_all(data, of=PostingSummary)


@routes.get(
    "/v1/postings/{posting_id}",
    operation_id="postings.get",
    summary="One posting",
    response_model=PostingDetails,
    openapi_extra=READ,
)
async def get(tenant: web.Tenant, posting_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await store_postings.get_posting(tx, posting_id))


@routes.get(
    "/v1/postings/{posting_id}/versions",
    operation_id="postings.versions",
    summary="What a posting was, and when",
    response_model=web.Listing[Version],
    openapi_extra=READ,
)
async def versions(tenant: web.Tenant, posting_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer_all(await store_postings.list_versions(tx, posting_id), of=Version)


@routes.get(
    "/v1/postings/{posting_id}/diff",
    operation_id="postings.diff",
    summary="What two versions of a posting differ in",
    response_model=VersionDifference,
    openapi_extra=READ,
)
async def diff(
    tenant: web.Tenant,
    posting_id: UUID,
    before: Annotated[int, Query(alias="from", ge=1, le=2_000_000_000)],
    to: Number,
) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await store_postings.compare_versions(tx, posting_id, before, to))
