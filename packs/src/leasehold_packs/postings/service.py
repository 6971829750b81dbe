"""What people ask of sources, runs and postings, for the routes and the commands alike: one transaction each."""

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID

from leasehold.errors import BadInput, Conflict, NotFound
from leasehold_packs.postings import reconcile, spelling
from leasehold_packs.postings.boards import BOARDS, PAGE, Address, Unsupported, recognise
from leasehold_packs.postings.handlers import run_flow
from leasehold_packs.postings.model import Options
from leasehold_packs.postings.posting import compare
from leasehold_packs.webfacts.redacted import shown

if TYPE_CHECKING:
    from leasehold.web import Transaction

#: The rule of the gates that requests to hosts pass: five failures open the breaker, then one tries.
BREAKER = {"failures": 5, "ratio": 0.5, "window_s": 600, "cooldown_s": 300, "probes": 1}
GATES = "postings:"
_SOURCE = (
    "source_id, company_id, c.name as company, board, slug, base, host, url, options, enabled, health, problem,"
    " failures, held, last_ok_at, s.created_at"
)
_POSTING = (
    "posting_id, source_id, company_id, c.name as company, state, url, title, locations, remote, employment, seniority,"
    " department, requisition, salary, currency, yearly_min::float8, yearly_max::float8, posted_at, valid_through,"
    " version, reposts, reopened, repost_of, cluster_id, first_seen, last_seen, closed_at"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSource:
    """A board by its address, or by its name and slug; ``base`` is for boards on hosts of their own."""

    url: str | None = None
    board: str | None = None
    slug: str | None = None
    base: str | None = None
    company: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    run_id: UUID
    sources: int


def address_of(new: NewSource) -> Address:
    """Where a source is; an address that no board is known by is a page of the company."""
    if new.board is None:
        if new.url is None:
            raise BadInput("a source needs a url, or a board and a slug")
        found = recognise(new.url)
        if isinstance(found, Unsupported):
            raise BadInput(f"{found.name} boards are not read", hint=f"these are: {', '.join(sorted(BOARDS))}")
        return found or Address(board=PAGE, slug="", base=http_url(new.url))
    if new.board not in BOARDS:
        raise BadInput(f"there is no board {new.board[:50]!r}", hint=f"one of {', '.join(sorted(BOARDS))}")
    base = new.base or (
        found.base if new.url and isinstance(found := recognise(new.url), Address) else _HOMES.get(new.board)
    )
    if base is None:
        raise BadInput(f"a {new.board} board needs its base", hint="where it lives, as in https://acme.example.com")
    if not new.slug and new.board != PAGE:
        raise BadInput(f"a {new.board} board needs its slug", hint="the name of the company in its address")
    return Address(
        board=new.board, slug=new.slug or "", base=http_url(base).rstrip("/") if new.board != PAGE else http_url(base)
    )


async def add_source(tx: "Transaction", tenant: UUID, new: NewSource, options: Options) -> dict[str, Any]:
    address = address_of(new)
    host = urlsplit(address.base).netloc.lower()
    company = new.company or address.slug.partition("/")[0] or host.removeprefix("www.").partition(".")[0]
    company_id = await tx.fetchval(
        "insert into leasehold_postings.company (tenant_id, name, name_key) values ($1, $2, $3)"
        " on conflict (tenant_id, name_key) do update set name_key = excluded.name_key returning company_id",
        tenant, company[:200], name_key(company),
    )  # fmt: skip
    source_id = await tx.fetchval(
        "insert into leasehold_postings.source (tenant_id, company_id, board, slug, base, host, url, options)"
        " values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing returning source_id",
        tenant, company_id, address.board, address.slug, address.base, host, new.url or address.base,
        json.dumps(asdict(options)),
    )  # fmt: skip
    if source_id is None:
        raise Conflict(f"the {address.board} board {address.slug or shown(address.base)} is a source already")
    return await get_source(tx, source_id)


async def get_source(tx: "Transaction", source_id: UUID) -> dict[str, Any]:
    rows = await _sources(tx, source_id)
    if not rows:
        raise NotFound(f"there is no source {source_id}", hint="leasehold postings sources")
    return rows[0]


async def list_sources(tx: "Transaction") -> list[dict[str, Any]]:
    """With their health, and how many postings they have."""
    return await _sources(tx, None)


async def _sources(tx: "Transaction", source_id: UUID | None) -> list[dict[str, Any]]:
    rows = await tx.fetch(
        f"select {_SOURCE}, (select count(*) from leasehold_postings.posting p"
        " where p.source_id = s.source_id and p.state <> 'closed') as open,"
        " (select run_id from leasehold_postings.run_source r where r.source_id = s.source_id"
        "  order by r.finished_at desc nulls first limit 1) as last_run"
        " from leasehold_postings.source s join leasehold_postings.company c using (company_id)"
        " where $1::uuid is null or source_id = $1 order by c.name, board, source_id limit 1000",
        source_id,
    )
    return [_masked(_plain(row, "options", "held")) for row in rows]


async def change_source(
    tx: "Transaction", source_id: UUID, *, enabled: bool | None, options: Options | None
) -> dict[str, Any]:
    await get_source(tx, source_id)
    await tx.execute(
        "update leasehold_postings.source set enabled = coalesce($2, enabled), options = coalesce($3, options)"
        " where source_id = $1",
        source_id, enabled, None if options is None else json.dumps(asdict(options)),
    )  # fmt: skip
    return await get_source(tx, source_id)


async def remove_source(tx: "Transaction", tenant: UUID, source_id: UUID) -> None:
    """With all its postings; not while a run asks it."""
    await get_source(tx, source_id)
    if await tx.fetchval(
        "select exists (select from leasehold_postings.run_source where source_id = $1 and state = 'running')",
        source_id,
    ):
        raise Conflict("a run asks this source now", hint="cancel the run first")
    await spelling.forget(tx, tenant, source_id)
    await tx.execute("delete from leasehold_postings.source where source_id = $1", source_id)


async def decide(tx: "Transaction", tenant: UUID, source_id: UUID, *, close: bool) -> dict[str, Any]:
    """What a person says about closings that were held: they are gone, or the board was wrong."""
    held = await tx.fetchval("select held from leasehold_postings.source where source_id = $1 for update", source_id)
    source = await get_source(tx, source_id)
    if held is None:
        raise Conflict("no closings of this source wait for a decision")
    run_id = UUID(json.loads(held)["run_id"])
    closed = await reconcile.close_held(tx, tenant, source_id, run_id) if close else 0
    await tx.execute("update leasehold_postings.posting set held = false where source_id = $1 and held", source_id)
    await tx.execute(
        "update leasehold_postings.source set held = null, problem = null, health = 'good' where source_id = $1",
        source_id,
    )
    return {"source_id": source["source_id"], "closed": closed}


async def ask_run(
    tx: "Transaction", tenant: UUID, actor: str, *, sources: list[UUID] | None = None, details: str = "due"
) -> Asked:
    """Start a run over these sources, or over all enabled ones of the companies that the caller wants."""
    chosen = await tx.fetch(
        "select source_id, host from leasehold_postings.source s where case when $1::uuid[] is not null"
        " then source_id = any($1) else enabled and not exists (select from leasehold_postings.preference f"
        "  where f.owner = $2 and f.companies is not null and s.company_id <> all(f.companies)) end order by source_id",
        sources, actor,
    )  # fmt: skip
    if sources is not None and len(chosen) < len(set(sources)):
        raise NotFound("not all of these sources are there", hint="leasehold postings sources")
    run_id = await tx.fetchval(
        "insert into leasehold_postings.run (tenant_id, asked_by, details) values ($1, $2, $3) returning run_id",
        tenant, actor, details,
    )  # fmt: skip
    begun = await tx.fetch(
        "insert into leasehold_postings.run_source (run_id, source_id, tenant_id, seq)"
        " select $1, s, $2, 0 from unnest($3::uuid[]) s on conflict do nothing returning source_id",
        run_id, tenant, [row["source_id"] for row in chosen],
    )  # fmt: skip
    free = {row["source_id"] for row in begun}
    if not free:
        raise Conflict(
            "each of these sources is in a run already" if chosen else "there is no enabled source",
            hint="wait for it, or cancel it" if chosen else "leasehold postings add URL",
        )
    flow = run_flow(run_id, [(row["source_id"], row["host"]) for row in chosen if row["source_id"] in free])
    flow_id = await tx.start(flow)
    await tx.execute("update leasehold_postings.run set flow_id = $2 where run_id = $1", run_id, flow_id)
    return Asked(run_id, len(free))


async def get_run(tx: "Transaction", run_id: UUID) -> dict[str, Any]:
    row = await tx.fetchrow(
        "select run_id, asked_by, details, flow_id, state, reason, seq, created_at, finished_at"
        " from leasehold_postings.run where run_id = $1",
        run_id,
    )
    if row is None:
        raise NotFound(f"there is no run {run_id}", hint="leasehold postings runs")
    sources = await tx.fetch(
        "select source_id, c.name as company, s.board, r.state, r.pages, r.complete, r.rung, r.counts, r.problem,"
        " r.finished_at from leasehold_postings.run_source r join leasehold_postings.source s using (source_id)"
        " join leasehold_postings.company c using (company_id) where run_id = $1 order by c.name, source_id",
        run_id,
    )
    told = [_masked(_plain(one, "counts")) for one in sources]
    for one in told:
        one["counts"] = {name: one["counts"][name] for name in reconcile.COUNTED if name in one["counts"]}
    counts = {name: sum(one["counts"].get(name, 0) for one in told) for name in reconcile.COUNTED}
    return dict(row) | {"counts": counts, "sources": told}


async def list_runs(tx: "Transaction", *, limit: int = 50) -> list[dict[str, Any]]:
    rows = await tx.fetch(
        "select run_id, asked_by, state, reason, created_at, finished_at,"
        " (select count(*) from leasehold_postings.run_source s where s.run_id = r.run_id) as sources"
        " from leasehold_postings.run r order by created_at desc limit $1",
        limit,
    )
    return [dict(row) for row in rows]


async def list_source_runs(tx: "Transaction", source_id: UUID, *, limit: int) -> list[dict[str, Any]]:
    """What the newest runs found at one source; one that goes on first."""
    rows = await tx.fetch(
        "select run_id, state, pages, complete, counts, problem, finished_at from leasehold_postings.run_source"
        " where source_id = $1 order by finished_at desc nulls first limit $2",
        source_id, limit,
    )  # fmt: skip
    return [_masked(_plain(row, "counts")) for row in rows]


async def stop_run(tx: "Transaction", run_id: UUID, reason: str) -> UUID | None:
    """End a run as it is; its flow, which is to be canceled, too."""
    run = await get_run(tx, run_id)
    if not await tx.fetchval("select leasehold_postings.stop_run($1, 'canceled', $2)", run_id, reason):
        raise Conflict(f"run {run_id} is {run['state']} already")
    flow_id: UUID | None = run["flow_id"]
    return flow_id


async def run_items(tx: "Transaction", run_id: UUID, *, after: int = 0) -> dict[str, Any]:
    """The run and its items that have changed after a number; ``seq`` is the number to go on from."""
    # One statement, one snapshot: what commits meanwhile has a higher number than the one that is told here.
    row = await tx.fetchrow(
        "select r.state, r.reason, r.seq,"
        " (select coalesce(jsonb_agg(jsonb_build_object('source_id', s.source_id, 'state', s.state, 'pages', s.pages,"
        "  'counts', s.counts, 'problem', s.problem) order by s.source_id), '[]') from leasehold_postings.run_source s"
        "  where s.run_id = r.run_id and (s.seq > $2 or $2 = 0)) as sources,"
        " (select coalesce(jsonb_agg(jsonb_build_object('source_id', i.source_id, 'external_id', i.external_id,"
        "  'title', i.title, 'state', i.state, 'outcome', i.outcome, 'problem', i.problem)"
        "  order by i.source_id, i.external_id), '[]') from leasehold_postings.run_item i"
        "  where i.run_id = r.run_id and i.seq > $2) as items"
        " from leasehold_postings.run r where r.run_id = $1",
        run_id, after,
    )  # fmt: skip
    if row is None:
        raise NotFound(f"there is no run {run_id}")
    told = _plain(row, "sources", "items")
    return told | {name: [_masked(one) for one in told[name]] for name in ("sources", "items")}


async def get_posting(tx: "Transaction", posting_id: UUID) -> dict[str, Any]:
    """All about one posting: its text, what became of it, and where else it is listed."""
    found = await read_postings(tx, [posting_id], text=True)
    if not found:
        raise NotFound(f"there is no posting {posting_id}")
    events = await tx.fetch(
        "select kind, diff, run_id, at from leasehold_postings.event"
        " where posting_id = $1 order by event_id desc limit 500",
        posting_id,
    )
    also = await tx.fetch(
        "select posting_id, source_id, url, state from leasehold_postings.posting"
        " where cluster_id = $1 and posting_id <> $2 order by first_seen limit 100",
        found[0]["cluster_id"], posting_id,
    )  # fmt: skip
    return found[0] | {"events": [_plain(one, "diff") for one in events], "also": [_masked(dict(one)) for one in also]}


async def read_postings(tx: "Transaction", ids: list[UUID], *, text: bool = False) -> list[dict[str, Any]]:
    """In the order of their ids."""
    rows = await tx.fetch(
        f"select {_POSTING}{', description' if text else ''} from leasehold_postings.posting"
        " join leasehold_postings.company c using (company_id) where posting_id = any($1)",
        ids,
    )
    found = {row["posting_id"]: _masked(_plain(row, "salary")) for row in rows}
    return [found[one] for one in ids if one in found]


async def list_versions(tx: "Transaction", posting_id: UUID) -> list[dict[str, Any]]:
    """The newest first."""
    rows = await tx.fetch(
        "select n, facts, minor, valid_from, valid_to, run_id from leasehold_postings.version"
        " where posting_id = $1 order by n desc limit 200",
        posting_id,
    )
    if not rows:
        raise NotFound(f"there is no posting {posting_id}")
    return [_plain(row, "facts") | {"facts": _masked(json.loads(row["facts"]))} for row in rows]


async def diff_versions(tx: "Transaction", posting_id: UUID, before: int, after: int) -> dict[str, Any]:
    rows = await tx.fetch(
        "select n, facts from leasehold_postings.version where posting_id = $1 and n in ($2, $3)",
        posting_id, before, after,
    )  # fmt: skip
    facts = {row["n"]: json.loads(row["facts"]) for row in rows}
    if not {before, after} <= facts.keys():
        raise NotFound(f"posting {posting_id} has no versions {before} and {after}")
    difference = compare(facts[before], facts[after])
    return {"from": before, "to": after, "fields": shown(difference.fields), "minor": difference.minor}


async def list_companies(tx: "Transaction") -> list[dict[str, Any]]:
    """With what is known of how they hire: open postings, new and closed ones of 30 days, and ghosts.

    A ghost is open for more than 90 days, or was posted again at least twice; ``trends.ghosts`` names them.
    """
    rows = await tx.fetch(
        "select company_id, c.name, count(p.posting_id) filter (where p.state <> 'closed') as open,"
        " count(*) filter (where p.first_seen > leasehold.now() - interval '30 days') as opened_30_days,"
        " count(*) filter (where p.closed_at > leasehold.now() - interval '30 days') as closed_30_days,"
        " count(*) filter (where p.state <> 'closed' and (p.reposts >= 2"
        "  or coalesce(p.posted_at, p.first_seen) < leasehold.now() - interval '90 days')) as ghosts"
        " from leasehold_postings.company c left join leasehold_postings.posting p using (company_id)"
        " group by company_id order by c.name limit 1000"
    )
    return [dict(row) for row in rows]


def name_key(name: str) -> str:
    return re.sub(r"[^\w]|_", "", name.casefold())[:200] or name[:200]


def http_url(url: str) -> str:
    """A whole address of a page, or a refusal."""
    parsed = urlsplit(url.strip())
    if parsed.scheme not in ("http", "https") or not parsed.hostname or parsed.username or parsed.password:
        raise BadInput(
            f"{shown(url)[:100]!r} is no whole http or https address", hint="as in https://acme.example.com/jobs"
        )
    return url.strip()


#: What may name an address, and so carry a secret.
_ADDRESSES = ("url", "base", "slug", "problem", "external_id")


def _masked(row: dict[str, Any]) -> dict[str, Any]:
    """The same without the secrets of addresses."""
    return row | {name: shown(row[name]) for name in _ADDRESSES if name in row}


def _plain(row: Any, *documents: str) -> dict[str, Any]:
    return dict(row) | {name: json.loads(row[name]) if row[name] is not None else None for name in documents}


_HOMES = {
    "ashby": "https://api.ashbyhq.com",
    "greenhouse": "https://boards-api.greenhouse.io",
    "lever": "https://api.lever.co",
    "smartrecruiters": "https://api.smartrecruiters.com",
    "workable": "https://apply.workable.com",
}
