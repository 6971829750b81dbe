"""The kinds of this pack, in the order in which a run meets them.

postings.list, one page after the other → postings.detail, where a list lacks the text → postings.settle, once for each
source → postings.finish. Beside runs: postings.detect, for an address that somebody has pasted.
"""

import asyncio
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from leasehold import AttemptTransaction, Cancel, Context, Fail, Flow, Leasehold, Retry, Step, Transaction, group, step
from leasehold.errors import FetchError
from leasehold_packs.postings import reconcile, run_summary
from leasehold_packs.postings.boards import BOARDS, Address, Request, Unreadable
from leasehold_packs.postings.detect_board import detect as detect_source
from leasehold_packs.postings.model import Options, gap_seconds
from leasehold_packs.postings.pay import Salary
from leasehold_packs.postings.posting import Posting, digest_of, facts_of, merged
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source as its requests need it."""

    run_id: UUID
    source_id: UUID
    address: Address
    host: str
    options: Options
    details: str
    begun_at: datetime  # when its run began: a robots.txt from before is read again

    @classmethod
    async def load(cls, tx: Transaction, run_id: UUID, source_id: UUID) -> "Source":
        row = await tx.fetchrow(
            "select s.board, s.slug, s.base, s.host, s.options, r.details, r.created_at"
            " from leasehold_postings.run r join leasehold_postings.run_source using (run_id)"
            " join leasehold_postings.source s using (source_id)"
            " where run_id = $1 and source_id = $2 and r.state = 'running'",
            run_id, source_id,
        )  # fmt: skip
        if row is None:
            raise Cancel("the run is over")
        return cls(
            run_id=run_id,
            source_id=source_id,
            address=Address(board=row["board"], slug=row["slug"], base=row["base"]),
            host=row["host"],
            options=Options(**json.loads(row["options"])),
            details=row["details"],
            begun_at=row["created_at"],
        )


def run_flow(run_id: UUID, sources: list[tuple[UUID, str]]) -> Flow:
    """The steps of a run over sources and their hosts. What fails at one source keeps no other from its end."""
    flow = Flow("postings")
    ends = []
    for source_id, host in sources:
        order = {"run_id": str(run_id), "source_id": str(source_id)}
        begun = flow.include(asking("postings.list", order | {"page": 0}, host, name=f"list {source_id}"))
        ends.append(
            flow.add(
                "postings.settle", order, name=f"settle {source_id}", after=begun, on_failure="continue", queue=QUEUE
            )
        )
    flow.add("postings.finish", {"run_id": str(run_id)}, name="finish", after=ends, on_failure="continue", queue=QUEUE)
    return flow


def asking(kind: str, order: dict[str, Any], host: str, **options: Any) -> Step:
    """A step that asks a host: in line with all others that do, with a gap, and behind its breaker."""
    gap = gap_seconds()
    line: dict[str, Any] = {
        "group": f"postings {host}",
        "group_gap_s": gap,
        "gate": f"postings:{host}",
        "retry_base_s": 5 * gap,
    }
    return step(kind, order, queue=QUEUE, max_attempts=TRIES, **line, **options)


@app.handler("postings.detect", queue=QUEUE, attempts=TRIES, timeout=120)
async def detect(ctx: Context, order: Pasted) -> dict[str, Any]:
    """Which board an address belongs to, and what it lists; nothing is kept."""
    since = await fresh_enough(ctx)
    return await detect_source(lambda request: ask(ctx, request, since=since), order.url)


@app.handler("postings.list", queue=QUEUE, attempts=TRIES, timeout=_TIMEOUT_S)
async def list_page(ctx: Context, order: ListPage) -> int:
    """One page of a list. The next page, and the details that are wanted, become steps as this one ends."""
    async with ctx.transaction() as tx:
        source = await Source.load(tx, order.run_id, order.source_id)
    board = BOARDS[source.address.board]
    try:
        body = await ask(ctx, board.list_request(source.address, order.page), since=source.begun_at)
        read = await asyncio.to_thread(_read, body, source.address, order.page)
    except (FetchError, Unreadable, Retry, Fail) as problem:
        await _note_problem(ctx, source, str(problem))
        raise
    async with ctx.transaction() as tx:
        await _write_list(tx, ctx.tenant_id, source, read, order.page)
        said = f"page {order.page + 1} lists {len(read.told)} postings"
        await run_summary.write(tx, ctx.tenant_id, order.run_id, order.source_id, "list", said)
        return await tx.complete(len(read.told))


@app.handler("postings.detail", queue=QUEUE, attempts=TRIES, timeout=_TIMEOUT_S)
async def detail(ctx: Context, order: Detail) -> None:
    """The text of one posting. One that cannot be had is left as it was known before."""
    async with ctx.transaction() as tx:
        source = await Source.load(tx, order.run_id, order.source_id)
        listed = await tx.fetchval(
            "select listed from leasehold_postings.run_item where run_id = $1 and source_id = $2 and external_id = $3",
            order.run_id, order.source_id, order.external_id,
        )  # fmt: skip
    if listed is None:
        return
    board, posting = BOARDS[source.address.board], posting_from(json.loads(listed))
    try:
        body = await ask(ctx, board.detail_request(source.address, posting), since=source.begun_at)
        whole = board.read_detail(body, source.address, posting)
    except (FetchError, Unreadable, Retry, Fail) as problem:
        said = ctx.told(f"{order.external_id}: {problem}")[:500]
        async with ctx.transaction() as tx:
            await run_summary.write(tx, ctx.tenant_id, order.run_id, order.source_id, "detail", said, level="warning")
            if _will_not_pass(problem) or ctx.attempt >= ctx.max_attempts:
                await _write_detail(tx, source, order.external_id, None, said)
        raise
    async with ctx.transaction() as tx:
        await _write_detail(tx, source, order.external_id, posting.with_detail(whole), None)
        await run_summary.write(
            tx, ctx.tenant_id, order.run_id, order.source_id, "detail", f"{order.external_id} is read"
        )
        await tx.complete(None)


@app.handler("postings.settle", queue=QUEUE, attempts=5, timeout=1800)
async def settle(ctx: Context, order: Settle) -> dict[str, int]:
    """Compare what a source lists with what is known, and write what became of each posting."""
    async with ctx.transaction() as tx:
        counts = await reconcile.settle(tx, ctx.tenant_id, order.run_id, order.source_id)
        said = ", ".join(f"{n} {name}" for name, n in counts.items() if n) or "nothing could be said"
        await run_summary.write(tx, ctx.tenant_id, order.run_id, order.source_id, "settle", said)
        return await tx.complete(counts)


@app.handler("postings.finish", queue=QUEUE, attempts=5, timeout=600)
async def finish(ctx: Context, order: Run) -> dict[str, Any]:
    async with ctx.transaction() as tx:
        ended = await reconcile.finish(tx, order.run_id)
        await run_summary.write(tx, ctx.tenant_id, order.run_id, None, "finish", f"the run has {ended['state']}")
        return await tx.complete(ended)


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
class Told:
    """What a list says of one posting. ``facts`` are None where the list lacks the text; ``mark`` is a digest of it."""

    posting: Posting
    facts: dict[str, Any] | None
    mark: str


@dataclass(frozen=True, slots=True)
class Page:
    told: list[Told]
    more: bool


def _read(body: bytes, address: Address, page: int) -> Page:
    """A page of a list with its facts; a thread's work, for it may have thousands."""
    board = BOARDS[address.board]
    listing = board.read_list(body, address, page)
    return Page([_told(one, details=board.details) for one in merged(listing.postings)], listing.more)


