"""What people ask of audits, for the routes and the commands alike: one transaction each."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from leasehold.errors import BadInput, Conflict, NotFound
from leasehold_packs.audits.handlers import run_flow
from leasehold_packs.audits.options import Options, fingerprint
from leasehold_packs.audits.recipe import VERSION
from leasehold_packs.audits.visiting import page_key
from leasehold_packs.webfacts.url_key import url_key

if TYPE_CHECKING:
    from leasehold.web import Transaction

#: The same request within this time gives the run that is there.
WINDOW = timedelta(hours=1)
_RUN = "run_id, site_id, recipe, options, flow_id, state, reason, pages, score::float8, report, created_at, finished_at"


@dataclass(frozen=True, slots=True)
class Asked:
    run_id: UUID
    created: bool


async def ask(tx: "Transaction", tenant: UUID, url: str, options: Options, *, force: bool = False) -> Asked:
    """Start a run, unless the same one runs already or has just ended."""
    key = url_key(url)
    if not options.covers(url, url):
        raise BadInput("the patterns leave out the address to begin with", hint="change include or exclude")
    plain = asdict(options)
    print_ = fingerprint(key, plain)
    site_id = await tx.fetchval(
        "insert into leasehold_audits.site (tenant_id, url, url_key) values ($1, $2, $3)"
        " on conflict (tenant_id, url_key) do update set url = excluded.url returning site_id",
        tenant, url, key,
    )  # fmt: skip
    if not force and (found := await _same(tx, print_)):
        return Asked(found, created=False)
    run_id = await tx.fetchval(
        "insert into leasehold_audits.run (tenant_id, site_id, recipe, fingerprint, options)"
        " values ($1, $2, $3, $4, $5) returning run_id",
        tenant, site_id, VERSION, print_, json.dumps(plain),
    )  # fmt: skip
    flow_id = await tx.start(run_flow(run_id, options))
    await tx.execute("update leasehold_audits.run set flow_id = $2 where run_id = $1", run_id, flow_id)
    return Asked(run_id, created=True)


async def _same(tx: "Transaction", print_: str) -> UUID | None:
    # The upsert of the site has locked its row: two requests at once come one after the other.
    found: UUID | None = await tx.fetchval(
        "select run_id from leasehold_audits.run"
        " where fingerprint = $1"
        " and (state = 'running' or state = 'succeeded' and created_at > leasehold.now() - $2::interval)"
        " order by created_at desc limit 1",
        print_, WINDOW,
    )  # fmt: skip
    return found


async def get_run(tx: "Transaction", run_id: UUID) -> dict[str, Any]:
    row = await tx.fetchrow(f"select {_RUN} from leasehold_audits.run where run_id = $1", run_id)
    if row is None:
        raise NotFound(f"there is no audit {run_id}", hint="leasehold audits list")
    counts = await tx.fetch(
        "select state, count(*) as n from leasehold_audits.url where run_id = $1 group by state", run_id
    )
    told = {name: json.loads(row[name] or "null") for name in ("options", "report")}
    return dict(row) | told | {"urls": {row["state"]: row["n"] for row in counts}}


async def list_runs(tx: "Transaction", *, site_id: UUID | None = None, limit: int = 50) -> list[dict[str, Any]]:
    """The newest first, without their reports."""
    rows = await tx.fetch(
        "select run_id, site_id, s.url, state, reason, pages, score::float8, r.created_at, finished_at"
        " from leasehold_audits.run r join leasehold_audits.site s using (site_id)"
        " where $1::uuid is null or site_id = $1 order by r.created_at desc limit $2",
        site_id, limit,
    )  # fmt: skip
    return [dict(row) for row in rows]


async def list_sites(tx: "Transaction") -> list[dict[str, Any]]:
    """With the newest score, and how many findings are open."""
    rows = await tx.fetch(
        "select s.site_id, s.url, r.run_id as last_run, r.state, r.score::float8, r.finished_at,"
        " (select count(*) from leasehold_audits.finding f where f.site_id = s.site_id"
        "  and f.state in ('new', 'open', 'regressed')) as open,"
        " (select count(*) from leasehold_audits.finding f where f.site_id = s.site_id"
        "  and f.state in ('new', 'open', 'regressed') and f.severity = 'critical') as critical"
        " from leasehold_audits.site s left join lateral ("
        "  select * from leasehold_audits.run r where r.site_id = s.site_id order by created_at desc limit 1) r on true"
        " order by s.url limit 1000"
    )
    return [dict(row) for row in rows]


async def stop(tx: "Transaction", run_id: UUID, reason: str) -> UUID | None:
    """End a run as it is; its flow, which is to be canceled, too."""
    run = await get_run(tx, run_id)
    if not await tx.fetchval("select leasehold_audits.stop_run($1, 'canceled', $2)", run_id, reason):
        raise Conflict(f"audit {run_id} is {run['state']} already")
    flow_id: UUID | None = run["flow_id"]
    return flow_id


async def list_issues(
    tx: "Transaction", run_id: UUID, *, check: str | None = None, severity: str | None = None, limit: int = 1000
) -> list[dict[str, Any]]:
    await get_run(tx, run_id)
    rows = await tx.fetch(
        "select i.check_id, i.severity, u.url, i.evidence from leasehold_audits.issue i"
        " join leasehold_audits.url u using (run_id, key)"
        " where run_id = $1 and ($2::text is null or i.check_id = $2) and ($3::text is null or i.severity = $3)"
        " order by array_position(array['critical', 'high', 'medium', 'low'], i.severity), i.check_id, u.url limit $4",
        run_id, check, severity, limit,
    )  # fmt: skip
    return [dict(row) | {"evidence": json.loads(row["evidence"])} for row in rows]


async def list_urls(tx: "Transaction", run_id: UUID, *, state: str | None, limit: int) -> list[dict[str, Any]]:
    await get_run(tx, run_id)
    rows = await tx.fetch(
        "select url, state, status, depth, source, in_sitemap, hops, media_type, bytes, ms, title, words, indexable,"
        " problem from leasehold_audits.url where run_id = $1 and ($2::text is null or state = $2)"
        " order by depth, url limit $3",
        run_id, state, limit,
    )  # fmt: skip
    return [dict(row) for row in rows]


async def get_url(tx: "Transaction", run_id: UUID, url: str) -> dict[str, Any]:
    """All about one page: its answer, its issues, and the links from and to it."""
    key = page_key(url)
    row = await tx.fetchrow("select * from leasehold_audits.url where run_id = $1 and key = $2", run_id, key)
    if row is None:
        raise NotFound(f"audit {run_id} has not met {url[:200]}")
    links = await tx.fetch(
        "select u.url, l.words, l.from_key = $2 as out from leasehold_audits.link l join leasehold_audits.url u"
        " on u.run_id = l.run_id and u.key = case when l.from_key = $2 then l.to_key else l.from_key end"
        " where l.run_id = $1 and (l.from_key = $2 or l.to_key = $2) order by l.from_key, l.n limit 2000",
        run_id, key,
    )  # fmt: skip
    issues = await tx.fetch(
        "select check_id, severity, evidence from leasehold_audits.issue where run_id = $1 and key = $2 order by 1",
        run_id, key,
    )  # fmt: skip
    hidden = ("tenant_id", "key", "final_key", "canonical", "content", "anchors", "simhash", "run_id", "answer")
    told = {name: value for name, value in dict(row).items() if name not in hidden}
    return told | {
        "answer": json.loads(row["answer"] or "null"),
        "issues": [dict(one) | {"evidence": json.loads(one["evidence"])} for one in issues],
        "links_out": [{"url": one["url"], "text": one["words"]} for one in links if one["out"]],
        "links_in": [{"url": one["url"], "text": one["words"]} for one in links if not one["out"]],
    }


async def list_findings(
    tx: "Transaction", site_id: UUID, *, state: str | None = None, limit: int = 1000
) -> list[dict[str, Any]]:
    rows = await tx.fetch(
        "select finding_id, check_id, url, severity, state, first_run, last_run, note, accepted_until"
        " from leasehold_audits.finding where site_id = $1 and ($2::text is null or state = $2)"
        " order by array_position(array['critical', 'high', 'medium', 'low'], severity), check_id, url limit $3",
        site_id, state, limit,
    )  # fmt: skip
    return [dict(row) for row in rows]


async def accept(tx: "Transaction", finding_id: UUID, *, note: str | None, until: datetime | None) -> dict[str, Any]:
    """Live with a finding, for ever or until then; without a note it counts again."""
    row = await tx.fetchrow(
        "update leasehold_audits.finding set state = case when $2::text is null then 'open' else 'accepted' end,"
        " note = $2, accepted_until = $3 where finding_id = $1 and state <> 'fixed'"
        " returning finding_id, check_id, url, severity, state, note, accepted_until",
        finding_id, note, until,
    )  # fmt: skip
    if row is None:
        raise NotFound(f"there is no open finding {finding_id}")
    return dict(row)


async def compare(tx: "Transaction", before: UUID, after: UUID) -> dict[str, Any]:
    """What the later run found and the earlier one did not, and the other way round."""
    runs = [await get_run(tx, before), await get_run(tx, after)]
    if runs[0]["site_id"] != runs[1]["site_id"]:
        raise BadInput("the two audits are of different sites")
    rows = await tx.fetch(
        "select coalesce(a.check_id, b.check_id) as check_id, coalesce(u.url, v.url) as url, a.key is null as fixed"
        " from (select * from leasehold_audits.issue where run_id = $2) a"
        " full join (select * from leasehold_audits.issue where run_id = $1) b"
        " on b.check_id = a.check_id and b.key = a.key"
        " left join leasehold_audits.url u on u.run_id = $2 and u.key = a.key"
        " left join leasehold_audits.url v on v.run_id = $1 and v.key = b.key"
        " where a.key is null or b.key is null order by 1, 2 limit 10000",
        before, after,
    )  # fmt: skip
    told = [{"check_id": row["check_id"], "url": row["url"]} for row in rows]
    return {
        "score": [run["score"] for run in runs],
        "new": [one for one, row in zip(told, rows, strict=True) if not row["fixed"]],
        "fixed": [one for one, row in zip(told, rows, strict=True) if row["fixed"]],
    }
