"""What the dashboard shows of products: changes, sites in trouble, approvals, products and charts, groups, rules."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from leasehold import web
from leasehold.errors import BadInput, LeaseholdError
from leasehold_packs.monitors import chart, feeds, service, site_setup
from leasehold_packs.monitors.model import Search
from leasehold_packs.monitors.model_results import OfferChange, Site

pages = web.pages("monitors", title="Products", templates="leasehold_packs.monitors")
_LIMIT = 50
_CANDIDATES = 200
KINDS = ("price", "currency", "availability", "gone", "returned")
STATES = ("active", "needs_attention", "gone", "paused")
#: States of these things as the dashboard colours those that its own things do not have.
COLOURS = {"new": "queued", "active": "enabled", "needs_attention": "errored", "gone": "ended", "blocked": "failed"}
#: Settings of a site that its page changes.
_SETTINGS = {"cron": str, "zone": str, "spread_minutes": int, "quiet": str, "requests_per_minute": int,
             "threshold_percent": float, "retention_days": int}  # fmt: skip


@pages.get("/monitors", "jobs:read", live=True)
async def overview(look: web.Look) -> web.Page:
    return await _overview(look)


async def _overview(look: web.Look, problem: LeaseholdError | None = None) -> web.Page:
    async with look.tenant.transaction() as tx:
        changes = await service.list_changes(tx, told=True, limit=_LIMIT)
        sites = await service.list_sites(tx)
        attention = await service.list_products(tx, state="needs_attention", limit=_LIMIT)
        queues = await service.list_queues(tx)
    day_ago = datetime.now(UTC) - timedelta(days=1)
    today = [one for one in changes if one.at >= day_ago]
    drops = sorted((one for one in today if (one.percent or 0) < 0), key=lambda one: one.percent or 0)[:5]
    return look.show(
        "monitors.html",
        live=problem is None,
        problem=problem,
        url_given=look.said("url"),
        changes=_with_words(changes[:20]),
        drops=_with_words(drops),
        sites=sites,
        troubled=[one for one in sites if _trouble(one)],
        attention=attention,
        waiting=sum(one.waiting for one in queues),
        colours=COLOURS,
    )


@pages.post("/monitors", "jobs:write")
async def watch(look: web.Look) -> web.Response | web.Page:
    try:
        async with look.tenant.transaction() as tx:
            product = await service.watch(tx, look.tenant.tenant_id, look.said("url")[:2000])
            site = await service.get_site(tx, product.site_id)
            await tx.log("monitors.watch", str(product.product_id), {"url": product.url})
    except BadInput as problem:
        return await _overview(look, problem)
    await site_setup.arrange(look.tenant, site)
    return look.go(look.url(f"/monitors/products/{product.product_id}"), "It is being looked at.")


# -- changes ------------------------------------------------------------------------------------------------------


@pages.get("/monitors/changes", "jobs:read", live=True)
async def changes(look: web.Look) -> web.Page:
    kind = look.query("kind") if look.query("kind") in KINDS else None
    before = _place(look.query("before"))
    async with look.tenant.transaction() as tx:
        found = await service.list_changes(tx, state=None, kind=kind, before=before, limit=_LIMIT + 1)
    last = found[_LIMIT - 1] if len(found) > _LIMIT else None
    return look.show(
        "monitors_changes.html",
        live=before is None,
        changes=_with_words(found[:_LIMIT]),
        kind=kind or "",
        kinds=KINDS,
        first=before is None,
        older=f"{last.at.isoformat()}/{last.change_id}" if last else None,
    )


# -- approvals ----------------------------------------------------------------------------------------------------


@pages.get("/monitors/approvals", "jobs:read", live=True)
async def approvals(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await service.list_queues(tx)
    return look.show("monitors_approvals.html", live=True, queues=found)


@pages.post("/monitors/sites/{site_id}/approve", "jobs:write")
async def approve(look: web.Look) -> web.Response:
    return await _decide(look, approve=True)


@pages.post("/monitors/sites/{site_id}/reject", "jobs:write")
async def reject(look: web.Look) -> web.Response:
    return await _decide(look, approve=False)


async def _decide(look: web.Look, *, approve: bool) -> web.Response:
    """Those that were ticked; of none, none."""
    site_id = look.path_id("site_id")
    ticked = [id_of(text) for text in look.form.getlist("candidate")]
    async with look.tenant.transaction() as tx:
        count = await service.decide(
            tx, look.tenant.tenant_id, site_id, approve=approve, by=look.tenant.actor, candidates=ticked
        )
        await tx.log("monitors.approve" if approve else "monitors.reject", str(site_id), {"candidates": count})
    return look.go(look.url(f"/monitors/sites/{site_id}"), f"{count} {'approved' if approve else 'rejected'}.")


# -- sites --------------------------------------------------------------------------------------------------------


@pages.get("/monitors/sites/{site_id}", "jobs:read", live=True)
async def site(look: web.Look) -> web.Page:
    return await _site(look)


async def _site(look: web.Look, problem: LeaseholdError | None = None) -> web.Page:
    site_id = look.path_id("site_id")
    async with look.tenant.transaction() as tx:
        return look.show(
            "monitors_site.html",
            live=problem is None,
            own_tenant=True,
            problem=problem,
            site=await service.get_site(tx, site_id),
            candidates=await service.list_candidates(tx, site_id, limit=_CANDIDATES),
            products=await service.list_products(tx, site_id=site_id, limit=200),
            runs=await service.list_runs(tx, site_id, limit=10),
            colours=COLOURS,
        )


@pages.post("/monitors/sites/{site_id}/discover", "jobs:write")
async def discover(look: web.Look) -> web.Response:
    site_id = look.path_id("site_id")
    async with look.tenant.transaction() as tx:
        await service.search(tx, look.tenant.tenant_id, site_id, Search())
        await tx.log("monitors.discover", str(site_id))
    return look.go(look.url(f"/monitors/sites/{site_id}"), "Products are being looked for.")


@pages.post("/monitors/sites/{site_id}/crawl", "jobs:write")
async def crawl(look: web.Look) -> web.Response:
    site_id = look.path_id("site_id")
    async with look.tenant.transaction() as tx:
        await service.crawl(tx, site_id)
        await tx.log("monitors.crawl", str(site_id))
    return look.go(look.url(f"/monitors/sites/{site_id}"), "All products are being checked.")


@pages.post("/monitors/sites/{site_id}/paused", "jobs:write")
async def pause_site(look: web.Look) -> web.Response:
    site_id, paused = look.path_id("site_id"), look.said("paused") == "yes"
    async with look.tenant.transaction() as tx:
        changed = await service.change_site(tx, site_id, paused=paused)
        await tx.log("monitors.pause" if paused else "monitors.resume", str(site_id))
    await site_setup.arrange(look.tenant, changed)
    return look.go(look.url(f"/monitors/sites/{site_id}"), "It is left alone." if paused else "It is watched again.")


@pages.post("/monitors/sites/{site_id}/settings", "jobs:write")
async def change_site(look: web.Look) -> web.Response | web.Page:
    site_id = look.path_id("site_id")
    try:
        given = {name: _setting(type_, look.said(name)) for name, type_ in _SETTINGS.items()}
        async with look.tenant.transaction() as tx:
            changed = await service.change_site(tx, site_id, settings=given)
            await tx.log("monitors.settings", str(site_id), given)
    except BadInput as problem:
        return await _site(look, problem)
    await site_setup.arrange(look.tenant, changed)
    return look.go(look.url(f"/monitors/sites/{site_id}"), "The settings are changed.")


@pages.get("/monitors/sites/{site_id}/remove", "jobs:write")
async def confirm_remove(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await service.get_site(tx, look.path_id("site_id"))
    return look.confirm(
        f"Forget {found.url}?",
        words=_gone_with_it(found.products),
        action=look.url(f"/monitors/sites/{found.site_id}/remove"),
        back=look.url(f"/monitors/sites/{found.site_id}"),
        button="Forget the site",
        danger=True,
    )


def _gone_with_it(products: int) -> str:
    one = "Its 1 product goes with what was seen of it."
    return one if products == 1 else f"Its {products:,} products go with what was seen of them."


@pages.post("/monitors/sites/{site_id}/remove", "jobs:write")
async def remove_site(look: web.Look) -> web.Response:
    site_id = look.path_id("site_id")
    async with look.tenant.transaction() as tx:
        await service.remove_site(tx, site_id)
        await tx.log("monitors.forget", str(site_id))
    await site_setup.clear(look.tenant, site_id)
    return look.go(look.url("/monitors"), "The site is forgotten.")


# -- products -----------------------------------------------------------------------------------------------------


@pages.get("/monitors/products", "jobs:read", live=True)
async def products(look: web.Look) -> web.Page:
    state = look.query("state") if look.query("state") in STATES else None
    after = id_of(look.query("after")) if look.query("after") else None
    async with look.tenant.transaction() as tx:
        found = await service.list_products(
            tx, state=state, query=look.query("q")[:200] or None, tag=look.query("tag") or None, after=after,
            limit=_LIMIT + 1,
        )  # fmt: skip
    return look.show(
        "monitors_products.html",
        live=after is None,
        products=found[:_LIMIT],
        q=look.query("q"),
        tag=look.query("tag"),
        state=state or "",
        states=STATES,
        first=after is None,
        next_after=found[_LIMIT - 1].product_id if len(found) > _LIMIT else None,
        colours=COLOURS,
    )


@pages.get("/monitors/products/{product_id}", "jobs:read", live=True)
async def product(look: web.Look) -> web.Page:
    product_id = look.path_id("product_id")
    async with look.tenant.transaction() as tx:
        found = await service.get_product(tx, product_id)
        seen = await service.list_observations(tx, product_id, limit=500)
        changes = await service.list_changes(tx, product_id=product_id, state=None, limit=_LIMIT)
    return look.show(
        "monitors_product.html",
        live=True,
        own_tenant=True,
        product=found,
        seen=seen[:_LIMIT],
        chart=chart.of(seen, until=datetime.now(UTC)),
        changes=_with_words(changes),
        colours=COLOURS,
    )


@pages.post("/monitors/products/{product_id}/check", "jobs:write")
async def check(look: web.Look) -> web.Response:
    async with look.tenant.transaction() as tx:
        job_id = await service.check(tx, look.path_id("product_id"))
        await tx.log("monitors.check", str(look.path_id("product_id")))
    return look.go(look.url(f"/jobs/{job_id}"), "It is being looked at.")


@pages.post("/monitors/products/{product_id}/paused", "jobs:write")
async def pause_product(look: web.Look) -> web.Response:
    product_id, paused = look.path_id("product_id"), look.said("paused") == "yes"
    async with look.tenant.transaction() as tx:
        await service.change_product(tx, product_id, paused=paused)
        await tx.log("monitors.pause" if paused else "monitors.resume", str(product_id))
    words = "It is left alone." if paused else "It is watched again."
    return look.go(look.url(f"/monitors/products/{product_id}"), words)


@pages.post("/monitors/products/{product_id}/try", "jobs:write")
async def try_selector(look: web.Look) -> web.Response:
    """The job's page shows what the selector finds on the page that was kept."""
    async with look.tenant.transaction() as tx:
        job_id = await service.try_selector(tx, look.path_id("product_id"), look.said("selector")[:500])
    return look.go(look.url(f"/jobs/{job_id}"), "The selector is being tried on the page that was kept.")


