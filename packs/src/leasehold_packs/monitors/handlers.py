"""The kinds that watch products.

monitors.preview    a page, read once and kept nowhere
monitors.test       a site's first page: what it is made with, and whether it can be read
monitors.check      one product: fetched, read, compared, written
monitors.crawl      starts the run of a site → monitors.plan, which adds the checks → monitors.summary, when all ended
monitors.try        a selector on the page that was kept
monitors.reread     all pages that were kept, read by the rules of today

Those that find products are in ``discovery``, those that keep house in ``upkeep``.
"""

import json
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from typing_extensions import TypedDict

from leasehold import Cancel, Context, Fail, Fetched, Flow, Leasehold, Transaction, group
from leasehold.errors import FetchDisallowed, FetchError, NotFound
from leasehold_packs.monitors import store
from leasehold_packs.monitors.crawl import AGENT, MAX_BYTES, visit
from leasehold_packs.monitors.extract import Disagreement, FactRecord, Reading, read, with_feed
from leasehold_packs.monitors.model import Settings
from leasehold_packs.monitors.model_results import RunCounts, SiteTest
from leasehold_packs.monitors.record_check import record_check
from leasehold_packs.monitors.rows import Row, price_text
from leasehold_packs.monitors.schedule import moment_of
from leasehold_packs.monitors.store import CRAWL, gate_of
from leasehold_packs.webfacts.decode import decode
from leasehold_packs.webfacts.redacted import shown
from leasehold_packs.webfacts.robots_age import fresh_enough

app = Leasehold()

DISCOVERY, NOTIFICATION, MAINTENANCE = "monitors.discovery", "monitors.notification", "monitors.maintenance"
QUEUES = (CRAWL, DISCOVERY, NOTIFICATION, MAINTENANCE)
_STEPS = 500
#: Kept pages that are read in one transaction.
_PART = 100
_SHOWN = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewPayload:
    url: str
    selector: str | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePayload:
    site_id: UUID
    what: Literal["crawl", "baseline"] = "crawl"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPayload:
    run_id: UUID
    after: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPayload:
    product_id: UUID
    run_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TryPayload:
    product_id: UUID
    selector: str


class VariantReading(TypedDict):
    variant: str
    price: str | None
    currency: str | None
    availability: str | None


class ShopIdRecord(TypedDict):
    platform: str
    value: str
    method: str


class PageReading(TypedDict):
    """How a page is read."""

    readable: bool
    needs_script: bool
    price: str | None
    currency: str | None
    list_price: str | None
    availability: str | None
    how: dict[str, FactRecord]
    disagreements: list[Disagreement]
    shop_id: ShopIdRecord | None
    variants: list[VariantReading]


class Preview(PageReading):
    url: str


class Difference(TypedDict):
    """The facts of a product that would be others if its page were read today."""

    product_id: str
    url: str
    before: dict[str, FactRecord | None]
    after: dict[str, FactRecord | None]


class Reread(TypedDict):
    same: int
    lost: int
    differ: int
    products: list[Difference]


@app.handler("monitors.preview", queue=CRAWL, attempts=2, timeout=30, priority=1)
async def preview(ctx: Context, look: PreviewPayload) -> Preview:
    """How a page would be read."""
    try:
        fetched = await _fetch_page(ctx, look.url)
    except FetchDisallowed as problem:
        raise Fail(f"the site does not want it to be read: {problem.why}") from None
    if fetched.status != 200:
        raise Fail(f"{look.url} answered {fetched.status}")
    text = decode(fetched.body, content_type=fetched.header("content-type"))
    reading = read(text, url=fetched.url, selector=look.selector, currency=look.currency)
    return {**describe(reading), "url": shown(fetched.url)}


@app.handler("monitors.test", queue=CRAWL, attempts=3, timeout=60)
async def test(ctx: Context, site: SitePayload) -> SiteTest:
    """Read a site's first page, and say what stands in the way of watching it."""
    async with ctx.transaction() as tx:
        url = await tx.fetchval("select url from leasehold_monitors.site where site_id = $1", site.site_id)
    if url is None:
        raise Cancel("the site is gone")
    found: SiteTest = shown(await _tested(ctx, url))
    async with ctx.transaction() as tx:
        await tx.execute(
            "update leasehold_monitors.site set tested = $2 where site_id = $1", site.site_id, json.dumps(found)
        )
        return await tx.complete(found)


@app.handler("monitors.check", queue=CRAWL, attempts=4, retry=(60.0, 600.0), timeout=120)
async def check(ctx: Context, order: CheckPayload) -> str:
    """Look at one product."""
    async with ctx.transaction() as tx:
        watched = await store.load(tx, order.product_id, order.run_id)
    checked = await visit(ctx, watched)
    async with ctx.transaction() as tx:
        return await tx.complete(await record_check(tx, ctx.tenant_id, watched, checked, run_id=order.run_id))


