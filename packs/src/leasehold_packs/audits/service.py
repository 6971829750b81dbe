"""What people ask of audits, for the routes and the commands alike: one transaction each.

What sites say is shown without its secrets; a page is asked for by its key, since its address may hold one.
"""

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold import Access, Transaction
from leasehold.errors import BadInput, NotFound
from leasehold.redact import redact
from leasehold_packs.audits.crawl import page_key
from leasehold_packs.audits.cursors import cursor_of, place_of
from leasehold_packs.runs.snapshot import Snapshot
from leasehold_packs.webfacts.redacted import shown
from leasehold_packs.webfacts.url_key import url_key

#: Issues of one report, and of a comparison.
MOST = 100_000
_COMPARED = 10_000
_RUN = (
    "run_id, site_id, recipe, options, flow_id, state, reason, pages, score::float8, report, created_at, finished_at,"
    " progress, part, seq, reread_of, settles"
)


async def get_run(tx: Transaction, run_id: UUID) -> dict[str, Any]:
    row = await tx.fetchrow(f"select {_RUN} from leasehold_audits.run where run_id = $1", run_id)
    if row is None:
        raise NotFound(f"there is no audit {run_id}", hint="leasehold audits list")
    counts = await tx.fetch(
        "select state, count(*) as n from leasehold_audits.url where run_id = $1 group by state", run_id
    )
    told = {name: shown(json.loads(row[name] or "null")) for name in ("options", "report")}
    return dict(row) | told | {"reason": shown(row["reason"])} | {"urls": {row["state"]: row["n"] for row in counts}}


async def list_runs(tx: Transaction, *, site_id: UUID | None = None, limit: int = 50) -> list[dict[str, Any]]:
    """The newest first, without their reports."""
    rows = await tx.fetch(
        "select run_id, site_id, s.url, state, reason, pages, score::float8, r.created_at, finished_at, progress,"
        " reread_of"
        " from leasehold_audits.run r join leasehold_audits.site s using (site_id)"
        " where $1::uuid is null or site_id = $1 order by r.created_at desc limit $2",
        site_id, limit,
    )  # fmt: skip
    return [dict(row) | _without_secrets(row, "url", "reason") for row in rows]


async def list_sites(tx: Transaction) -> list[dict[str, Any]]:
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
    return [dict(row) | {"url": shown(row["url"])} for row in rows]


async def snapshot(access: Access, run_id: UUID, after: int | None) -> Snapshot:
    """The run, and then its events: an end that is read has all its events with it."""
    async with access.transaction() as tx:
        run = await get_run(tx, run_id)
        events = []
        if after is not None and run["seq"] > after:
            events = await list_events(tx, run_id, after=after)
    state = {name: value for name, value in run.items() if name not in ("options", "report")}
    return Snapshot(
        seq=run["seq"],
        is_running=run["state"] == "running",
        state=state,
        end=state,
        patches=[(event["seq"], event) for event in events],
    )


async def list_events(tx: Transaction, run_id: UUID, *, after: int, limit: int = 1000) -> list[dict[str, Any]]:
    """What happened in a run, the oldest first."""
    rows = await tx.fetch(
        "select seq, type, step, message, progress, data, at from leasehold_audits.event"
        " where run_id = $1 and seq > $2 order by seq limit $3",
        run_id, after, limit,
    )  # fmt: skip
    told = [dict(row) | {"data": shown(json.loads(row["data"] or "null"))} for row in rows]
    return [one | {"message": shown(one["message"])} for one in told]


async def get_site(tx: Transaction, site_id: UUID) -> dict[str, Any]:
    row = await tx.fetchrow("select site_id, url, created_at from leasehold_audits.site where site_id = $1", site_id)
    if row is None:
        raise NotFound(f"there is no site {site_id}", hint="leasehold audits sites")
    return dict(row) | {"url": shown(row["url"])}


async def put_site(tx: Transaction, tenant: UUID, url: str) -> UUID:
    """The site of an address, registered if it is new."""
    site_id: UUID = await tx.fetchval(
        "insert into leasehold_audits.site (tenant_id, url, url_key) values ($1, $2, $3)"
        " on conflict (tenant_id, url_key) do update set url = excluded.url returning site_id",
        tenant, url, url_key(url),
    )  # fmt: skip
    return site_id


