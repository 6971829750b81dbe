"""What the dashboard shows of products: changes, sites in trouble, the queue of approvals, a product and its chart."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from leasehold import web
from leasehold_packs.monitors import arranging, chart, feeds, requests
from leasehold_packs.monitors.options import Search

pages = web.pages("monitors", title="Products", templates="leasehold_packs.monitors")


@pages.get("/monitors", "jobs:read", live=True)
async def overview(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        changes = await requests.list_changes(tx, told=True, limit=50)
        sites = await requests.list_sites(tx)
        attention = await requests.list_products(tx, state="needs_attention", limit=50)
    day_ago = datetime.now(UTC) - timedelta(days=1)
    today = [one for one in changes if one["at"] >= day_ago]
    drops = sorted((one for one in today if (one["percent"] or 0) < 0), key=lambda one: one["percent"])[:5]
    return look.show(
        "monitors.html",
        changes=[one | {"words": feeds.sentence(one)} for one in changes],
        drops=[one | {"words": feeds.sentence(one)} for one in drops],
        sites=sites,
        attention=attention,
    )


@pages.post("/monitors", "jobs:write")
async def watch(look: web.Look) -> web.Response:
    async with look.tenant.transaction() as tx:
        product = await requests.watch(tx, look.tenant.tenant_id, look.said("url"))
        site = await requests.get_site(tx, product["site_id"])
    await arranging.arrange(look.tenant.client, site)
    return look.go(look.url(f"/monitors/products/{product['product_id']}"), "It is being looked at.")


@pages.get("/monitors/sites/{site_id}", "jobs:read", live=True)
async def site(look: web.Look) -> web.Page:
    site_id = look.path_id("site_id")
    async with look.tenant.transaction() as tx:
        return look.show(
            "monitored_site.html",
            site=await requests.get_site(tx, site_id),
            candidates=await requests.list_candidates(tx, site_id, limit=200),
            products=await requests.list_products(tx, site_id=site_id, limit=200),
            runs=await requests.list_runs(tx, site_id, limit=10),
        )


@pages.post("/monitors/sites/{site_id}/discover", "jobs:write")
async def discover(look: web.Look) -> web.Response:
    site_id = look.path_id("site_id")
    async with look.tenant.transaction() as tx:
        await requests.search(tx, look.tenant.tenant_id, site_id, Search())
    return look.go(look.url(f"/monitors/sites/{site_id}"), "Products are being looked for.")


@pages.post("/monitors/sites/{site_id}/crawl", "jobs:write")
async def crawl(look: web.Look) -> web.Response:
    site_id = look.path_id("site_id")
    async with look.tenant.transaction() as tx:
        await requests.crawl(tx, site_id)
    return look.go(look.url(f"/monitors/sites/{site_id}"), "All products are being checked.")


@pages.post("/monitors/sites/{site_id}/approve", "jobs:write")
async def approve(look: web.Look) -> web.Response:
    return await _decide(look, approve=True)


@pages.post("/monitors/sites/{site_id}/reject", "jobs:write")
async def reject(look: web.Look) -> web.Response:
    return await _decide(look, approve=False)


@pages.get("/monitors/products/{product_id}", "jobs:read", live=True)
async def product(look: web.Look) -> web.Page:
    product_id = look.path_id("product_id")
    async with look.tenant.transaction() as tx:
        found = await requests.get_product(tx, product_id)
        seen = await requests.history(tx, product_id, limit=500)
        changes = await requests.list_changes(tx, product_id=product_id, state=None, limit=50)
    return look.show(
        "monitored_product.html",
        product=found,
        seen=seen[:50],
        chart=chart.of(seen, until=datetime.now(UTC)),
        changes=[one | {"words": feeds.sentence(one)} for one in changes],
    )


@pages.post("/monitors/products/{product_id}/check", "jobs:write")
async def check(look: web.Look) -> web.Response:
    async with look.tenant.transaction() as tx:
        job_id = await requests.check(tx, look.path_id("product_id"))
    return look.go(look.url(f"/jobs/{job_id}"), "It is being looked at.")


@pages.post("/monitors/products/{product_id}/try", "jobs:write")
async def try_selector(look: web.Look) -> web.Response:
    """The job's page shows what the selector finds on the page that was kept."""
    async with look.tenant.transaction() as tx:
        job_id = await requests.try_selector(tx, look.path_id("product_id"), look.said("selector")[:500])
    return look.go(look.url(f"/jobs/{job_id}"), "The selector is being tried on the page that was kept.")


@pages.post("/monitors/products/{product_id}/selector", "jobs:write")
async def put_selector(look: web.Look) -> web.Response:
    product_id, selector = look.path_id("product_id"), look.said("selector")[:500]
    async with look.tenant.transaction() as tx:
        await requests.change_product(tx, product_id, selector=selector or None, forget_selector=not selector)
        await requests.check(tx, product_id)
    return look.go(look.url(f"/monitors/products/{product_id}"), "Its price is read there from now on.")


async def _decide(look: web.Look, *, approve: bool) -> web.Response:
    """Those that were ticked; of none, none."""
    site_id = look.path_id("site_id")
    ticked = [UUID(text) for text in look.form.getlist("candidate")]
    async with look.tenant.transaction() as tx:
        count = await requests.decide(
            tx, look.tenant.tenant_id, site_id, approve=approve, by=look.tenant.actor, candidates=ticked
        )
    return look.go(look.url(f"/monitors/sites/{site_id}"), f"{count} {'approved' if approve else 'rejected'}.")
