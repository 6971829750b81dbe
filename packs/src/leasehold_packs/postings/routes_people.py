"""What belongs to the caller: settings, saved searches and a board, below ``/v1/postings``."""

from typing import cast
from uuid import UUID

from leasehold import web
from leasehold_packs.postings import report, store_people
from leasehold_packs.postings.model_postings import Application, Preference, SavedQuery, SavedSearch
from leasehold_packs.postings.routes_sources import READ, WRITE
from leasehold_packs.postings.schemas import ApplicationRequest, Board, PreferenceRequest, SearchRequest

routes = web.routes("postings")


@routes.get(
    "/v1/postings/settings",
    operation_id="postings.settings",
    summary="What the caller wants to see; all companies and titles unless they said otherwise",
    response_model=Preference,
    openapi_extra=READ,
)
async def get_settings(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await store_people.get_preference(tx, tenant.actor))


@routes.put(
    "/v1/postings/settings",
    operation_id="postings.put_settings",
    summary="Say what to see",
    response_model=Preference,
    openapi_extra=WRITE,
)
async def put_settings(tenant: web.Tenant, body: PreferenceRequest) -> web.Response:
    async with tenant.transaction() as tx:
        wanted = await store_people.put_preference(tx, tenant.actor, Preference(**body.model_dump()))
        await tx.log("postings.settings", tenant.actor, body.model_dump(mode="json"))
        return web.answer(wanted)


@routes.get(
    "/v1/postings/searches",
    operation_id="postings.searches",
    summary="The caller's saved searches",
    response_model=web.Listing[SavedSearch],
    openapi_extra=READ,
)
async def list_searches(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer_all(await store_people.list_searches(tx, tenant.actor), of=SavedSearch)


@routes.post(
    "/v1/postings/searches",
    operation_id="postings.save_search",
    summary="Be told of postings that answer a question (event `postings.search_matched`)",
    status_code=201,
    response_model=SavedSearch,
    openapi_extra=WRITE,
)
async def save_search(tenant: web.Tenant, body: SearchRequest) -> web.Response:
    given = body.model_dump(mode="json")["query"]
    query = cast(SavedQuery, {name: value for name, value in given.items() if value not in (None, [], False)})
    async with tenant.transaction() as tx:
        made = await store_people.add_search(tx, tenant.actor, body.name, query)
        await tx.log("postings.save_search", str(made.search_id), {"name": made.name})
        headers = {"Location": f"/v1/postings/searches/{made.search_id}"}
        return web.answer(made, status=201, headers=headers)


@routes.get(
    "/v1/postings/searches/{search_id}",
    operation_id="postings.search",
    summary="A saved search",
    response_model=SavedSearch,
    openapi_extra=READ,
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
        await store_people.delete_search(tx, tenant.actor, search_id)
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
    response_model=Board,
    openapi_extra=READ,
)
async def list_applications(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        data = await store_people.list_applications(tx, tenant.actor)
        return web.answer(Board(data=data, companies=await store_people.success_by_company(tx, tenant.actor)))


@routes.put(
    "/v1/postings/{posting_id}/application",
    operation_id="postings.apply",
    summary="Put a posting on the caller's board, or move it",
    response_model=Application,
    openapi_extra=WRITE,
)
async def put_application(tenant: web.Tenant, posting_id: UUID, body: ApplicationRequest) -> web.Response:
    async with tenant.transaction() as tx:
        made = await store_people.put_application(
            tx, tenant.actor, posting_id, stage=body.stage, note=body.note, due=body.due
        )
        await tx.log("postings.apply", str(posting_id), {"stage": body.stage})
        return web.answer(made)


@routes.delete(
    "/v1/postings/applications/{application_id}",
    operation_id="postings.remove_application",
    summary="Take a posting off the caller's board",
    status_code=204,
    openapi_extra=WRITE,
)
async def remove_application(tenant: web.Tenant, application_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await store_people.delete_application(tx, tenant.actor, application_id)
        await tx.log("postings.unsave", str(application_id))
    return web.Response(None, 204)