@app.handler("monitors.crawl", queue=CRAWL)
async def crawl(ctx: Context, site: SitePayload) -> str | None:
    """Begin a run over the products of a site, unless one is under way."""
    async with ctx.transaction() as tx:
        state = await tx.fetchval(
            "select state from leasehold_monitors.site where site_id = $1 for update", site.site_id
        )
        if state is None or state == "paused":
            raise Cancel("nobody watches the site any more")
        if await tx.fetchval(
            "select exists (select from leasehold_monitors.run where site_id = $1 and finished_at is null"
            " and started_at > leasehold.now() - interval '2 days')",
            site.site_id,
        ):
            return await tx.complete(None)
        run_id = await tx.fetchval(
            "insert into leasehold_monitors.run (tenant_id, site_id, what) values ($1, $2, $3) returning run_id",
            ctx.tenant_id, site.site_id, site.what,
        )  # fmt: skip
        await _start(tx, run_id)
        return await tx.complete(str(run_id))


@app.handler("monitors.plan", queue=CRAWL, timeout=300)
async def plan(ctx: Context, run: RunPayload) -> int:
    """Give the products of a run their times, some hundred at once."""
    async with ctx.transaction() as tx:
        row = await tx.fetchrow(
            "select r.what, r.site_id, r.started_at, s.settings, leasehold.now() as now from leasehold_monitors.run r"
            " join leasehold_monitors.site s using (site_id) where run_id = $1",
            run.run_id,
        )
        if row is None:
            raise Cancel("the run is gone")
        settings = Settings(**json.loads(row["settings"]))
        products = [one["product_id"] for one in await _products(tx, row["site_id"], row["what"], run.after)]
        steps = []
        for product_id in products:
            at = row["now"] if row["what"] == "baseline" else moment_of(product_id, row["started_at"], settings)
            steps.append(
                check.step(
                    CheckPayload(product_id=product_id, run_id=run.run_id),
                    on_failure="continue",
                    delay=max(0.0, (at - row["now"]).total_seconds()),
                    gate=gate_of(row["site_id"]),
                )
            )
        if len(products) == _STEPS:
            steps.append(plan.step(RunPayload(run_id=run.run_id, after=products[-1])))
        if steps:
            await tx.add(group(steps))
        await tx.execute(
            "update leasehold_monitors.run set planned = planned + $2 where run_id = $1", run.run_id, len(products)
        )
        return await tx.complete(len(products))


@app.handler("monitors.summary", queue=NOTIFICATION)
async def summary(ctx: Context, run: RunPayload) -> RunCounts:
    """All checks of a run have ended: count them, and tell."""
    async with ctx.transaction() as tx:
        row = await tx.fetchrow("select * from leasehold_monitors.run where run_id = $1 for update", run.run_id)
        if row is None or row["finished_at"]:
            raise Cancel("the run is over")
        results = await tx.fetch(
            "select result, count(*) as n from leasehold_monitors.visit where run_id = $1 group by 1 order by 1",
            run.run_id,
        )
        counts: RunCounts = {"planned": row["planned"], "results": {one["result"]: one["n"] for one in results}}
        await tx.execute(
            "update leasehold_monitors.run set counts = $2, finished_at = leasehold.now() where run_id = $1",
            run.run_id, json.dumps(counts),
        )  # fmt: skip
        await tx.execute(
            "update leasehold_monitors.site set state = 'active' where site_id = $1 and state = 'new'", row["site_id"]
        )
        data = {**counts, "what": row["what"], "run_id": str(run.run_id)}
        await tx.emit("monitors.run_finished", "site", str(row["site_id"]), data)
        return await tx.complete(counts)


@app.handler("monitors.try", queue=CRAWL, attempts=2, timeout=30, priority=1)
async def try_selector(ctx: Context, order: TryPayload) -> PageReading:
    """What a selector finds on the page that was kept."""
    async with ctx.transaction() as tx:
        row = await tx.fetchrow(
            "select url, body, media_type, null::text as feed from leasehold_monitors.product where product_id = $1",
            order.product_id,
        )
    if row is None or row["body"] is None:
        raise Fail("no page of this product was kept yet: check it first")
    reading = await _kept(ctx, row, order.selector)
    if reading is None:
        raise Fail("the page that was kept is gone: check the product first")
    return describe(reading)


