"""The kinds of this pack, in the order in which a run meets them.

audits.start → audits.page, which adds the pages it finds as it ends → audits.relate, once when none is left
audits.outside asks whether a page of another site is there; audits.begin starts a run by the clock
audits.again → audits.reread, which judges pages that were kept → audits.relate
"""

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from leasehold import Cancel, Context, Fetched, Flow, Leasehold, Transaction, group
from leasehold.errors import FetchDisallowed, FetchError
from leasehold.flows import plain_prepare
from leasehold_packs.audits import again, ending, starting
from leasehold_packs.audits.options import Options
from leasehold_packs.audits.starting import QUEUE
from leasehold_packs.audits.visiting import (
    AGENT,
    Visited,
    authorization,
    digest,
    page_key,
    plain_url,
    visit,
)
from leasehold_packs.audits.writing import write_outside, write_page
from leasehold_packs.sitemaps import sitemap_pages
from leasehold_packs.webfacts.sitemap import Entry

app = Leasehold()

#: Bytes of a page of another site: only whether it is there is asked.
_OUTSIDE_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class Run:
    run_id: UUID
    part: int = 1


@dataclass(frozen=True, slots=True)
class Page:
    run_id: UUID
    url: str
    part: int = 1


@dataclass(frozen=True, slots=True)
class Kept:
    """Pages that are judged again, by their keys in hexadecimal digits."""

    run_id: UUID
    part: int
    keys: list[str]


