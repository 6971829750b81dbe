"""What people ask of audits, for the routes and the commands alike: one transaction each."""

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from leasehold.errors import BadInput, Conflict, NotFound
from leasehold_packs.audits import starting
from leasehold_packs.audits.options import Options
from leasehold_packs.audits.starting import Asked
from leasehold_packs.audits.visiting import page_key
from leasehold_packs.webfacts.url_key import url_key

if TYPE_CHECKING:
    from leasehold.web import Transaction

_RUN = (
    "run_id, site_id, recipe, options, flow_id, state, reason, pages, score::float8, report, created_at, finished_at,"
    " progress, part, seq, reread_of, settles"
)


async def ask(tx: "Transaction", tenant: UUID, url: str, options: Options, *, force: bool = False) -> Asked:
    """Start a run, unless the same one runs already or has just ended."""
    return await starting.begin(tx, tenant, url, options, start=tx.start, force=force)


async def resume(tx: "Transaction", run_id: UUID) -> None:
    """Let a run that was stopped go on."""
    await starting.go_on(tx, run_id, start=tx.start)


async def judge_again(tx: "Transaction", run_id: UUID, *, settle: bool = False) -> UUID:
    """A run over the pages that this one kept, by the recipe of today. With ``settle``, findings follow it."""
    return await starting.judge_again(tx, run_id, settle=settle, start=tx.start)


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
        "select run_id, site_id, s.url, state, reason, pages, score::float8, r.created_at, finished_at, progress,"
        " reread_of"
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
        "  and f.state in ('new', 'open', 'regressed') and f.severity = 'critical') as critical,"
        " array(select p.score::float8 from leasehold_audits.run p where p.site_id = s.site_id and p.settles"
        "  and p.score is not null order by p.created_at desc limit 20) as scores"
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


async def list_events(tx: "Transaction", run_id: UUID, *, after: int, limit: int = 1000) -> list[dict[str, Any]]:
    """What happened in a run, the oldest first."""
    rows = await tx.fetch(
        "select seq, type, step, message, progress, data, at from leasehold_audits.event"
        " where run_id = $1 and seq > $2 order by seq limit $3",
        run_id, after, limit,
    )  # fmt: skip
    return [dict(row) | {"data": json.loads(row["data"] or "null")} for row in rows]


async def get_site(tx: "Transaction", site_id: UUID) -> dict[str, Any]:
    row = await tx.fetchrow("select site_id, url, created_at from leasehold_audits.site where site_id = $1", site_id)
    if row is None:
        raise NotFound(f"there is no site {site_id}", hint="leasehold audits sites")
    return dict(row)


async def put_site(tx: "Transaction", tenant: UUID, url: str) -> UUID:
    """The site of an address, registered if it is new."""
    site_id: UUID = await tx.fetchval(
        "insert into leasehold_audits.site (tenant_id, url, url_key) values ($1, $2, $3)"
        " on conflict (tenant_id, url_key) do update set url = excluded.url returning site_id",
        tenant, url, url_key(url),
    )  # fmt: skip
    return site_id


async def list_issues(
    tx: "Transaction",
    run_id: UUID,
    *,
    check: str | None = None,
    severity: str | None = None,
    state: str | None = None,
    limit: int = 1000,
) -> list[dict[str, Any]]:
    """What a run found, and what has become of each by now."""
    run = await get_run(tx, run_id)
    rows = await tx.fetch(
        "select i.check_id, i.severity, u.url, i.evidence, f.state from leasehold_audits.issue i"
        " join leasehold_audits.url u using (run_id, key)"
        " left join leasehold_audits.finding f on f.site_id = $2 and f.check_id = i.check_id and f.key = i.key"
        " where run_id = $1 and ($3::text is null or i.check_id = $3) and ($4::text is null or i.severity = $4)"
        " and ($5::text is null or f.state = $5)"
        " order by array_position(array['critical', 'high', 'medium', 'low'], i.severity), i.check_id, u.url limit $6",
        run_id, run["site_id"], check, severity, state, limit,
    )  # fmt: skip
    return [dict(row) | {"evidence": json.loads(row["evidence"])} for row in rows]


async def list_urls(
    tx: "Transaction",
    run_id: UUID,
    *,
    state: str | None = None,
    status: int | None = None,
    depth: int | None = None,
    limit: int,
) -> list[dict[str, Any]]:
    await get_run(tx, run_id)
    rows = await tx.fetch(
        "select url, state, status, depth, source, in_sitemap, hops, media_type, bytes, ms, title, words, indexable,"
        " problem from leasehold_audits.url where run_id = $1 and ($2::text is null or state = $2)"
        " and ($3::integer is null or status = $3) and ($4::integer is null or depth = $4)"
        " order by depth, url limit $5",
        run_id, state, status, depth, limit,
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
    outside = await tx.fetch(
        "select o.url, l.words as text, o.status, o.problem, o.checked_at from leasehold_audits.outside_link l"
        " join leasehold_audits.outside o on o.tenant_id = l.tenant_id and o.key = l.to_key"
        " where l.run_id = $1 and l.from_key = $2 order by l.n limit 1000",
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
        "links_outside": [dict(one) for one in outside],
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
