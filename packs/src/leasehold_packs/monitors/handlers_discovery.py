"""The kinds that find products.

monitors.discover → monitors.look, which adds the pages it finds → monitors.gather, once when none is left
What looks like a product becomes a candidate; nobody watches it before a person has approved it.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from urllib.parse import urlsplit
from uuid import UUID

from leasehold import AttemptTransaction, Cancel, Context, Flow, Transaction, group
from leasehold.errors import FetchDisallowed, FetchError
from leasehold_packs.monitors.crawl import AGENT, MAX_BYTES, page_key
from leasehold_packs.monitors.extract import Reading, read
from leasehold_packs.monitors.handlers import DISCOVERY, NOTIFICATION, app, describe
from leasehold_packs.monitors.model import Search, Settings
from leasehold_packs.monitors.store import gate_of
from leasehold_packs.webfacts.decode import decode
from leasehold_packs.webfacts.page import read_page
from leasehold_packs.webfacts.redacted import shown
from leasehold_packs.webfacts.sitemap_walk import Listed, sitemap_pages
from leasehold_packs.webfacts.url_key import plain_url

#: Below this a page is not proposed, but its links are followed.
LEAST = 0.4
_STRUCTURED = ("json-ld", "microdata")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPayload:
    search_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePayload:
    """``key`` is that of its row, in hexadecimal digits: an address may carry a secret, and jobs are shown."""

    search_id: UUID
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningSearch:
    """A search as its pages need it."""

    search_id: UUID
    site_id: UUID
    root: str
    options: Search
    settings: Settings
    begun_at: datetime

    @classmethod
    async def load(cls, tx: Transaction, search_id: UUID) -> "RunningSearch":
        row = await tx.fetchrow("select * from leasehold_monitors.load_search($1)", search_id)
        if row is None or row["finished_at"]:
            raise Cancel("the search is over")
        return cls(
            search_id=search_id,
            site_id=row["site_id"],
            root=row["url"],
            options=Search(**json.loads(row["options"])),
            settings=Settings(**json.loads(row["settings"])),
            begun_at=row["created_at"],
        )

    def covers(self, url: str) -> bool:
        """Whether a page belongs to the search: of the same host, and of the right paths."""
        here, there = urlsplit(self.root), urlsplit(url)
        path = there.path or "/"
        return (
            there.scheme in ("http", "https")
            and there.netloc == here.netloc
            and (not self.options.include or any(fnmatchcase(path, one) for one in self.options.include))
            and not any(fnmatchcase(path, one) for one in self.options.exclude)
        )


def search_flow(search_id: UUID) -> Flow:
    """The steps of a search; pages that fail do not keep it from ending."""
    order = {"search_id": str(search_id)}
    flow = Flow("monitors.search")
    begun = flow.add("monitors.discover", order, name="discover", queue=DISCOVERY)
    flow.add("monitors.gather", order, name="gather", after=begun, on_failure="continue", queue=NOTIFICATION)
    return flow


@app.handler("monitors.discover", queue=DISCOVERY, attempts=3, timeout=600)
async def discover(ctx: Context, order: SearchPayload) -> int:
    """Where to begin: the given pages, or the site's first one, and what the sitemaps name."""
    async with ctx.transaction() as tx:
        search = await RunningSearch.load(tx, order.search_id)
    listed = Listed()
    if search.options.sitemaps:
        root = search.root.removesuffix("/")
        listed = await sitemap_pages(ctx, root, agent=AGENT, enough=search.options.max_pages)
    for address in listed.unread:
        await ctx.log.warning(f"{shown(address)} could not be read: products that it alone names are not found")
    async with ctx.transaction() as tx:
        found = await _add_pages(
            tx, search, [*(search.options.seeds or [search.root]), *(entry.url for entry in listed.pages)], depth=0
        )
        return await tx.complete(found)


@app.handler("monitors.look", queue=DISCOVERY, attempts=3, timeout=120)
async def look(ctx: Context, order: PagePayload) -> str:
    """Look at one page: a product is proposed, the links of anything else are followed."""
    key = bytes.fromhex(order.key)
    async with ctx.transaction() as tx:
        search = await RunningSearch.load(tx, order.search_id)
        url = await tx.fetchval(
            "select url from leasehold_monitors.page where search_id = $1 and key = $2", search.search_id, key
        )
    state, final, text = await _fetch(ctx, url, since=search.begun_at)
    reading = (
        read(text, url=final, selector=search.settings.selector, currency=search.settings.currency) if text else None
    )
    sure = confidence(reading) if reading else 0.0
    async with ctx.transaction() as tx:
        if reading and sure >= LEAST:
            state = "product"
            await _propose(tx, ctx.tenant_id, search, final, reading, sure)
        depth = await tx.fetchval(
            "update leasehold_monitors.page set state = $3 where search_id = $1 and key = $2 returning depth",
            search.search_id, key, state,
        )  # fmt: skip
        if state == "other":
            links = read_page(text, url=final, agent=AGENT, x_robots_tag=[]).links
            urls = [link.url for link in links if link.url and not link.nofollow]
            await _add_pages(tx, search, urls, depth=depth + 1)
        return await tx.complete(state)