@pages.post("/monitors/products/{product_id}/selector", "jobs:write")
async def put_selector(look: web.Look) -> web.Response:
    product_id, selector = look.path_id("product_id"), look.said("selector")[:500]
    async with look.tenant.transaction() as tx:
        await service.change_product(tx, product_id, selector=selector or None, forget_selector=not selector)
        await service.check(tx, product_id)
        await tx.log("monitors.selector", str(product_id), {"selector": selector or None})
    words = "Its price is read there from now on." if selector else "Its price is read as it was before."
    return look.go(look.url(f"/monitors/products/{product_id}"), words)


# -- words --------------------------------------------------------------------------------------------------------


def _with_words(changes: list[OfferChange]) -> list[tuple[OfferChange, str]]:
    return [(one, feeds.sentence(one)) for one in changes]


def _trouble(site: Site) -> bool:
    is_warned = site.tested and site.tested.get("warnings")
    return bool((site.health and site.health.get("trouble")) or is_warned)


def _setting(type_: type, text: str) -> Any:
    if not text:
        return None if type_ is str else 0
    try:
        return type_(text)
    except ValueError:
        raise BadInput(f"{text[:50]!r} is not a number") from None


def id_of(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise web.Problem("not_found", "there is no such thing") from None


def _place(text: str) -> tuple[datetime, UUID] | None:
    """The moment and the id after which an older page begins."""
    if not text:
        return None
    at, _, change_id = text.partition("/")
    try:
        found = datetime.fromisoformat(at.replace(" ", "+"))
    except ValueError:
        raise web.Problem("not_found", "there is no such page") from None
    return found, id_of(change_id)