class Part(list[dict[str, Any]]):
    """One part of a list; ``next_cursor`` is where the next one begins, None at the end."""

    def __init__(self, rows: list[dict[str, Any]], next_cursor: str | None) -> None:
        super().__init__(rows)
        self.next_cursor = next_cursor

    def told(self) -> dict[str, Any]:
        """As the API answers it."""
        return {"data": self, "next_cursor": self.next_cursor, "has_more": self.next_cursor is not None}


_RANK = "array_position(array['critical', 'high', 'medium', 'low'], %s)"
_ISSUE = (
    "select i.check_id, i.severity, encode(i.key, 'hex') as key, u.url, i.evidence, f.state"
    " from leasehold_audits.issue i join leasehold_audits.url u using (run_id, key)"
    " join leasehold_audits.run r using (run_id)"
    " left join leasehold_audits.finding f"
    "  on f.site_id = r.site_id and f.check_id = i.check_id and f.key = i.key"
)


async def list_issues(
    tx: Transaction,
    run_id: UUID,
    *,
    check: str | None = None,
    severity: str | None = None,
    state: str | None = None,
    cursor: str | None = None,
    limit: int = 1000,
) -> Part:
    """What a run found, the worst first, and what has become of each by now."""
    await get_run(tx, run_id)
    check_after, key_after = place_of(cursor, 2)
    rank = _RANK % "i.severity"
    rows = await tx.fetch(
        f"{_ISSUE} where i.run_id = $1 and ($2::text is null or i.check_id = $2)"
        " and ($3::text is null or i.severity = $3) and ($4::text is null or f.state = $4)"
        f" and ($5::text is null or ({rank}, i.check_id, u.url, i.key) > ("
        f"  select {rank}, i.check_id, u.url, i.key from leasehold_audits.issue i"
        "  join leasehold_audits.url u using (run_id, key)"
        "  where i.run_id = $1 and i.check_id = $5 and i.key = $6))"
        f" order by {rank}, i.check_id, u.url, i.key limit $7",
        run_id, check, severity, state, check_after, _key_of(key_after), limit + 1,
    )  # fmt: skip
    found = [_issue(row) for row in rows[:limit]]
    last = found[-1] if len(rows) > limit else None
    return Part(found, cursor_of(last["check_id"], last["key"]) if last else None)


async def all_issues(tx: Transaction, run_id: UUID) -> tuple[list[dict[str, Any]], int]:
    """What a run found as a whole, and how many are left out because they are too many."""
    found = await list_issues(tx, run_id, limit=MOST)
    if found.next_cursor is None:
        return found, 0
    every = await tx.fetchval("select count(*) from leasehold_audits.issue where run_id = $1", run_id)
    return found, every - len(found)


async def sample_issues(tx: Transaction, run_id: UUID, *, each: int) -> list[dict[str, Any]]:
    """What each check found, the worst first: on how many pages, how many of them are accepted, and the first ones."""
    await get_run(tx, run_id)
    rows = await tx.fetch(
        f"select * from ({_ISSUE.replace(' from ', _COUNTED, 1)} where i.run_id = $1) i where place <= $2"
        f" order by {_RANK % 'severity'}, check_id, url",
        run_id, each,
    )  # fmt: skip
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        about = {name: row[name] for name in ("check_id", "severity", "pages", "accepted")}
        found.setdefault(row["check_id"], about | {"issues": []})["issues"].append(_issue(row))
    return list(found.values())


#: Columns that count an issue among those of its check.
_COUNTED = (
    ", row_number() over (partition by i.check_id order by u.url) as place,"
    " count(*) over (partition by i.check_id) as pages,"
    " count(*) filter (where f.state = 'accepted') over (partition by i.check_id) as accepted from "
)


async def count_open(tx: Transaction, run_id: UUID) -> dict[str, int]:
    """How many issues of a run nobody has accepted, by severity."""
    rows = await tx.fetch(
        f"select severity, count(*) as n from ({_ISSUE} where i.run_id = $1) i"
        " where state is distinct from 'accepted' group by 1",
        run_id,
    )
    return {row["severity"]: row["n"] for row in rows}


