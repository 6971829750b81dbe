"""The kinds of this pack, in the order in which a run meets them.

audits.start → audits.page, which adds the pages it finds as it ends → audits.relate, once when none is left
"""

import json
import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from leasehold import Cancel, Context, Flow, Leasehold, Transaction, group
from leasehold_packs.audits import ending
from leasehold_packs.audits.options import Options
from leasehold_packs.audits.visiting import AGENT, Visited, digest, facts, fragment, page_key, plain_url, visit
from leasehold_packs.sitemaps import sitemap_pages
from leasehold_packs.webfacts.sitemap import Entry

app = Leasehold()

QUEUE = "audits"


@dataclass(frozen=True, slots=True)
class Run:
    run_id: UUID


@dataclass(frozen=True, slots=True)
class Page:
    run_id: UUID
    url: str


def run_flow(run_id: UUID, options: Options) -> Flow:
    """The steps of a run. Pages that fail do not keep it from ending: what is known of them is in their rows."""
    flow = Flow("audit", deadline=options.max_minutes * 60)
    begun = flow.add("audits.start", {"run_id": str(run_id)}, name="start", queue=QUEUE)
    flow.add("audits.relate", {"run_id": str(run_id)}, name="relate", after=begun, on_failure="continue", queue=QUEUE)
    return flow


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A run as its pages need it."""

    run_id: UUID
    url: str
    options: Options

    @classmethod
    async def load(cls, tx: Transaction, run_id: UUID) -> "Begun":
        row = await tx.fetchrow(
            "select r.state, r.options, s.url from leasehold_audits.run r join leasehold_audits.site s using (site_id)"
            " where run_id = $1",
            run_id,
        )
        if row is None or row["state"] != "running":
            raise Cancel("the run is over")
        return cls(run_id=run_id, url=row["url"], options=Options(**json.loads(row["options"])))


@app.handler("audits.start", queue=QUEUE)
async def start(ctx: Context, order: Run) -> int:
    """Find the pages to begin with: the address itself, or a list, and what the sitemaps name."""
    async with ctx.transaction() as tx:
        run = await Begun.load(tx, order.run_id)
    listed = run.options.only
    named = await _sitemaps(ctx, run) if run.options.sitemaps and not listed else []
    async with ctx.transaction() as tx:
        found = await add_pages(tx, run, listed or [run.url], depth=0, source="seed")
        found += await add_pages(tx, run, [entry.url for entry in named], depth=1, source="sitemap")
        return await tx.complete(found)


@app.handler("audits.page", queue=QUEUE, attempts=3, timeout=180)
async def page(ctx: Context, order: Page) -> dict[str, Any]:
    """Fetch, read and judge one page; the pages it links to become steps as this one ends."""
    async with ctx.transaction() as tx:
        run = await Begun.load(tx, order.run_id)
    credentials = await ctx.secret(run.options.secret) if run.options.secret else None
    visited = await visit(ctx, order.url, credentials=credentials)
    if visited.body:
        await ctx.bodies.put(visited.body, visited.seen.visit.media_type or "application/octet-stream")
    async with ctx.transaction() as tx:
        found = await write(tx, ctx.tenant_id, run, visited)
        return await tx.complete({"state": visited.state, "status": visited.seen.visit.status, "found": found})


@app.handler("audits.relate", queue=QUEUE, timeout=1800)
async def relate(ctx: Context, order: Run) -> dict[str, Any]:
    """Compare all pages, score the site, and say what is new since the run before."""
    async with ctx.transaction() as tx:
        await Begun.load(tx, order.run_id)
        return await tx.complete(await ending.end_run(tx, order.run_id))


async def add_pages(tx: Transaction, run: Begun, urls: list[str], *, depth: int, source: str) -> int:
    """Tell the run of these addresses; those that are new to it become steps. How many."""
    # Fetched is one spelling of a page, whichever was found first: without fragments and marks of advertisers.
    spelled = (plain_url(url) for url in urls if run.options.covers(url, run.url))
    keys = {digest(url): url for url in spelled if url}
    if not keys:
        return 0
    rows = await tx.fetch(
        "select url from leasehold_audits.add_urls($1, $2, $3, $4, $5)",
        run.run_id, list(keys), list(keys.values()), depth, source,
    )  # fmt: skip
    steps = [page.step({"run_id": str(run.run_id), "url": row["url"]}, on_failure="continue") for row in rows]
    if steps:
        await tx.add(group(steps))
    return len(steps)


async def write(tx: Transaction, tenant: UUID, run: Begun, visited: Visited) -> int:
    """All that is known of the page now; how many pages it led to."""
    key = page_key(visited.seen.visit.url)
    columns = facts(visited)
    names = ", ".join(f"{name} = ${n}" for n, name in enumerate(columns, 3))
    depth = await tx.fetchval(
        f"update leasehold_audits.url set {names} where run_id = $1 and key = $2 returning depth",
        run.run_id, key, *columns.values(),
    )  # fmt: skip
    await ending.write_issues(tx, run.run_id, tenant, key, visited.issues())
    if visited.is_redirect:
        return await add_pages(tx, run, [visited.seen.visit.address], depth=depth, source="link")
    if not visited.is_page:
        return 0
    await _write_links(tx, tenant, run, key, visited)
    if run.options.only or not visited.seen.page.robots.follow:
        return 0
    links = visited.seen.page.links
    return await add_pages(
        tx, run, [link.url for link in links if link.url and not link.nofollow], depth=depth + 1, source="link"
    )


async def _write_links(tx: Transaction, tenant: UUID, run: Begun, key: bytes | None, visited: Visited) -> None:
    page_ = visited.seen.page
    inside = [
        (target, fragment(link), link.text[:200], link.nofollow)
        for link in page_.links
        if link.url and run.options.is_inside(link.url, run.url)
        if (target := page_key(link.url))
    ]
    if inside:
        await tx.execute(
            "insert into leasehold_audits.link (run_id, tenant_id, from_key, n, to_key, fragment, words, nofollow)"
            " select $1, $2, $3, l.n, l.to_key, l.fragment, l.words, l.nofollow"
            " from unnest($4::bytea[], $5::text[], $6::text[], $7::boolean[])"
            " with ordinality l(to_key, fragment, words, nofollow, n)",
            run.run_id, tenant, key, *map(list, zip(*inside, strict=True)),
        )  # fmt: skip
    others = [(to, one.hreflang[:50]) for one in page_.alternates if (to := page_key(one.url))]
    if others:
        await tx.execute(
            "insert into leasehold_audits.alternate (run_id, tenant_id, from_key, n, to_key, hreflang)"
            " select $1, $2, $3, a.n, a.to_key, a.hreflang"
            " from unnest($4::bytea[], $5::text[]) with ordinality a(to_key, hreflang, n)",
            run.run_id, tenant, key, *map(list, zip(*others, strict=True)),
        )  # fmt: skip


async def _sitemaps(ctx: Context, run: Begun) -> list[Entry]:
    origin = re.match(r"https?://[^/]+", run.url)
    assert origin is not None
    pages = await sitemap_pages(ctx, origin[0], agent=AGENT, enough=run.options.max_pages)
    return pages[: run.options.max_pages]
