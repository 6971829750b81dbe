"""The kinds of this pack, in the order in which a run meets them.

postings.list, one page after the other → postings.detail, where a list lacks the text → postings.settle, once for each
source → postings.finish. Beside runs: postings.detect, for an address that somebody has pasted.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal
from urllib.parse import urlsplit
from uuid import UUID

from leasehold import AttemptTransaction, Cancel, Context, Fail, Flow, Leasehold, Retry, Step, Transaction, group, step
from leasehold.errors import FetchError
from leasehold_packs.postings import reconcile, store_runs
from leasehold_packs.postings.boards import BOARDS, Address, Request, Unreadable
from leasehold_packs.postings.detect_board import detect as detect_source
from leasehold_packs.postings.model import (
    Counts,
    DetectedBoard,
    ItemState,
    Options,
    RunFinished,
    UnsupportedBoard,
    gap_seconds,
)
from leasehold_packs.postings.posting import Facts, Posting, digest_of, facts_of, merged
from leasehold_packs.postings.store_runs import Item, RunningSource
from leasehold_packs.webfacts.page_change import facts_digest
from leasehold_packs.webfacts.robots_age import fresh_enough

app = Leasehold()

QUEUE = "postings"
#: Whom boards see.
AGENT = "LeaseholdPostings"
MAX_BYTES = 30_000_000
#: Attempts for each request.
TRIES = 3
_MOST_PAGES = 500
_TIMEOUT_S = 300
_PASSING = (408, 425, 429)


@dataclass(frozen=True, slots=True)
class ListPage:
    run_id: UUID
    source_id: UUID
    page: int


@dataclass(frozen=True, slots=True)
class Detail:
    run_id: UUID
    source_id: UUID
    external_id: str


@dataclass(frozen=True, slots=True)
class Settle:
    run_id: UUID
    source_id: UUID


@dataclass(frozen=True, slots=True)
class Run:
    run_id: UUID


@dataclass(frozen=True, slots=True)
class Pasted:
    url: str


def run_flow(run_id: UUID, sources: list[tuple[UUID, str]]) -> Flow:
    """The steps of a run over sources and their hosts. What fails at one source keeps no other from its end."""
    flow = Flow("postings")
    ends = []
    for source_id, host in sources:
        order = {"run_id": str(run_id), "source_id": str(source_id)}
        listed = flow.include(request_step("postings.list", order | {"page": 0}, host, name=f"list {source_id}"))
        name = f"settle {source_id}"
        ends.append(flow.add("postings.settle", order, name=name, after=listed, on_failure="continue", queue=QUEUE))
    flow.add("postings.finish", {"run_id": str(run_id)}, name="finish", after=ends, on_failure="continue", queue=QUEUE)
    return flow


def request_step(
    kind: str,
    order: Mapping[str, object],
    host: str,
    *,
    name: str | None = None,
    on_failure: Literal["fail", "continue"] = "fail",
) -> Step:
    """A step that asks a host: in line with all others that do, with a gap, and behind its breaker."""
    gap = gap_seconds()
    return step(
        kind,
        order,
        name=name,
        on_failure=on_failure,
        queue=QUEUE,
        attempts=TRIES,
        group=f"postings {host}",
        group_gap=gap,
        gate=f"postings:{host}",
        retry_base_s=5 * gap,
    )


@app.handler("postings.detect", queue=QUEUE, attempts=TRIES, timeout=120)
async def detect(ctx: Context, order: Pasted) -> DetectedBoard | UnsupportedBoard:
    """Which board an address belongs to, and what it lists; nothing is kept."""
    since = await fresh_enough(ctx)
    return await detect_source(lambda request: ask(ctx, request, since=since), order.url)


@app.handler("postings.list", queue=QUEUE, attempts=TRIES, timeout=_TIMEOUT_S)
async def list_page(ctx: Context, order: ListPage) -> int:
    """One page of a list. The next page, and the details that are wanted, become steps as this one ends."""
    async with ctx.transaction() as tx:
        source = await _running_source(tx, order.run_id, order.source_id)
    board = BOARDS[source.address.board]
    try:
        body = await ask(ctx, board.list_request(source.address, order.page), since=source.created_at)
        read = await asyncio.to_thread(_read, body, source.address, order.page)
    except (FetchError, Unreadable, Retry, Fail) as problem:
        await _note_problem(ctx, source, str(problem))
        raise
    async with ctx.transaction() as tx:
        await _write_list(tx, source, read, order.page)
        words = f"page {order.page + 1} lists {len(read.postings)} postings"
        await store_runs.write_line(tx, order.run_id, order.source_id, "list", words)
        return await tx.complete(len(read.postings))


@app.handler("postings.detail", queue=QUEUE, attempts=TRIES, timeout=_TIMEOUT_S)
async def detail(ctx: Context, order: Detail) -> None:
    """The text of one posting. One that cannot be had is left as it was known before."""
    async with ctx.transaction() as tx:
        source = await _running_source(tx, order.run_id, order.source_id)
        posting = await store_runs.get_listed(tx, source, order.external_id)
    if posting is None:
        return
    board = BOARDS[source.address.board]
    try:
        body = await ask(ctx, board.detail_request(source.address, posting), since=source.created_at)
        whole = board.read_detail(body, source.address, posting)
    except (FetchError, Unreadable, Retry, Fail) as problem:
        words = ctx.told(f"{order.external_id}: {problem}")[:500]
        async with ctx.transaction() as tx:
            await store_runs.write_line(tx, order.run_id, order.source_id, "detail", words, level="warning")
            if _will_not_pass(problem) or ctx.attempt >= ctx.max_attempts:
                await _write_detail(tx, source, order.external_id, None, words)
        raise
    async with ctx.transaction() as tx:
        await _write_detail(tx, source, order.external_id, facts_of(posting.with_detail(whole)), None)
        words = f"{order.external_id} is read"
        await store_runs.write_line(tx, order.run_id, order.source_id, "detail", words)
        await tx.complete(None)


@app.handler("postings.settle", queue=QUEUE, attempts=5, timeout=1800)
async def settle(ctx: Context, order: Settle) -> Counts:
    """Compare what a source lists with what is known, and write what became of each posting."""
    async with ctx.transaction() as tx:
        counts = await reconcile.settle(tx, order.run_id, order.source_id)
        words = ", ".join(f"{n} {name}" for name, n in counts.items() if n) or "nothing could be said"
        await store_runs.write_line(tx, order.run_id, order.source_id, "settle", words)
        return await tx.complete(counts)


@app.handler("postings.finish", queue=QUEUE, attempts=5, timeout=600)
async def finish(ctx: Context, order: Run) -> RunFinished:
    async with ctx.transaction() as tx:
        finished = await reconcile.finish(tx, order.run_id)
        await store_runs.write_line(tx, order.run_id, None, "finish", f"the run has {finished.state}")
        return await tx.complete(finished)


async def ask(ctx: Context, request: Request, *, since: datetime) -> bytes:
    """The body of a board's answer. What may pass is raised to be tried again, and counts at the host's gate."""
    fetch = partial(ctx.fetch, request.url, polite=True, rules_since=since, agent=AGENT, max_bytes=MAX_BYTES)
    if request.method == "GET":
        fetched = await fetch(remember=True)
    else:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        fetched = await fetch(method=request.method, headers=headers, body=request.body or b"")
    if fetched.status in (200, 304):
        return fetched.body
    said = f"{urlsplit(request.url).hostname} answered {fetched.status}"
    if fetched.status >= 500 or fetched.status in _PASSING:
        after = fetched.header("retry-after") or ""
        seconds = float(after) if after.isascii() and after.isdecimal() and len(after) < 6 else None
        raise Retry(said, after=seconds, gate=seconds is not None)
    raise Fail(said)


@dataclass(frozen=True, slots=True)
class ListedPosting:
    """What a list says of one posting. ``facts`` are None where the list lacks the text; ``mark`` is a digest of it."""

    posting: Posting
    facts: Facts | None
    mark: str


@dataclass(frozen=True, slots=True)
class Page:
    postings: list[ListedPosting]
    more: bool


def _read(body: bytes, address: Address, page: int) -> Page:
    """A page of a list with its facts; a thread's work, for it may have thousands."""
    board = BOARDS[address.board]
    listing = board.read_list(body, address, page)
    return Page([_listed(one, details=board.details) for one in merged(listing.postings)], listing.more)