def _told(posting: Posting, *, details: bool) -> Told:
    if details and posting.description is None:
        return Told(posting, None, facts_digest({"listed": [posting.title, posting.locations, posting.mark]}))
    facts = facts_of(posting)
    return Told(posting, facts, digest_of(facts))


async def _write_list(tx: AttemptTransaction, tenant: UUID, source: Source, read: Page, page: int) -> None:
    seq = await tx.fetchval("select leasehold_postings.next_seq($1)", source.run_id)
    if seq is None:
        raise Cancel("the run is over")
    due = await _due(tx, source, [one.posting.external_id for one in read.told])
    rows = [_item(one, due.get(one.posting.external_id), source.options) for one in read.told]
    await tx.execute(
        "insert into leasehold_postings.run_item"
        " (run_id, source_id, external_id, tenant_id, seq, state, title, list_mark, listed, facts, digest)"
        " select $1, $2, r.external_id, $3, $4, r.state, r.title, r.list_mark, r.listed, r.facts, r.digest"
        " from jsonb_to_recordset($5::jsonb) r(external_id text, state text, title text, list_mark text, listed jsonb,"
        " facts jsonb, digest text)"
        # A list that moves while it is read has one posting on two pages.
        " on conflict (run_id, source_id, external_id) do nothing",
        source.run_id, source.source_id, tenant, seq, json.dumps(rows),
    )  # fmt: skip
    more = read.more and page + 1 < _MOST_PAGES
    await tx.execute(
        "update leasehold_postings.run_source set pages = pages + 1, complete = $3, seq = $4, problem = null"
        " where run_id = $1 and source_id = $2",
        source.run_id, source.source_id, not read.more, seq,
    )  # fmt: skip
    order = {"run_id": str(source.run_id), "source_id": str(source.source_id)}
    steps = [
        asking("postings.detail", order | {"external_id": row["external_id"]}, source.host, on_failure="continue")
        for row in rows
        if row["state"] == "pending"
    ]
    if more:
        steps.insert(0, asking("postings.list", order | {"page": page + 1}, source.host))
    if steps:
        await tx.add(group(steps))