@dataclass(frozen=True, slots=True)
class Begin:
    url: str
    options: Options = field(default_factory=Options)
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A run as its pages need it. ``spent`` says which of its limits is used up."""

    run_id: UUID
    part: int
    url: str
    options: Options
    reread_of: UUID | None
    spent: str | None

    @classmethod
    async def load(cls, tx: Transaction, order: Run | Page | Kept) -> "Begun":
        row = await tx.fetchrow(
            "select r.state, r.part, r.options, r.reread_of, s.url,"
            " extract(epoch from leasehold.now() - r.begun_at) as age,"
            " case when r.options ->> 'max_megabytes' is not null then ("
            "  select sum(bytes) from leasehold_audits.url u where u.run_id = r.run_id) end as bytes"
            " from leasehold_audits.run r join leasehold_audits.site s using (site_id) where run_id = $1",
            order.run_id,
        )
        if row is None or row["state"] != "running" or row["part"] != order.part:
            raise Cancel("the run is over")
        options = Options(**json.loads(row["options"]))
        return cls(
            run_id=order.run_id,
            part=order.part,
            url=row["url"],
            options=options,
            reread_of=row["reread_of"],
            spent=options.spent(seconds=float(row["age"]), size=row["bytes"] or 0),
        )


@app.handler("audits.begin", queue=QUEUE)
async def begin(ctx: Context, order: Begin) -> dict[str, Any]:
    """Start a run, as a schedule asks for it."""
    async with ctx.transaction() as tx:
        asked = await starting.begin(
            tx, ctx.tenant_id, order.url, order.options, start=partial(_start, tx), force=order.force
        )
        return await tx.complete({"run_id": str(asked.run_id), "created": asked.created})


async def _start(tx: Transaction, flow: Flow) -> UUID:
    started: UUID = await tx.fetchval("select leasehold.start_flow($1, $2)", flow.name, flow.asked(plain_prepare))
    return started


@app.handler("audits.start", queue=QUEUE)
async def start(ctx: Context, order: Run) -> int:
    """Find the pages to begin with: the address itself, a list, or what sitemaps name; or those that are left to do."""
    async with ctx.transaction() as tx:
        run = await Begun.load(tx, order)
        has_begun = await tx.fetchval("select exists (select from leasehold_audits.url where run_id = $1)", run.run_id)
    if has_begun:
        return await _go_on(ctx, run)
    listed = run.options.only
    named = await _sitemaps(ctx, run) if run.options.sitemap or (run.options.sitemaps and not listed) else []
    async with ctx.transaction() as tx:
        await _tell(tx, run.run_id, "step_started", "crawl", "the crawl begins")
        first = listed or ([] if run.options.sitemap else [run.url])
        found = await add_pages(tx, run, first, depth=0, source="seed")
        source = "seed" if run.options.sitemap else "sitemap"
        found += await add_pages(tx, run, [entry.url for entry in named], depth=1, source=source)
        return await tx.complete(found)


async def _go_on(ctx: Context, run: Begun) -> int:
    async with ctx.transaction() as tx:
        await _tell(tx, run.run_id, "step_started", "crawl", "the crawl goes on")
        pages = await tx.fetch(
            "select url from leasehold_audits.url where run_id = $1 and state = 'queued' order by depth, key",
            run.run_id,
        )
        outside_ = await tx.fetch(
            "select url from leasehold_audits.outside where asked_by = $1 and checked_at is null", run.run_id
        )
        await _add_steps(tx, run, [row["url"] for row in pages], [row["url"] for row in outside_])
        return await tx.complete(len(pages))


@app.handler("audits.page", queue=QUEUE, attempts=3, timeout=180)
async def page(ctx: Context, order: Page) -> dict[str, Any]:
    """Fetch, read and judge one page; the pages it links to become steps as this one ends."""
    async with ctx.transaction() as tx:
        run = await Begun.load(tx, order)
        if run.spent:
            return await tx.complete(await _leave(tx, run, order.url, run.spent))
    credentials = await ctx.secret(run.options.secret) if run.options.secret else None
    visited = await visit(ctx, order.url, credentials=credentials)
    if visited.body:
        await ctx.bodies.put(visited.body, visited.seen.visit.media_type or "application/octet-stream")
    async with ctx.transaction() as tx:
        found = await _write(tx, ctx.tenant_id, run, visited)
        return await tx.complete({"state": visited.state, "status": visited.seen.visit.status, "found": found})


@app.handler("audits.outside", queue=QUEUE, priority=3, attempts=2, timeout=120)
async def outside(ctx: Context, order: Page) -> dict[str, Any]:
    """Ask politely whether a page of another site is there. It is not read, and no link of it is followed."""
    async with ctx.transaction() as tx:
        await Begun.load(tx, order)
    status, problem = await _outside(ctx, order.url)
    async with ctx.transaction() as tx:
        await tx.execute(
            "update leasehold_audits.outside set status = $3, problem = $4, checked_at = leasehold.now()"
            " where tenant_id = $1 and key = $2",
            ctx.tenant_id, page_key(order.url), status, problem,
        )  # fmt: skip
        return await tx.complete({"status": status, "problem": problem})


async def _outside(ctx: Context, url: str) -> tuple[int | None, str | None]:
    """Its status, or why there is none; neither if it is not ours to know."""
    try:
        with suppress(FetchError):  # some servers answer HEAD with nonsense: then GET says more
            head = await _fetch_outside(ctx, "HEAD", url)
            if head.status < 400:
                return head.status, None
        return (await _fetch_outside(ctx, "GET", url)).status, None
    except FetchDisallowed:
        return None, None
    except FetchError as problem:
        if problem.transient and ctx.attempt < ctx.max_attempts:
            raise
        return None, str(problem)


async def _fetch_outside(ctx: Context, method: str, url: str) -> Fetched:
    return await ctx.fetch(url, method=method, polite=True, agent=AGENT, max_bytes=_OUTSIDE_BYTES, truncate=True)


@app.handler("audits.again", queue=QUEUE)
async def judge_again(ctx: Context, order: Run) -> int:
    """Tell a run of all pages that another one met; what that one kept of them is judged in steps."""
    async with ctx.transaction() as tx:
        run = await Begun.load(tx, order)
        await _tell(tx, run.run_id, "step_started", "crawl", "pages that were kept are read")
        chunks = await again.chunks(tx, run.run_id, run.reread_of)
        steps = [
            reread.step({"run_id": str(run.run_id), "part": run.part, "keys": keys}, on_failure="continue")
            for keys in chunks
        ]
        if steps:
            await tx.add(group(steps))
        return await tx.complete(len(steps))


@app.handler("audits.reread", queue=QUEUE, timeout=600)
async def reread(ctx: Context, order: Kept) -> int:
    """Read and judge some pages as they were kept; how many."""
    async with ctx.transaction() as tx:
        run = await Begun.load(tx, order)
        rows = await again.rows(tx, run.reread_of, order.keys)
    pages = [await again.read_kept(ctx, row) for row in rows]
    async with ctx.transaction() as tx:
        for row, visited in zip(rows, pages, strict=True):
            if visited is None:
                await again.copy(tx, run.run_id, row)
            else:
                await write_page(tx, ctx.tenant_id, run.run_id, visited, run.options, run.url)
        await tx.execute("select leasehold_audits.measure($1)", run.run_id)
        return await tx.complete(len(pages))


@app.handler("audits.relate", queue=QUEUE, timeout=1800)
async def relate(ctx: Context, order: Run) -> dict[str, Any]:
    """Compare all pages, score the site, and say what is new since the run before."""
    async with ctx.transaction() as tx:
        await Begun.load(tx, order)
        await _tell(tx, order.run_id, "step_done", "crawl", "all pages are read", 90)
        await _tell(tx, order.run_id, "step_started", "relate", "pages are compared with each other", 90)
    try:
        async with ctx.transaction() as tx:
            await Begun.load(tx, order)
            ended = await ending.end_run(tx, order.run_id)
            await _tell(tx, order.run_id, "step_done", "relate", "pages are compared", 99)
            await _tell(tx, order.run_id, "status_changed", "succeeded", f"score {ended['score']:.2f}", 100)
            return await tx.complete(ended)
    except Exception as problem:
        if ctx.attempt >= ctx.max_attempts and not isinstance(problem, Cancel):
            async with ctx.transaction() as tx:
                words = ctx.told(f"{type(problem).__name__}: {problem}")[:500]
                await tx.execute("select leasehold_audits.stop_run($1, 'failed', $2)", order.run_id, words)
        raise


async def add_pages(tx: Transaction, run: Begun, urls: list[str], *, depth: int, source: str) -> int:
    """Tell the run of these addresses; those that are new to it become steps. How many."""
    # Fetched is one spelling of a page, whichever was found first: without fragments and marks of advertisers.
    spelled = (plain_url(url) for url in urls if run.options.covers(url, run.url))
    keys = {digest(url): url for url in spelled if url}
    if not keys:
        return 0
    rows = await tx.fetch(
        "select url from leasehold_audits.add_urls($1, $2, $3, $4, $5, $6)",
        run.run_id, run.part, list(keys), list(keys.values()), depth, source,
    )  # fmt: skip
    found = [row["url"] for row in rows]
    if None in found:
        raise Cancel("the run is over")
    await _add_steps(tx, run, found, [])
    return len(found)


async def _add_steps(tx: Transaction, run: Begun, pages: list[str], outside_: list[str]) -> None:
    def order(url: str) -> dict[str, Any]:
        return {"run_id": str(run.run_id), "url": url, "part": run.part}

    steps = [page.step(order(url), on_failure="continue") for url in pages]
    steps += [outside.step(order(url), on_failure="continue") for url in outside_]
    if steps:
        await tx.add(group(steps))


async def _write(tx: Transaction, tenant: UUID, run: Begun, visited: Visited) -> int:
    """All that is known of the page now; how many pages it led to."""
    depth = await write_page(tx, tenant, run.run_id, visited, run.options, run.url)
    if depth is None:
        return 0  # it was read before the run was stopped
    await _tell_trouble(tx, run.run_id, visited)
    found = await _discover(tx, tenant, run, visited, depth)
    await tx.execute("select leasehold_audits.measure($1)", run.run_id)
    return found


async def _discover(tx: Transaction, tenant: UUID, run: Begun, visited: Visited, depth: int) -> int:
    if visited.is_redirect:
        return await add_pages(tx, run, [visited.seen.visit.address], depth=depth, source="link")
    if not visited.is_page:
        return 0
    if run.options.max_external:
        fresh = await write_outside(tx, tenant, run.run_id, visited, run.options, run.url)
        await _add_steps(tx, run, [], fresh)
    if run.options.is_listed or not visited.seen.page.robots.follow:
        return 0
    links = visited.seen.page.links
    return await add_pages(
        tx, run, [link.url for link in links if link.url and not link.nofollow], depth=depth + 1, source="link"
    )


async def _leave(tx: Transaction, run: Begun, url: str, why: str) -> dict[str, Any]:
    await tx.execute(
        "update leasehold_audits.url set state = 'left', problem = $3"
        " where run_id = $1 and key = $2 and state = 'queued'",
        run.run_id, page_key(url), why,
    )  # fmt: skip
    await _tell(tx, run.run_id, "warning", "limit", why)
    return {"state": "left", "status": None, "found": 0}


async def _tell_trouble(tx: Transaction, run_id: UUID, visited: Visited) -> None:
    seen = visited.seen.visit
    if visited.state == "blocked":
        await _tell(tx, run_id, "warning", None, f"{seen.url} is not read: {seen.problem}")
    elif visited.state == "failed" or (seen.status or 0) >= 400:
        await _tell(tx, run_id, "error", None, f"{seen.url}: {seen.problem or f'answered {seen.status}'}")


async def _tell(tx: Transaction, run_id: UUID, type_: str, step: str | None, words: str, progress: int = 0) -> None:
    await tx.execute("select leasehold_audits.tell($1, $2, $3, $4, null, $5)", run_id, type_, step, words, progress)


async def _sitemaps(ctx: Context, run: Begun) -> list[Entry]:
    origin = re.match(r"https?://[^/]+", run.url)
    assert origin is not None
    credentials = await ctx.secret(run.options.secret) if run.options.secret else None
    pages = await sitemap_pages(
        ctx,
        origin[0],
        agent=AGENT,
        enough=run.options.max_pages,
        given=run.options.sitemap,
        headers=authorization(credentials),
    )
    return pages[: run.options.max_pages]