@app.handler("monitors.reread", queue=MAINTENANCE, timeout=3600)
async def reread(ctx: Context, site: SitePayload) -> Reread:
    """Read every page that was kept by the rules of today: whose offers would be others than they are."""
    same = lost = 0
    differ: list[Difference] = []
    after: UUID | None = None
    async with ctx.transaction() as tx:
        row = await tx.fetchval("select settings from leasehold_monitors.site where site_id = $1", site.site_id)
    settings = Settings(**json.loads(row or "{}"))
    while True:
        async with ctx.transaction() as tx:
            rows = await tx.fetch(
                "select * from leasehold_monitors.list_kept_pages($1, $2, $3)", site.site_id, after, _PART
            )
        for row in rows:
            reading = await _kept(ctx, row, row["selector"] or settings.selector, settings.currency)
            if reading is None:
                lost += 1
            elif reading.digest == row["facts_digest"]:
                same += 1
            else:
                differ.append(_difference(row, reading))
        if len(rows) < _PART:
            return {"same": same, "lost": lost, "differ": len(differ), "products": differ[:_SHOWN]}
        after = rows[-1]["product_id"]
        await ctx.progress(50, f"{same + lost + len(differ)} pages")


def describe(reading: Reading) -> PageReading:
    """A reading as people and programs see it."""
    main = reading.main
    shop = reading.shop_id
    return {
        "readable": reading.is_readable,
        "needs_script": reading.needs_script,
        "price": price_text(main.price, main.currency),
        "currency": main.currency,
        "list_price": price_text(main.list_price, main.currency),
        "availability": main.availability,
        "how": reading.facts["found"],
        "disagreements": reading.facts["disagreements"],
        "shop_id": {"platform": shop.platform, "value": shop.value, "method": shop.method} if shop else None,
        "variants": [
            {
                "variant": one.variant,
                "price": price_text(one.price, one.currency),
                "currency": one.currency,
                "availability": one.availability,
            }
            for one in reading.offers[1:]
        ],
    }


async def _start(tx: Transaction, run_id: UUID) -> None:
    flow = Flow("monitors.crawl")
    planned = flow.add("monitors.plan", {"run_id": str(run_id)}, name="plan", queue=CRAWL)
    flow.add(
        "monitors.summary", {"run_id": str(run_id)}, name="summary", after=planned, on_failure="continue",
        queue=NOTIFICATION,
    )  # fmt: skip
    flow_id = await tx.start(flow)
    await tx.execute("update leasehold_monitors.run set flow_id = $2 where run_id = $1", run_id, flow_id)


async def _products(tx: Transaction, site_id: UUID, what: str, after: UUID | None) -> list[Any]:
    return await tx.fetch(
        "select product_id from leasehold_monitors.list_products_to_check($1, $2, $3, $4) as product_id",
        site_id, what, after, _STEPS,
    )  # fmt: skip


async def _fetch_page(ctx: Context, url: str) -> Fetched:
    return await ctx.fetch(url, polite=True, rules_since=await fresh_enough(ctx), agent=AGENT, max_bytes=MAX_BYTES)


async def _tested(ctx: Context, url: str) -> SiteTest:
    try:
        fetched = await _fetch_page(ctx, url)
    except FetchDisallowed as problem:
        return {"readable": False, "warnings": [f"the site does not want it to be read: {problem.why}"]}
    except FetchError as problem:
        if problem.transient and ctx.attempt < ctx.max_attempts:
            raise
        return {"readable": False, "warnings": [str(problem)]}
    if fetched.status != 200:
        return {"readable": False, "status": fetched.status, "warnings": [f"it answered {fetched.status}"]}
    reading = read(decode(fetched.body, content_type=fetched.header("content-type")), url=fetched.url)
    warnings = []
    if reading.needs_script:
        warnings.append("its pages are made by a script in the browser: prices cannot be read from them")
    if reading.is_challenge:
        warnings.append("it asks whether a person is there, instead of showing a page")
    return {
        "readable": not warnings,
        "status": fetched.status,
        "platform": str(reading.platform or "generic"),
        "needs_script": reading.needs_script,
        "warnings": warnings,
    }


async def _kept(ctx: Context, row: Any, selector: str | None, currency: str | None = None) -> Reading | None:
    try:
        body = await ctx.bodies.get(row["body"])
        feed = json.loads(await ctx.bodies.get(row["feed"])) if row["feed"] else None
    except NotFound:
        return None
    text = decode(body, content_type=row["media_type"])
    reading = read(text, url=row["url"], selector=selector, currency=currency)
    return with_feed(reading, feed, url=row["url"], currency=currency) if feed else reading


def _difference(row: Row, reading: Reading) -> Difference:
    before = json.loads(row["facts"] or "{}").get("found", {})
    after = reading.facts["found"]
    names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    return {
        "product_id": str(row["product_id"]),
        "url": shown(row["url"]),
        "before": {name: before.get(name) for name in names},
        "after": {name: after.get(name) for name in names},
    }