def _item(told: Told, due: str | None, options: Options) -> dict[str, Any]:
    """Its row: skipped by a filter, to be asked for, or known well enough. ``due`` is None for what is new."""
    posting, facts = told.posting, told.facts
    if due is None and not options.wants(posting):
        state, facts = "skipped", None
    else:
        state = "pending" if facts is None and due != told.mark else "ready"
    return {
        "external_id": posting.external_id,
        "state": state,
        "title": posting.title,
        "list_mark": told.mark,
        "listed": plain_posting(posting) if state == "pending" else None,
        "facts": facts,
        "digest": told.mark if facts else None,
    }


async def _due(tx: Transaction, source: Source, ids: list[str]) -> dict[str, str]:
    """Of known postings, the mark of the list at which their text is still good; empty where it is to be read again."""
    rows = await tx.fetch(
        "select external_id, case when $4 or detail_at < leasehold.now() - make_interval(secs => $3)"
        " or state = 'closed' then '' else list_mark end as mark"
        " from leasehold_postings.posting where source_id = $1 and external_id = any($2)",
        source.source_id, ids, source.options.detail_hours * 3600.0,
        source.details == "all",
    )  # fmt: skip
    return {row["external_id"]: row["mark"] for row in rows}


async def _write_detail(
    tx: Transaction, source: Source, external_id: str, posting: Posting | None, problem: str | None
) -> None:
    seq = await tx.fetchval("select leasehold_postings.next_seq($1)", source.run_id)
    if seq is None:
        raise Cancel("the run is over")
    facts = facts_of(posting) if posting else None
    await tx.execute(
        "update leasehold_postings.run_item set state = $4, seq = $5, facts = $6, digest = $7, problem = $8,"
        " listed = null where run_id = $1 and source_id = $2 and external_id = $3",
        source.run_id, source.source_id, external_id, "ready" if facts else "error", seq,
        json.dumps(facts) if facts else None, digest_of(facts) if facts else None, problem,
    )  # fmt: skip


def _will_not_pass(problem: Exception) -> bool:
    return isinstance(problem, Fail) or (isinstance(problem, FetchError) and not problem.transient)


async def _note_problem(ctx: Context, source: Source, problem: str) -> None:
    """Say it in the run and its log; the run may be over meanwhile."""
    said = ctx.told(problem)[:500]
    async with ctx.transaction() as tx:
        await run_summary.write(tx, ctx.tenant_id, source.run_id, source.source_id, "list", said, level="warning")
        if (seq := await tx.fetchval("select leasehold_postings.next_seq($1)", source.run_id)) is not None:
            await tx.execute(
                "update leasehold_postings.run_source set problem = $3, seq = $4 where run_id = $1 and source_id = $2",
                source.run_id, source.source_id, said, seq,
            )  # fmt: skip


def plain_posting(posting: Posting) -> dict[str, Any]:
    """A posting as JSON has it; amounts as text, to stay exact."""
    told = asdict(posting)
    if posting.salary:
        told["salary"] = {
            name: str(value) if name in ("low", "high") and value is not None else value
            for name, value in asdict(posting.salary).items()
        }
    return told


def posting_from(told: dict[str, Any]) -> Posting:
    salary = told["salary"]
    if salary:
        ends = {name: None if salary[name] is None else Decimal(salary[name]) for name in ("low", "high")}
        salary = Salary(**salary | ends)
    return Posting(**told | {"locations": tuple(told["locations"]), "salary": salary})
