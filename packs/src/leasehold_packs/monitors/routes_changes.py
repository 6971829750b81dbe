"""``/v1/monitors``: changes, the rules that tell of them, and things that more than one site sells."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query

from leasehold import web
from leasehold.errors import BadInput
from leasehold_packs.monitors import feeds, service, service_rules
from leasehold_packs.monitors.model_results import AlertRule, Group, GroupComparison
from leasehold_packs.monitors.schemas import ChangePage, RuleRequest

routes = web.routes("monitors")
READ = web.needs("jobs:read")
WRITE = web.needs("jobs:write")
Limit = Annotated[int, Query(ge=1, le=1000)]
ChangeKind = Literal["price", "currency", "availability", "gone", "returned"]


@routes.get(
    "/v1/monitors/changes",
    operation_id="monitors.changes",
    response_model=ChangePage,
    summary="The newest changes first",
    openapi_extra=READ,
)
async def changes(
    tenant: web.Tenant,
    since: datetime | None = None,
    kind: ChangeKind | None = None,
    site: UUID | None = None,
    product: UUID | None = None,
    state: Literal["pending", "confirmed", "dismissed"] = "confirmed",
    cursor: Annotated[str | None, Query(max_length=100)] = None,
    limit: Limit = 100,
) -> web.Response:
    async with tenant.transaction() as tx:
        found = await service.list_changes(
            tx, state=state, kind=kind, site_id=site, product_id=product, since=since, before=_place(cursor),
            limit=limit,
        )  # fmt: skip
    last = f"{found[-1].at.isoformat()}/{found[-1].change_id}" if len(found) == limit else None
    return web.answer(ChangePage(data=found, next=last))


@routes.get(
    "/v1/monitors/changes.{form}",
    operation_id="monitors.feed",
    summary="The newest changes that were told as an Atom feed, a JSON feed or a table",
    openapi_extra=READ,
)
async def feed(
    request: web.Request,
    tenant: web.Tenant,
    form: Literal["atom", "json", "csv"],
    kind: ChangeKind | None = None,
    site: UUID | None = None,
    limit: Limit = 100,
) -> web.Response:
    async with tenant.transaction() as tx:
        found = await service.list_changes(tx, kind=kind, site_id=site, told=True, limit=limit)
    address = str(request.url)
    match form:
        case "atom":
            return web.Response(feeds.as_atom(found, address=address), media_type="application/atom+xml")
        case "csv":
            return web.Response(feeds.as_csv(found), media_type="text/csv")
    return web.answer(feeds.as_json_feed(found, address=address))


@routes.post(
    "/v1/monitors/rules",
    operation_id="monitors.put_rule",
    response_model=AlertRule,
    summary="Tell when a change is like this",
    status_code=201,
    openapi_extra=WRITE,
)
async def put_rule(tenant: web.Tenant, body: RuleRequest) -> web.Response:
    async with tenant.transaction() as tx:
        made = await service_rules.put_rule(tx, tenant.tenant_id, **body.model_dump())
        await tx.log("monitors.put_rule", str(made.rule_id), {"name": made.name})
        return web.answer(made, status=201)


@routes.get(
    "/v1/monitors/rules",
    operation_id="monitors.rules",
    response_model=web.Listing[AlertRule],
    summary="All rules",
    openapi_extra=READ,
)
async def rules(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer_all(await service_rules.list_rules(tx), of=AlertRule)


@routes.delete(
    "/v1/monitors/rules/{rule_id}",
    operation_id="monitors.remove_rule",
    summary="Remove a rule",
    status_code=204,
    openapi_extra=WRITE,
)
async def remove_rule(tenant: web.Tenant, rule_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await service_rules.remove_rule(tx, rule_id)
        await tx.log("monitors.remove_rule", str(rule_id))
    return web.Response(status_code=204)


@routes.get(
    "/v1/monitors/groups",
    operation_id="monitors.groups",
    response_model=web.Listing[Group],
    summary="Things that are sold at more than one place",
    openapi_extra=READ,
)
async def groups(tenant: web.Tenant, limit: Limit = 100) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer_all(await service_rules.list_groups(tx, limit=limit), of=Group)


@routes.get(
    "/v1/monitors/groups/{group_id}/compare",
    operation_id="monitors.compare",
    response_model=GroupComparison,
    summary="One thing at all its places, the cheapest first",
    openapi_extra=READ,
)
async def compare(tenant: web.Tenant, group_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await service_rules.compare_group(tx, group_id))


def _place(cursor: str | None) -> tuple[datetime, UUID] | None:
    if cursor is None:
        return None
    at, _, change_id = cursor.partition("/")
    try:
        return datetime.fromisoformat(at), UUID(change_id)
    except ValueError:
        raise BadInput("this is no cursor", hint="use next of the page before, as it was") from None
