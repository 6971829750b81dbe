"""What the dashboard shows of products: changes, sites in trouble, approvals, products and charts, groups, rules."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from leasehold import web
from leasehold.errors import BadInput, LeaseholdError
from leasehold_packs.monitors import chart, feeds, service, site_setup
from leasehold_packs.monitors.model import Search

pages = web.pages("monitors", title="Products", templates="leasehold_packs.monitors")
_LIMIT = 50
_CANDIDATES = 200
KINDS = ("price", "currency", "availability", "gone", "returned")
STATES = ("active", "needs_attention", "gone", "paused")
#: What a rule can be about, in words.
CONDITIONS = {
    "percent": "the price changes by so many percent",
    "absolute": "the price changes by so much",
    "target": "the price falls to this, or below",
    "back_in_stock": "it is in stock again",
    "new_low": "it costs less than ever before",
}
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
    today = [one for one in changes if one["at"] >= day_ago]
    drops = sorted((one for one in today if (one["percent"] or 0) < 0), key=lambda one: one["percent"])[:5]
    return look.show(
        "monitors.html",
        live=problem is None,
        problem=problem,
        url_given=look.said("url"),
        changes=_told(changes[:20]),
        drops=_told(drops),
        sites=sites,
        troubled=[one for one in sites if _trouble(one)],
        attention=attention,
        waiting=sum(one["waiting"] for one in queues),
        colours=COLOURS,
    )


@pages.post("/monitors", "jobs:write")
async def watch(look: web.Look) -> web.Response | web.Page:
    try:
        async with look.tenant.transaction() as tx:
            product = await service.watch(tx, look.tenant.tenant_id, look.said("url")[:2000])
            site = await service.get_site(tx, product["site_id"])
            await tx.log("monitors.watch", str(product["product_id"]), {"url": product["url"]})
    except BadInput as problem:
        return await _overview(look, problem)
    await site_setup.arrange(look.tenant.client, site)
    return look.go(look.url(f"/monitors/products/{product['product_id']}"), "It is being looked at.")


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
        changes=_told(found[:_LIMIT]),
        kind=kind or "",
        kinds=KINDS,
        first=before is None,
        older=f"{last['at'].isoformat()}/{last['change_id']}" if last else None,
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
    ticked = [_id(text) for text in look.form.getlist("candidate")]
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
    await site_setup.arrange(look.tenant.client, changed)
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
    await site_setup.arrange(look.tenant.client, changed)
    return look.go(look.url(f"/monitors/sites/{site_id}"), "The settings are changed.")


@pages.get("/monitors/sites/{site_id}/remove", "jobs:write")
async def confirm_remove(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await service.get_site(tx, look.path_id("site_id"))
    return look.confirm(
        f"Forget {found['url']}?",
        words=_gone_with_it(found["products"]),
        action=look.url(f"/monitors/sites/{found['site_id']}/remove"),
        back=look.url(f"/monitors/sites/{found['site_id']}"),
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
    await site_setup.clear(look.tenant.client, site_id)
    return look.go(look.url("/monitors"), "The site is forgotten.")


# -- products -----------------------------------------------------------------------------------------------------


@pages.get("/monitors/products", "jobs:read", live=True)
async def products(look: web.Look) -> web.Page:
    state = look.query("state") if look.query("state") in STATES else None
    after = _id(look.query("after")) if look.query("after") else None
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
        next_after=found[_LIMIT - 1]["product_id"] if len(found) > _LIMIT else None,
        colours=COLOURS,
    )


@pages.get("/monitors/products/{product_id}", "jobs:read", live=True)
async def product(look: web.Look) -> web.Page:
    product_id = look.path_id("product_id")
    async with look.tenant.transaction() as tx:
        found = await service.get_product(tx, product_id)
        seen = await service.history(tx, product_id, limit=500)
        changes = await service.list_changes(tx, product_id=product_id, state=None, limit=_LIMIT)
    return look.show(
        "monitors_product.html",
        live=True,
        own_tenant=True,
        product=found,
        seen=seen[:_LIMIT],
        chart=chart.of(seen, until=datetime.now(UTC)),
        changes=_told(changes),
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


# -- groups and rules ---------------------------------------------------------------------------------------------


@pages.get("/monitors/groups", "jobs:read")
async def groups(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        return look.show("monitors_groups.html", groups=await service.list_groups(tx))


@pages.get("/monitors/groups/{group_id}", "jobs:read")
async def group(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await service.compare_group(tx, look.path_id("group_id"))
    return look.show("monitors_group.html", own_tenant=True, group=found, colours=COLOURS)


@pages.get("/monitors/rules", "jobs:read")
async def rules(look: web.Look) -> web.Page:
    return await _rules(look)


async def _rules(look: web.Look, problem: LeaseholdError | None = None) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await service.list_rules(tx)
        sites = {one["site_id"]: one["url"] for one in await service.list_sites(tx)}
    return look.show(
        "monitors_rules.html",
        rules=[one | {"words": _rule_words(one)} for one in found],
        sites=sites,
        conditions=CONDITIONS,
        given={name: look.said(name) for name in _RULE},
        problem=problem,
    )


@pages.post("/monitors/rules", "jobs:write")
async def put_rule(look: web.Look) -> web.Response | web.Page:
    given: dict[str, Any] = {name: look.said(name)[:200] or None for name in _RULE}
    try:
        if not given["name"]:
            raise BadInput("a rule needs a name")
        async with look.tenant.transaction() as tx:
            made = await service.put_rule(
                tx, look.tenant.tenant_id, name=given["name"], condition=given["condition"] or "",
                value=_amount(given["value"]), currency=_currency(given["currency"]),
                direction=given["direction"] or "both",
                site_id=_id(given["site_id"]) if given["site_id"] else None, tag=given["tag"], brand=given["brand"],
            )  # fmt: skip
            await tx.log("monitors.put_rule", str(made["rule_id"]), {"name": made["name"]})
    except LeaseholdError as problem:
        return await _rules(look, problem)
    return look.go(look.url("/monitors/rules"), f"From now on you are told: {made['name']}.")


@pages.get("/monitors/rules/{rule_id}/remove", "jobs:write")
async def confirm_remove_rule(look: web.Look) -> web.Page:
    rule_id = look.path_id("rule_id")
    async with look.tenant.transaction() as tx:
        found = next((one for one in await service.list_rules(tx) if one["rule_id"] == rule_id), None)
    if found is None:
        raise web.Problem("not_found", "there is no such rule")
    return look.confirm(
        f"Remove the rule {found['name']}?",
        words=f"It has told of {found['alerts']:,} changes so far, and tells of no more.",
        action=look.url(f"/monitors/rules/{rule_id}/remove"),
        back=look.url("/monitors/rules"),
        button="Remove the rule",
        danger=True,
    )


@pages.post("/monitors/rules/{rule_id}/remove", "jobs:write")
async def remove_rule(look: web.Look) -> web.Response:
    async with look.tenant.transaction() as tx:
        await service.remove_rule(tx, look.path_id("rule_id"))
        await tx.log("monitors.remove_rule", str(look.path_id("rule_id")))
    return look.go(look.url("/monitors/rules"), "The rule is gone.")


# -- words --------------------------------------------------------------------------------------------------------

_RULE = ("name", "condition", "value", "currency", "direction", "site_id", "tag", "brand")


def _told(changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one | {"words": feeds.sentence(one)} for one in changes]


def _trouble(site: dict[str, Any]) -> bool:
    warned = (site["tested"] or {}).get("warnings")
    return bool((site["health"] or {}).get("trouble") or warned or site["state"] == "blocked")


def _rule_words(rule: dict[str, Any]) -> str:
    words = CONDITIONS[rule["condition"]]
    if rule["value"] is not None:
        amount = f"{Decimal(rule['value']).normalize():f}"
        words += f": {amount} {rule['currency'] or '%'}"
    return words + ("" if rule["direction"] == "both" else f", {rule['direction']} only")


def _setting(type_: type, text: str) -> Any:
    if not text:
        return None if type_ is str else 0
    try:
        return type_(text)
    except ValueError:
        raise BadInput(f"{text[:50]!r} is not a number") from None


def _amount(text: str | None) -> Decimal | None:
    try:
        found = Decimal(text) if text else None
    except InvalidOperation:
        raise BadInput(f"{(text or '')[:50]!r} is not a number", hint="12.50") from None
    if found is not None and (not found.is_finite() or not 0 < found < 10**12):
        raise BadInput(f"{(text or '')[:50]!r} is no amount", hint="more than nothing, as in 12.50")
    return found


def _currency(text: str | None) -> str | None:
    if text is not None and not (len(text) == 3 and text.isascii() and text.isalpha()):
        raise BadInput(f"{text[:20]!r} is no currency", hint="three letters, as in EUR")
    return text.upper() if text else None


def _id(text: str) -> UUID:
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
    return found, _id(change_id)
