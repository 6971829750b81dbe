"""``/v1/monitors``."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from leasehold import web
from leasehold.errors import BadInput
from leasehold_packs.monitors import feeds, service, site_setup
from leasehold_packs.monitors.model import Search, Settings
from leasehold_packs.monitors.store import CRAWL

routes = web.routes("monitors")
READ = web.needs("jobs:read")
WRITE = web.needs("jobs:write")
Limit = Annotated[int, Query(ge=1, le=1000)]
Url = Annotated[str, Field(min_length=8, max_length=2000, description="A whole http or https address.")]
Selector = Annotated[str, Field(min_length=1, max_length=500, description="A CSS selector of the price.")]
Tags = Annotated[list[Annotated[str, Field(min_length=1, max_length=50)]], Field(max_length=20)]
ChangeKind = Literal["price", "currency", "availability", "gone", "returned"]
_PATIENCE_S = 10.0


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PreviewRequest(_Body):
    url: Url
    selector: Selector | None = None
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] | None = None


class SiteRequest(_Body):
    url: Url
    settings: Settings = Field(default_factory=Settings)


class SiteChange(_Body):
    settings: dict[str, Any] | None = Field(None, description="Only what is to be other than it is.")
    paused: bool | None = None


class Decision(_Body):
    candidates: Annotated[list[UUID], Field(max_length=5000)] | None = Field(None, description="All, if left out.")
    least_confidence: float = Field(0.0, ge=0, le=1)
    tags: Tags = Field(default_factory=list)


class ProductRequest(_Body):
    url: Url
    tags: Tags = Field(default_factory=list)
    selector: Selector | None = None


class ProductChange(_Body):
    tags: Tags | None = None
    paused: bool | None = None


class SelectorRequest(_Body):
    selector: Selector | None = Field(description="Null lets the page be read as if nobody had said anything.")


class SelectorTest(_Body):
    selector: Selector


class RuleRequest(_Body):
    name: str = Field(min_length=1, max_length=200)
    condition: Literal["percent", "absolute", "target", "back_in_stock", "new_low", "undercut"]
    value: Annotated[Decimal, Field(gt=0, max_digits=18, decimal_places=6)] | None = None
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] | None = None
    direction: Literal["both", "down", "up"] = "both"
    site_id: UUID | None = None
    product_id: UUID | None = None
    tag: Annotated[str, Field(max_length=50)] | None = None
    brand: Annotated[str, Field(max_length=200)] | None = None


@routes.post(
    "/v1/monitors/preview",
    operation_id="monitors.preview",
    summary="How a product page is read, within seconds",
    openapi_extra=WRITE,
)
async def preview(tenant: web.Tenant, body: PreviewRequest) -> web.Response:
    async with tenant.transaction() as tx:
        asked = await tx.enqueue("monitors.preview", body.model_dump(), queue=CRAWL, priority=1)
    return await _result(tenant, asked.job_id)


# -- sites ------------------------------------------------------------------------------------------------------


@routes.post(
    "/v1/monitors/sites",
    operation_id="monitors.put_site",
    summary="Register a site, or give it new settings",
    status_code=201,
    openapi_extra=WRITE,
)
async def put_site(tenant: web.Tenant, body: SiteRequest) -> web.Response:
    async with tenant.transaction() as tx:
        site = await service.put_site(tx, tenant.tenant_id, body.url, body.settings)
        await tx.log("monitors.put_site", str(site["site_id"]), {"url": site["url"]})
    await site_setup.arrange(tenant.client, site)
    return web.answer(site, status=201, headers={"Location": f"/v1/monitors/sites/{site['site_id']}"})


@routes.get(
    "/v1/monitors/sites", operation_id="monitors.sites", summary="All sites and their health", openapi_extra=READ
)
async def sites(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer({"data": await service.list_sites(tx)})


@routes.get("/v1/monitors/sites/{site_id}", operation_id="monitors.site", summary="One site", openapi_extra=READ)
async def site(tenant: web.Tenant, site_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await service.get_site(tx, site_id))


@routes.patch(
    "/v1/monitors/sites/{site_id}",
    operation_id="monitors.change_site",
    summary="Change settings, pause or go on",
    openapi_extra=WRITE,
)
async def change_site(tenant: web.Tenant, site_id: UUID, body: SiteChange) -> web.Response:
    async with tenant.transaction() as tx:
        changed = await service.change_site(tx, site_id, settings=body.settings, paused=body.paused)
        if body.settings is not None:
            await tx.log("monitors.settings", str(site_id), body.settings)
        await _log_pause(tx, site_id, body.paused)
    await site_setup.arrange(tenant.client, changed)
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
    await site_setup.clear(tenant.client, site_id)
    return web.Response(status_code=204)


@routes.post(
    "/v1/monitors/sites/{site_id}/crawl",
    operation_id="monitors.crawl",
    summary="Check all products now",
    status_code=202,
    openapi_extra=WRITE,
)
async def crawl(tenant: web.Tenant, site_id: UUID, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        await tx.log("monitors.crawl", str(site_id))
        return _accepted(await service.crawl(tx, site_id))

    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/monitors/sites/{site_id}/runs", operation_id="monitors.runs", summary="The newest runs", openapi_extra=READ
)
async def runs(tenant: web.Tenant, site_id: UUID, limit: Limit = 50) -> web.Response:
    async with tenant.transaction() as tx:
        await service.get_site(tx, site_id)
        return web.answer({"data": await service.list_runs(tx, site_id, limit=limit)})


@routes.post(
    "/v1/monitors/sites/{site_id}/reread",
    operation_id="monitors.reread",
    summary="Read the pages that were kept by the rules of today: who would change",
    status_code=202,
    openapi_extra=WRITE,
)
async def reread(tenant: web.Tenant, site_id: UUID, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        await tx.log("monitors.reread", str(site_id))
        return _accepted(await service.reread(tx, site_id))

    return await tenant.once(idempotency_key, operate)


@routes.post(
    "/v1/monitors/sites/{site_id}/discover",
    operation_id="monitors.discover",
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
        return web.Answer(status=202, value={"search_id": search_id})

    return await tenant.once(idempotency_key, operate)


@routes.get(
    "/v1/monitors/sites/{site_id}/searches",
    operation_id="monitors.searches",
    summary="The newest searches for products",
    openapi_extra=READ,
)
async def searches(tenant: web.Tenant, site_id: UUID, limit: Limit = 50) -> web.Response:
    async with tenant.transaction() as tx:
        await service.get_site(tx, site_id)
        return web.answer({"data": await service.list_searches(tx, site_id, limit=limit)})


@routes.get(
    "/v1/monitors/sites/{site_id}/candidates",
    operation_id="monitors.candidates",
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
        return web.answer({"data": await service.list_candidates(tx, site_id, state=state, limit=limit)})


@routes.post(
    "/v1/monitors/sites/{site_id}/candidates/{decision}",
    operation_id="monitors.decide",
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
    return web.answer({"decided": count})


# -- products ---------------------------------------------------------------------------------------------------


@routes.post(
    "/v1/monitors/products",
    operation_id="monitors.watch",
    summary="Watch a product from now on",
    status_code=201,
    openapi_extra=WRITE,
)
async def watch(tenant: web.Tenant, body: ProductRequest) -> web.Response:
    async with tenant.transaction() as tx:
        product = await service.watch(tx, tenant.tenant_id, body.url, tags=body.tags, selector=body.selector)
        found = await service.get_site(tx, product["site_id"])
        await tx.log("monitors.watch", str(product["product_id"]), {"url": product["url"]})
    await site_setup.arrange(tenant.client, found)
    return web.answer(product, status=201, headers={"Location": f"/v1/monitors/products/{product['product_id']}"})


@routes.get("/v1/monitors/products", operation_id="monitors.products", summary="Products by id", openapi_extra=READ)
async def products(
    tenant: web.Tenant,
    site: UUID | None = None,
    state: Literal["active", "paused", "gone", "needs_attention"] | None = None,
    brand: Annotated[str | None, Query(max_length=200)] = None,
    tag: Annotated[str | None, Query(max_length=50)] = None,
    q: Annotated[str | None, Query(max_length=200)] = None,
    changed_since: datetime | None = None,
    after: UUID | None = None,
    limit: Limit = 100,
) -> web.Response:
    async with tenant.transaction() as tx:
        found = await service.list_products(
            tx, site_id=site, state=state, brand=brand, tag=tag, query=q, changed_since=changed_since, after=after,
            limit=limit,
        )  # fmt: skip
    return web.answer({"data": found, "next": found[-1]["product_id"] if len(found) == limit else None})


@routes.get(
    "/v1/monitors/products/{product_id}", operation_id="monitors.product", summary="One product", openapi_extra=READ
)
async def product(tenant: web.Tenant, product_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await service.get_product(tx, product_id))


@routes.patch(
    "/v1/monitors/products/{product_id}",
    operation_id="monitors.change_product",
    summary="Pause it, go on, or tag it",
    openapi_extra=WRITE,
)
async def change_product(tenant: web.Tenant, product_id: UUID, body: ProductChange) -> web.Response:
    async with tenant.transaction() as tx:
        changed = await service.change_product(tx, product_id, tags=body.tags, paused=body.paused)
        if body.tags is not None:
            await tx.log("monitors.tag", str(product_id), {"tags": body.tags})
        await _log_pause(tx, product_id, body.paused)
        return web.answer(changed)


async def _log_pause(tx: web.Transaction, target: UUID, paused: bool | None) -> None:
    if paused is not None:
        await tx.log("monitors.pause" if paused else "monitors.resume", str(target))


@routes.post(
    "/v1/monitors/products/{product_id}/check",
    operation_id="monitors.check",
    summary="Look at it now",
    status_code=202,
    openapi_extra=WRITE,
)
async def check(tenant: web.Tenant, product_id: UUID, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        await tx.log("monitors.check", str(product_id))
        return _accepted(await service.check(tx, product_id))

    return await tenant.once(idempotency_key, operate)


@routes.put(
    "/v1/monitors/products/{product_id}/selector",
    operation_id="monitors.put_selector",
    summary="Say where the price stands",
    openapi_extra=WRITE,
)
async def put_selector(tenant: web.Tenant, product_id: UUID, body: SelectorRequest) -> web.Response:
    async with tenant.transaction() as tx:
        changed = await service.change_product(
            tx, product_id, selector=body.selector, forget_selector=body.selector is None
        )
        await tx.log("monitors.selector", str(product_id), {"selector": body.selector})
        return web.answer(changed)


@routes.post(
    "/v1/monitors/products/{product_id}/selector/test",
    operation_id="monitors.test_selector",
    summary="What a selector finds on the page that was kept",
    openapi_extra=WRITE,
)
async def test_selector(tenant: web.Tenant, product_id: UUID, body: SelectorTest) -> web.Response:
    async with tenant.transaction() as tx:
        job_id = await service.try_selector(tx, product_id, body.selector)
    return await _result(tenant, job_id)


@routes.get(
    "/v1/monitors/products/{product_id}/history",
    operation_id="monitors.history",
    summary="What it cost, the newest first",
    openapi_extra=READ,
)
async def history(
    tenant: web.Tenant,
    product_id: UUID,
    granularity: Literal["raw", "day", "month"] = "raw",
    variant: Annotated[str, Query(max_length=200)] = "",
    since: Annotated[datetime | None, Query(alias="from")] = None,
    until: Annotated[datetime | None, Query(alias="to")] = None,
    limit: Limit = 1000,
) -> web.Response:
    async with tenant.transaction() as tx:
        found = await service.history(
            tx, product_id, granularity=granularity, variant=variant, since=since, until=until, limit=limit
        )
    return web.answer({"data": found})


# -- changes, rules, groups -------------------------------------------------------------------------------------


@routes.get(
    "/v1/monitors/changes", operation_id="monitors.changes", summary="The newest changes first", openapi_extra=READ
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
    last = f"{found[-1]['at'].isoformat()}/{found[-1]['change_id']}" if len(found) == limit else None
    return web.answer({"data": found, "next": last})


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
    summary="Tell when a change is like this",
    status_code=201,
    openapi_extra=WRITE,
)
async def put_rule(tenant: web.Tenant, body: RuleRequest) -> web.Response:
    async with tenant.transaction() as tx:
        made = await service.put_rule(tx, tenant.tenant_id, **body.model_dump())
        await tx.log("monitors.put_rule", str(made["rule_id"]), {"name": made["name"]})
        return web.answer(made, status=201)


@routes.get("/v1/monitors/rules", operation_id="monitors.rules", summary="All rules", openapi_extra=READ)
async def rules(tenant: web.Tenant) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer({"data": await service.list_rules(tx)})


@routes.delete(
    "/v1/monitors/rules/{rule_id}",
    operation_id="monitors.remove_rule",
    summary="Remove a rule",
    status_code=204,
    openapi_extra=WRITE,
)
async def remove_rule(tenant: web.Tenant, rule_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        await service.remove_rule(tx, rule_id)
        await tx.log("monitors.remove_rule", str(rule_id))
    return web.Response(status_code=204)


@routes.get(
    "/v1/monitors/groups",
    operation_id="monitors.groups",
    summary="Things that are sold at more than one place",
    openapi_extra=READ,
)
async def groups(tenant: web.Tenant, limit: Limit = 100) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer({"data": await service.list_groups(tx, limit=limit)})


@routes.get(
    "/v1/monitors/groups/{group_id}/compare",
    operation_id="monitors.compare",
    summary="One thing at all its places, the cheapest first",
    openapi_extra=READ,
)
async def compare(tenant: web.Tenant, group_id: UUID) -> web.Response:
    async with tenant.transaction() as tx:
        return web.answer(await service.compare_group(tx, group_id))


async def _result(tenant: Any, job_id: UUID) -> web.Response:
    """What a short job says; where it takes longer, 202 and where to ask for it."""
    try:
        job = await tenant.client.wait(job_id, timeout=_PATIENCE_S)
    except TimeoutError:
        return _accepted(job_id).response()
    if job.state != "succeeded":
        raise BadInput((job.error or {}).get("message") or f"the job is {job.state}")
    return web.answer(job.result)


def _accepted(job_id: UUID) -> web.Answer:
    return web.Answer(status=202, value={"job_id": job_id}, headers={"Location": f"/v1/jobs/{job_id}"})


def _place(cursor: str | None) -> tuple[datetime, UUID] | None:
    if cursor is None:
        return None
    at, _, change_id = cursor.partition("/")
    try:
        return datetime.fromisoformat(at), UUID(change_id)
    except ValueError:
        raise BadInput("this is no cursor", hint="use next of the page before, as it was") from None