@app.handler("monitors.gather", queue=NOTIFICATION)
async def gather(ctx: Context, order: SearchPayload) -> dict[str, int]:
    """The search is over: count, and tell who decides."""
    async with ctx.transaction() as tx:
        search = await RunningSearch.load(tx, order.search_id)
        rows = await tx.fetch(
            "select state, count(*) as n from leasehold_monitors.page where search_id = $1 group by 1", order.search_id
        )
        counts = {row["state"]: row["n"] for row in rows}
        await tx.execute(
            "update leasehold_monitors.search set counts = $2, finished_at = leasehold.now() where search_id = $1",
            order.search_id, json.dumps(counts),
        )  # fmt: skip
        waiting = await tx.fetchval(
            "select count(*) from leasehold_monitors.candidate where site_id = $1 and state = 'proposed'",
            search.site_id,
        )
        await tx.emit("monitors.candidates_found", "site", str(search.site_id), {"proposed": waiting, "pages": counts})
        return await tx.complete(counts)


def confidence(reading: Reading) -> float:
    """How sure it is that a page is about one product: it has a price, said to machines, and a number, and a stock."""
    found = reading.facts["found"]
    price = found.get("price")
    if price is None or reading.main.price is None:
        return 0.0
    is_told = any(name in found and found[name]["source"] in _STRUCTURED for name in ("price", "name"))
    is_numbered = any(name in found for name in ("sku", "gtin", "mpn"))
    says_stock = "availability" in found and found["availability"]["method"] != "price-shown"
    sure = 0.5 * price["confidence"] + 0.3 * is_told + 0.1 * is_numbered + 0.1 * says_stock
    return round(float(sure), 3)


async def _propose(
    tx: Transaction, tenant: UUID, search: RunningSearch, url: str, reading: Reading, sure: float
) -> None:
    """What was decided stays decided; a product that is watched is no candidate."""
    guess = {**describe(reading), "name": reading.get("name"), "image": reading.get("image")}
    await tx.execute(
        "select leasehold_monitors.propose_candidate($1, $2, $3, $4, $5, $6)",
        tenant, search.site_id, page_key(url), plain_url(url), json.dumps(shown(guess)), sure,
    )  # fmt: skip


async def _add_pages(tx: AttemptTransaction, search: RunningSearch, urls: list[str], *, depth: int) -> int:
    plain = {page_key(url): url for url in map(plain_url, urls) if url and search.covers(url)}
    if not plain:
        return 0
    rows = await tx.fetch(
        "select url from leasehold_monitors.add_pages($1, $2, $3, $4)",
        search.search_id, list(plain), list(plain.values()), depth,
    )  # fmt: skip
    gate = gate_of(search.site_id)
    pages = [PagePayload(search_id=search.search_id, key=page_key(row["url"]).hex()) for row in rows]
    steps = [look.step(page, on_failure="continue", gate=gate) for page in pages]
    if steps:
        await tx.add(group(steps))
    return len(steps)


async def _fetch(ctx: Context, url: str, *, since: datetime) -> tuple[str, str, str]:
    """The state of a page's row, where it really is, and its text if there is one."""
    try:
        fetched = await ctx.fetch(url, polite=True, rules_since=since, agent=AGENT, max_bytes=MAX_BYTES)
    except FetchDisallowed as problem:
        await _say(ctx, url, problem.why)
        return "blocked", url, ""
    except FetchError as problem:
        if problem.transient and ctx.attempt < ctx.max_attempts:
            raise
        await _say(ctx, url, str(problem))
        return "failed", url, ""
    media_type = fetched.header("content-type") or "text/html"
    if fetched.status != 200 or "html" not in media_type:
        await _say(ctx, url, f"it answered {fetched.status}" if fetched.status != 200 else f"it is {media_type[:100]}")
        return "failed", fetched.url, ""
    return "other", fetched.url, decode(fetched.body, content_type=media_type)


async def _say(ctx: Context, url: str, why: str) -> None:
    await ctx.log.warning(shown(f"{url} could not be read: {why}"))