def _issue(row: Any) -> dict[str, Any]:
    told = {name: row[name] for name in ("check_id", "severity", "key", "url", "state")}
    return told | {"url": shown(row["url"]), "evidence": shown(json.loads(row["evidence"]))}


async def list_urls(
    tx: Transaction,
    run_id: UUID,
    *,
    state: str | None = None,
    status: int | None = None,
    depth: int | None = None,
    cursor: str | None = None,
    limit: int,
) -> Part:
    """The pages that a run met, those near the start first."""
    await get_run(tx, run_id)
    [after] = place_of(cursor, 1)
    place = "coalesce(depth, 2147483647), url, key"
    rows = await tx.fetch(
        "select encode(key, 'hex') as key, url, state, status, depth, source, in_sitemap, hops, media_type, bytes,"
        " leasehold_audits.is_cut(u) as is_cut, ms, title, words, indexable, problem"
        " from leasehold_audits.url u where run_id = $1 and ($2::text is null or state = $2)"
        " and ($3::integer is null or status = $3) and ($4::integer is null or depth = $4)"
        f" and ($5::bytea is null or ({place}) > (select {place} from leasehold_audits.url"
        "  where run_id = $1 and key = $5))"
        f" order by {place} limit $6",
        run_id, state, status, depth, _key_of(after), limit + 1,
    )  # fmt: skip
    found = [dict(row) | _without_secrets(row, "url", "title", "problem") for row in rows[:limit]]
    return Part(found, cursor_of(found[-1]["key"]) if len(rows) > limit else None)


async def get_url(tx: Transaction, run_id: UUID, url: str | None = None, *, key: str | None = None) -> dict[str, Any]:
    """All about one page, by its address or its key: its answer, its issues, and the links from and to it."""
    wanted = _key_of(key) or page_key(url)
    row = await tx.fetchrow("select * from leasehold_audits.url where run_id = $1 and key = $2", run_id, wanted)
    if row is None:
        raise NotFound(f"audit {run_id} has not met {shown(url or key)[:200]}")
    links = await tx.fetch(
        "select u.url, encode(u.key, 'hex') as key, l.words as text, l.from_key = $2 as out"
        " from leasehold_audits.link l join leasehold_audits.url u"
        " on u.run_id = l.run_id and u.key = case when l.from_key = $2 then l.to_key else l.from_key end"
        " where l.run_id = $1 and (l.from_key = $2 or l.to_key = $2) order by l.from_key, l.n limit 2000",
        run_id, wanted,
    )  # fmt: skip
    outside = await tx.fetch(
        "select o.url, l.words as text, o.status, o.problem, o.checked_at from leasehold_audits.outside_link l"
        " join leasehold_audits.outside o on o.tenant_id = l.tenant_id and o.key = l.to_key"
        " where l.run_id = $1 and l.from_key = $2 order by l.n limit 1000",
        run_id, wanted,
    )  # fmt: skip
    issues = await tx.fetch(
        "select check_id, severity, evidence from leasehold_audits.issue where run_id = $1 and key = $2 order by 1",
        run_id, wanted,
    )  # fmt: skip
    hidden = ("tenant_id", "final_key", "canonical", "content", "anchors", "simhash", "run_id", "answer")
    told = {name: value for name, value in dict(row).items() if name not in hidden}
    linked = [{"out": one["out"]} | _without_secrets(one, "url", "text", "key") for one in links]
    return (
        told
        | _without_secrets(row, "url", "title", "description", "problem")
        | {
            "key": row["key"].hex(),
            "answer": _answer(row["answer"]),
            "issues": [dict(one) | {"evidence": shown(json.loads(one["evidence"]))} for one in issues],
            "links_out": [_link(one) for one in linked if one["out"]],
            "links_in": [_link(one) for one in linked if not one["out"]],
            "links_outside": [dict(one) | _without_secrets(one, "url", "text", "problem") for one in outside],
        }
    )


def _link(one: dict[str, Any]) -> dict[str, Any]:
    return {name: one[name] for name in ("url", "key", "text")}


