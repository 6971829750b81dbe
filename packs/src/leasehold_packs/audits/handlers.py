"""The kinds of this pack, in the order in which a run meets them.

audits.start → audits.page, which adds the pages it finds as it ends → audits.relate, once when none is left
audits.outside asks whether a page of another site is there, audits.image how large an image is
audits.begin starts a run by the clock
audits.again → audits.reread, which judges pages that were kept → audits.relate
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypedDict
from uuid import UUID

from leasehold import AttemptTransaction, Cancel, Context, Leasehold, Transaction, group
from leasehold.errors import BadSetting
from leasehold_packs.audits import finish_run, reevaluate, start_run, store
from leasehold_packs.audits.crawl import AGENT, authorization, digest, visit
from leasehold_packs.audits.model import Options
from leasehold_packs.audits.probes import probe, probe_site
from leasehold_packs.audits.rendering import chromium
from leasehold_packs.audits.run import RUNS, AuditRun
from leasehold_packs.audits.start_run import QUEUE
from leasehold_packs.audits.store import add_urls, write_page
from leasehold_packs.webfacts.redacted import shown
from leasehold_packs.webfacts.sitemap_walk import Listed, sitemap_pages

app = Leasehold()
#: Pages of one run that may be read at the same time.
_AT_ONCE = 8
#: Sitemaps that could not be read of which the events tell.
_TOLD = 10


@dataclass(frozen=True, slots=True)
class RunPayload:
    run_id: UUID
    part: int = 1


@dataclass(frozen=True, slots=True)
class PagePayload:
    """A page by its key, in hexadecimal digits: its address may hold a secret, and payloads are shown."""

    run_id: UUID
    key: str
    part: int = 1


@dataclass(frozen=True, slots=True)
class PagesPayload:
    """Pages that are judged again, by their keys in hexadecimal digits."""

    run_id: UUID
    part: int
    keys: list[str]


@dataclass(frozen=True, slots=True)
class BeginPayload:
    """Of a site by its id, as ``audits schedule`` asks for it, or by its address."""

    url: str | None = None
    site_id: UUID | None = None
    options: Options = field(default_factory=Options)
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageResult:
    """``found`` pages became steps."""

    state: str
    status: int | None
    found: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbedPage:
    status: int | None
    problem: str | None


class JobOptions(TypedDict):
    group: str
    group_limit: int


@app.handler("audits.begin", queue=QUEUE)
async def begin(ctx: Context, order: BeginPayload) -> start_run.RequestedRun:
    """Start a run, as a schedule asks for it."""
    async with ctx.transaction() as tx:
        url = order.url or await tx.fetchval("select url from leasehold_audits.site where site_id = $1", order.site_id)
        if url is None:
            raise Cancel("the site is gone")
        return await tx.complete(await start_run.request_run(tx, url, order.options, force=order.force))


@app.handler("audits.start", queue=QUEUE)
async def start(ctx: Context, order: RunPayload) -> int:
    """Find the pages to begin with: the address itself, a list, or what sitemaps name; or those that are left to do."""
    async with ctx.transaction() as tx:
        run = await AuditRun.load(tx, order)
        has_begun = await tx.fetchval("select exists (select from leasehold_audits.url where run_id = $1)", run.run_id)
    if has_begun:
        return await _go_on(ctx, run)
    if run.options.render:
        try:
            chromium()
        except BadSetting as problem:
            return await _give_up(ctx, run, f"{problem}: {problem.hint}")
    listed = run.options.only
    headers = authorization(await ctx.secret(run.options.secret) if run.options.secret else None)
    named = (
        await _sitemaps(ctx, run, headers) if run.options.sitemap or (run.options.sitemaps and not listed) else Listed()
    )
    answer = await probe_site(ctx, run.url, since=run.begun_at, headers=headers)
    if named.unread:
        answer["unread_sitemaps"] = named.unread
    async with ctx.transaction() as tx:
        await _add_event(tx, run.run_id, "step_started", "crawl", "the crawl begins")
        await tx.execute("update leasehold_audits.run set told = $2 where run_id = $1", run.run_id, json.dumps(answer))
        first = listed or ([] if run.options.sitemap else [run.url])
        found = await add_urls(tx, run, first, depth=0, source="seed")
        source = "seed" if run.options.sitemap else "sitemap"
        pages = [entry.url for entry in named.pages[: run.options.max_pages]]
        found += await add_urls(tx, run, pages, depth=1, source=source)
        for address in named.unread[:_TOLD]:
            words = shown(f"{address} could not be read: pages that it alone names are not known")
            await _add_event(tx, run.run_id, "warning", None, words)
        await _add_steps(tx, run, found)
        return await tx.complete(len(found))


async def _give_up(ctx: Context, run: AuditRun, why: str) -> int:
    async with ctx.transaction() as tx:
        await RUNS.end(tx, run.run_id, "failed", why)
        return await tx.complete(0)


async def _go_on(ctx: Context, run: AuditRun) -> int:
    async with ctx.transaction() as tx:
        await _add_event(tx, run.run_id, "step_started", "crawl", "the crawl goes on")
        pages = await tx.fetch(
            "select url from leasehold_audits.url where run_id = $1 and state = 'queued' order by depth, key",
            run.run_id,
        )
        asked = await tx.fetch(
            "select url, is_image from leasehold_audits.outside where asked_by = $1 and checked_at is null", run.run_id
        )
        outside_ = [row["url"] for row in asked if not row["is_image"]]
        images = [row["url"] for row in asked if row["is_image"]]
        await _add_steps(tx, run, [row["url"] for row in pages], outside_, images)
        return await tx.complete(len(pages))


@app.handler("audits.page", queue=QUEUE, attempts=3, timeout=180)
async def page(ctx: Context, order: PagePayload) -> PageResult:
    """Fetch, read and judge one page; the pages it links to become steps as this one ends."""
    run = await AuditRun.known(ctx, order)
    async with ctx.transaction() as tx:
        url = await tx.fetchval(
            "select url from leasehold_audits.url where run_id = $1 and key = $2",
            run.run_id, bytes.fromhex(order.key),
        )  # fmt: skip
        if run.spent:
            return await tx.complete(await _leave(tx, run, order.key, run.spent))
    credentials = await ctx.secret(run.options.secret) if run.options.secret else None
    visited = await visit(ctx, url, since=run.begun_at, credentials=credentials, rendered=run.options.render)
    if visited.body:
        await ctx.bodies.put(visited.body, visited.crawled.visit.media_type or "application/octet-stream")
    async with ctx.transaction() as tx:
        written = await write_page(tx, run, visited)
        if written:
            await _add_steps(tx, run, written.urls, written.outside, written.images)
            run.note_age(ctx, written.age_s)
        found = len(written.urls) if written else 0
        return await tx.complete(PageResult(state=visited.state, status=visited.crawled.visit.status, found=found))


@app.handler("audits.outside", queue=QUEUE, priority=3, attempts=2, timeout=120)
async def outside(ctx: Context, order: PagePayload) -> ProbedPage:
    """Ask politely whether a page of another site is there. It is not read, and no link of it is followed."""
    return await _probe(ctx, order, is_image=False)


@app.handler("audits.image", queue=QUEUE, priority=3, attempts=2, timeout=120)
async def image(ctx: Context, order: PagePayload) -> ProbedPage:
    """Ask politely how large an image is."""
    return await _probe(ctx, order, is_image=True)


async def _probe(ctx: Context, order: PagePayload, *, is_image: bool) -> ProbedPage:
    run, key = await AuditRun.known(ctx, order), bytes.fromhex(order.key)
    async with ctx.transaction() as tx:
        url = await tx.fetchval(
            "select url from leasehold_audits.outside where tenant_id = $1 and key = $2", ctx.tenant_id, key
        )
    result = await probe(ctx, url, since=run.begun_at, is_image=is_image)
    async with ctx.transaction() as tx:
        await tx.execute(
            "update leasehold_audits.outside set status = $3, problem = $4, size = $5, checked_at = leasehold.now()"
            " where tenant_id = $1 and key = $2",
            ctx.tenant_id, key, result.status, result.problem, result.size,
        )  # fmt: skip
        return await tx.complete(ProbedPage(status=result.status, problem=shown(result.problem)))


@app.handler("audits.again", queue=QUEUE)
async def reevaluate_run(ctx: Context, order: RunPayload) -> int:
    """Tell a run of all pages that another one met; what that one kept of them is judged in steps."""
    async with ctx.transaction() as tx:
        run = await AuditRun.load(tx, order)
        await _add_event(tx, run.run_id, "step_started", "crawl", "pages that were kept are read")
        chunks = await reevaluate.chunks(tx, run.run_id, run.reread_of)
        steps = [
            evaluate_pages.step(
                PagesPayload(run_id=run.run_id, part=run.part, keys=keys), on_failure="continue", **_line(run)
            )
            for keys in chunks
        ]
        if steps:
            await tx.add(group(steps))
        return await tx.complete(len(steps))


@app.handler("audits.reread", queue=QUEUE, timeout=600)
async def evaluate_pages(ctx: Context, order: PagesPayload) -> int:
    """Read and judge some pages as they were kept; how many."""
    async with ctx.transaction() as tx:
        run = await AuditRun.load(tx, order)
        rows = await reevaluate.rows(tx, run.reread_of, order.keys)
    pages = [await reevaluate.read_kept(ctx, row) for row in rows]
    async with ctx.transaction() as tx:
        for row, visited in zip(rows, pages, strict=True):
            if visited is None:
                await reevaluate.copy(tx, run.run_id, row)
            else:
                await write_page(tx, run, visited)
        await tx.execute("select leasehold_audits.measure($1)", run.run_id)
        return await tx.complete(len(pages))


@app.handler("audits.relate", queue=QUEUE, timeout=1800)
async def relate(ctx: Context, order: RunPayload) -> finish_run.Outcome:
    """Compare all pages, score the site, and say what is new since the run before."""
    async with ctx.transaction() as tx:
        await AuditRun.load(tx, order)
        await _add_event(tx, order.run_id, "step_done", "crawl", "all pages are read", 90)
        await _add_event(tx, order.run_id, "step_started", "relate", "pages are compared with each other", 90)
    try:
        async with ctx.transaction() as tx:
            ended = await finish_run.end_run(tx, await AuditRun.load(tx, order))
            if "failed" not in ended:
                await _add_event(tx, order.run_id, "step_done", "relate", "pages are compared", 99)
                await _add_event(tx, order.run_id, "status_changed", "succeeded", f"score {ended['score']:.2f}", 100)
            return await tx.complete(ended)
    except Exception as problem:
        if ctx.attempt >= ctx.max_attempts and not isinstance(problem, Cancel):
            async with ctx.transaction() as tx:
                words = ctx.told(f"{type(problem).__name__}: {problem}")[:500]
                await RUNS.end(tx, order.run_id, "failed", words)
        raise


async def _add_steps(
    tx: AttemptTransaction,
    run: AuditRun,
    pages: Sequence[str],
    outside_: Sequence[str] = (),
    images: Sequence[str] = (),
) -> None:
    def order(url: str) -> PagePayload:
        return PagePayload(run_id=run.run_id, key=digest(url).hex(), part=run.part)

    asked = _line(run, " asked")
    steps = [
        kind.step(order(url), on_failure="continue", **line)
        for kind, urls, line in ((page, pages, _line(run)), (outside, outside_, asked), (image, images, asked))
        for url in urls
    ]
    if steps:
        await tx.add(group(steps))


def _line(run: AuditRun, of: str = "") -> JobOptions:
    """The jobs of a run stand in a line of their own, so that another run does not wait for all of them."""
    return {"group": f"audits {run.run_id}{of}", "group_limit": _AT_ONCE}


async def _leave(tx: Transaction, run: AuditRun, key: str, why: str) -> PageResult:
    await tx.execute(
        "update leasehold_audits.url set state = 'left', problem = $3"
        " where run_id = $1 and key = $2 and state = 'queued'",
        run.run_id, bytes.fromhex(key), why,
    )  # fmt: skip
    await _add_event(tx, run.run_id, "warning", "limit", why)
    return PageResult(state="left", status=None, found=0)


async def _add_event(
    tx: Transaction, run_id: UUID, type_: str, step: str | None, message: str, progress: int = 0
) -> None:
    await store.add_event(tx, run_id, type_, step, message, progress=progress)


async def _sitemaps(ctx: Context, run: AuditRun, headers: dict[str, str]) -> Listed:
    origin = re.match(r"https?://[^/]+", run.url)
    assert origin is not None
    return await sitemap_pages(
        ctx,
        origin[0],
        agent=AGENT,
        enough=run.options.max_pages,
        given=run.options.sitemap,
        headers=headers,
    )