def _listed(posting: Posting, *, details: bool) -> ListedPosting:
    if details and posting.description is None:
        mark = facts_digest({"listed": [posting.title, posting.locations, posting.mark]})
        return ListedPosting(posting, None, mark)
    facts = facts_of(posting)
    return ListedPosting(posting, facts, digest_of(facts))


async def _running_source(tx: Transaction, run_id: UUID, source_id: UUID) -> RunningSource:
    source = await store_runs.get_running_source(tx, run_id, source_id)
    if source is None:
        raise Cancel("the run is over")
    return source


async def _write_list(tx: AttemptTransaction, source: RunningSource, read: Page, page: int) -> None:
    marks = await store_runs.list_marks(tx, source, [one.posting.external_id for one in read.postings])
    items = [_item(one, marks.get(one.posting.external_id), source.options) for one in read.postings]
    if not await store_runs.write_list(tx, source, items, is_last=not read.more):
        raise Cancel("the run is over")
    order = {"run_id": str(source.run_id), "source_id": str(source.source_id)}
    steps = [
        request_step("postings.detail", order | {"external_id": item.external_id}, source.host, on_failure="continue")
        for item in items
        if item.state == "pending"
    ]
    if read.more and page + 1 < _MOST_PAGES:
        steps.insert(0, request_step("postings.list", order | {"page": page + 1}, source.host))
    if steps:
        await tx.add(group(steps))


def _item(listed: ListedPosting, mark: str | None, options: Options) -> Item:
    """Its row: skipped by a filter, to be asked for, or known well enough. ``mark`` is None for what is new."""
    posting, facts = listed.posting, listed.facts
    state: ItemState = "pending" if facts is None and mark != listed.mark else "ready"
    if mark is None and not options.wants(posting):
        state, facts = "skipped", None
    return Item(
        external_id=posting.external_id,
        state=state,
        title=posting.title,
        list_mark=listed.mark,
        listed=posting if state == "pending" else None,
        facts=facts,
        digest=listed.mark if facts else None,
    )


async def _write_detail(
    tx: Transaction, source: RunningSource, external_id: str, facts: Facts | None, problem: str | None
) -> None:
    digest = digest_of(facts) if facts else None
    if not await store_runs.write_detail(tx, source, external_id, facts, digest, problem):
        raise Cancel("the run is over")


def _will_not_pass(problem: Exception) -> bool:
    return isinstance(problem, Fail) or (isinstance(problem, FetchError) and not problem.transient)


async def _note_problem(ctx: Context, source: RunningSource, problem: str) -> None:
    """Say it in the run and its log; the run may be over meanwhile."""
    words = ctx.told(problem)[:500]
    async with ctx.transaction() as tx:
        await store_runs.write_line(tx, source.run_id, source.source_id, "list", words, level="warning")
        await store_runs.note_problem(tx, source, words)