def _answer(text: str | None) -> dict[str, Any] | None:
    """Headers without what they are to keep secret: cookies and the like."""
    answer = json.loads(text or "null")
    if answer is None:
        return None
    headers = [list(pair) for pair in redact([(name, value) for name, value in answer["headers"]])]
    told: dict[str, Any] = shown({name: value for name, value in answer.items() if name != "headers"})
    return told | {"headers": headers}


def _without_secrets(row: Any, *names: str) -> dict[str, Any]:
    return {name: shown(row[name]) for name in names}


def _key_of(text: str | None) -> bytes | None:
    try:
        return bytes.fromhex(text) if text else None
    except ValueError:
        raise BadInput("this is no key of a page", hint="use key, as it was listed") from None


async def list_findings(
    tx: Transaction, site_id: UUID, *, state: str | None = None, cursor: str | None = None, limit: int = 1000
) -> Part:
    """What became of what was found, the worst first."""
    [after] = place_of(cursor, 1)
    place = f"{_RANK % 'severity'}, check_id, url, finding_id"
    rows = await tx.fetch(
        "select finding_id, check_id, encode(key, 'hex') as key, url, severity, state, first_run, last_run, note,"
        " accepted_until from leasehold_audits.finding where site_id = $1 and ($2::text is null or state = $2)"
        f" and ($3::uuid is null or ({place}) > (select {place} from leasehold_audits.finding"
        "  where site_id = $1 and finding_id = $3))"
        f" order by {place} limit $4",
        site_id, state, _uuid(after), limit + 1,
    )  # fmt: skip
    found = [dict(row) | _without_secrets(row, "url", "note") for row in rows[:limit]]
    return Part(found, cursor_of(str(found[-1]["finding_id"])) if len(rows) > limit else None)


def _uuid(text: str | None) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        raise BadInput("this is no cursor", hint="use next_cursor of the page before, as it was") from None


async def accept(tx: Transaction, finding_id: UUID, *, note: str | None, until: datetime | None) -> dict[str, Any]:
    """Live with a finding, for ever or until then; without a note it counts again."""
    row = await tx.fetchrow(
        "update leasehold_audits.finding set state = case when $2::text is null then 'open' else 'accepted' end,"
        " note = $2, accepted_until = $3 where finding_id = $1 and state <> 'fixed'"
        " returning finding_id, check_id, url, severity, state, note, accepted_until",
        finding_id, note, until,
    )  # fmt: skip
    if row is None:
        raise NotFound(f"there is no open finding {finding_id}")
    return dict(row) | {"url": shown(row["url"])}


async def compare(tx: Transaction, before: UUID, after: UUID) -> dict[str, Any]:
    """What the later run found and the earlier one did not, and the other way round."""
    runs = [await get_run(tx, before), await get_run(tx, after)]
    if runs[0]["site_id"] != runs[1]["site_id"]:
        raise BadInput("the two audits are of different sites")
    rows = await tx.fetch(
        "select coalesce(a.check_id, b.check_id) as check_id, coalesce(u.url, v.url) as url,"
        " encode(coalesce(a.key, b.key), 'hex') as key, a.key is null as fixed, count(*) over () as n"
        " from (select * from leasehold_audits.issue where run_id = $2) a"
        " full join (select * from leasehold_audits.issue where run_id = $1) b"
        " on b.check_id = a.check_id and b.key = a.key"
        " left join leasehold_audits.url u on u.run_id = $2 and u.key = a.key"
        " left join leasehold_audits.url v on v.run_id = $1 and v.key = b.key"
        " where a.key is null or b.key is null order by 1, 2 limit $3",
        before, after, _COMPARED,
    )  # fmt: skip
    told = [{"check_id": row["check_id"], "key": row["key"], "url": shown(row["url"])} for row in rows]
    return {
        "score": [run["score"] for run in runs],
        "new": [one for one, row in zip(told, rows, strict=True) if not row["fixed"]],
        "fixed": [one for one, row in zip(told, rows, strict=True) if row["fixed"]],
        "left_out": rows[0]["n"] - len(rows) if rows else 0,
    }
