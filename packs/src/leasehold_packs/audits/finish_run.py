"""The end of a run: pages compared, the site scored, findings moved on, endpoints told.

A run that has read no page says nothing: it fails, and findings stay as they were.
"""

import json
from typing import Any
from uuid import UUID

from leasehold import Transaction
from leasehold_packs.audits.crawl import page_key
from leasehold_packs.audits.recipe import checks
from leasehold_packs.audits.run import RUNS, Begun
from leasehold_packs.audits.score import Score, score
from leasehold_packs.webfacts.redacted import shown


async def end_run(tx: Transaction, begun: Begun) -> dict[str, Any]:
    """Everything in one transaction: a run has ended with all of it, or not yet."""
    run_id = begun.run_id
    await tx.execute(
        "update leasehold_audits.url set state = 'failed', problem = 'its job ended without an answer'"
        " where run_id = $1 and state = 'queued'",
        run_id,
    )
    if reason := await tx.fetchval("select leasehold_audits.unreachable($1)", run_id):
        return await _fail(tx, run_id, shown(reason))
    await tx.execute("select leasehold_audits.measure_depth($1)", run_id)
    severities = {check.id: check.severity for check in checks().values()}
    await tx.execute("select leasehold_audits.note_relations($1, $2)", run_id, json.dumps(severities))
    await tx.execute(
        "select leasehold_audits.note_more($1, $2, $3)", run_id, page_key(begun.url), json.dumps(severities)
    )
    await tx.execute("select leasehold_audits.note_outside($1, $2)", run_id, severities["link_broken_outside"])
    counts = await _counts(tx, run_id)
    result = score(counts["checks"], pages=counts["pages"], indexable=counts["indexable"])
    before = await _score_before(tx, run_id)
    run = await tx.fetchrow("select settles, reread_of from leasehold_audits.run where run_id = $1", run_id)
    if run["reread_of"]:
        counts["changed"] = await _changed(tx, run["reread_of"], run_id)
    await tx.execute(
        "update leasehold_audits.run set state = 'succeeded', pages = $2, score = $3::float8::numeric, report = $4,"
        " finished_at = leasehold.now() where run_id = $1",
        run_id, counts["pages"], result.value, json.dumps(counts | _told(result)),
    )  # fmt: skip
    await _warn(tx, run_id, counts)
    if run["settles"]:
        gone = await _gone(tx, begun)
        await tx.execute("select leasehold_audits.update_findings($1, $2)", run_id, gone)
        await _tell(tx, run_id, result.value, before)
    return {"score": result.value, "pages": counts["pages"], "arithmetic": result.arithmetic()}


async def _fail(tx: Transaction, run_id: UUID, reason: str) -> dict[str, Any]:
    await RUNS.end(tx, run_id, "failed", reason)
    await tx.emit("audits.run_failed", "audit_run", str(run_id), {"reason": reason})
    return {"failed": reason}


async def _warn(tx: Transaction, run_id: UUID, counts: dict[str, Any]) -> None:
    """Say of which pages the run says nothing, and why."""
    if forbidden := counts["forbidden"]:
        words = "; ".join(f"{rule}: {_pages(n)}" for rule, n in forbidden.items())
        data = json.dumps({"forbidden": forbidden})
        await tx.execute(
            "select leasehold_audits.tell($1, 'warning', 'robots', $2, $3)", run_id, f"not read, as {words}", data
        )
    if counts["unread"]:
        words = f"{_pages(counts['unread'])} could not be read: what is known of them stays as it was"
        await tx.execute("select leasehold_audits.tell($1, 'warning', 'unread', $2)", run_id, words)


def _pages(n: int) -> str:
    return "1 page" if n == 1 else f"{n} pages"


async def _gone(tx: Transaction, begun: Begun) -> list[bytes]:
    """Pages with findings that the run would have met if they were there; of all others it knows nothing."""
    if not await tx.fetchval("select leasehold_audits.has_seen_all($1)", begun.run_id):
        return []
    rows = await tx.fetch(
        "select distinct f.key, f.url from leasehold_audits.run r join leasehold_audits.finding f using (site_id)"
        " where r.run_id = $1 and f.state <> 'fixed' and not exists ("
        "  select from leasehold_audits.url u where u.run_id = $1 and u.key = f.key)",
        begun.run_id,
    )
    return [row["key"] for row in rows if begun.options.covers(row["url"], begun.url)]


async def _counts(tx: Transaction, run_id: UUID) -> dict[str, Any]:
    row = await tx.fetchrow(
        "select count(*) filter (where indexable is not null) as pages, count(*) filter (where indexable) as indexable,"
        " count(*) filter (where state = 'failed' or status >= 400) as failed,"
        " count(*) filter (where state in ('failed', 'fetched') and not leasehold_audits.is_read(u)) as unread,"
        " count(*) filter (where state = 'blocked') as blocked, count(*) filter (where state = 'left') as left_out,"
        " max(depth) as depth from leasehold_audits.url u where run_id = $1",
        run_id,
    )
    found = await tx.fetch(
        "select check_id, count(*) as n from leasehold_audits.issue where run_id = $1 group by 1 order by 1",
        run_id,
    )
    links = await tx.fetchval("select count(*) from leasehold_audits.link where run_id = $1", run_id)
    forbidden = await tx.fetch(
        "select evidence ->> 'rule' as rule, count(*) as n from leasehold_audits.issue"
        " where run_id = $1 and check_id = 'robots_blocked' group by 1 order by 2 desc, 1 limit 100",
        run_id,
    )
    return dict(row) | {
        "links": links,
        "checks": {row["check_id"]: row["n"] for row in found},
        "forbidden": {shown(row["rule"]): row["n"] for row in forbidden},
    }


async def _score_before(tx: Transaction, run_id: UUID) -> float | None:
    found = await tx.fetchval(
        "select b.score::float8 from leasehold_audits.run r join leasehold_audits.run b using (site_id)"
        " where r.run_id = $1 and b.state = 'succeeded' and b.settles and b.created_at < r.created_at"
        " order by b.created_at desc limit 1",
        run_id,
    )
    return None if found is None else float(found)


async def _changed(tx: Transaction, before: UUID, after: UUID) -> dict[str, Any]:
    """What the recipe of today says otherwise of the same pages, by check."""
    rows = await tx.fetch(
        "select coalesce(a.check_id, b.check_id) as check_id, count(*) filter (where b.key is null) as new,"
        " count(*) filter (where a.key is null) as gone"
        " from (select * from leasehold_audits.issue where run_id = $2) a"
        " full join (select * from leasehold_audits.issue where run_id = $1) b"
        " on b.check_id = a.check_id and b.key = a.key"
        " where a.key is null or b.key is null group by 1 order by 1",
        before, after,
    )  # fmt: skip
    score_before = await tx.fetchval("select score::float8 from leasehold_audits.run where run_id = $1", before)
    return {
        "score_before": score_before,
        "checks": {row["check_id"]: {"new": row["new"], "gone": row["gone"]} for row in rows},
    }


def _told(result: Score) -> dict[str, Any]:
    terms = [
        {
            "check": term.check,
            "weight": term.weight,
            "affected": term.affected,
            "pages": term.pages,
            "taken": term.taken,
        }
        for term in result.terms
    ]
    return {"arithmetic": result.arithmetic(), "terms": terms, "groups": dict(result.groups)}


async def _tell(tx: Transaction, run_id: UUID, value: float, before: float | None) -> None:
    subject = "audit_run", str(run_id)
    await tx.emit("audits.run_finished", *subject, {"score": value, "score_before": before})
    if before is not None and value < before:
        await tx.emit("audits.score_fell", *subject, {"score": value, "score_before": before})
    fresh = await tx.fetch(
        "select check_id, url from leasehold_audits.finding"
        " where last_run = $1 and severity = 'critical' and state in ('new', 'regressed')"
        " order by check_id, url limit 100",
        run_id,
    )
    if fresh:
        await tx.emit("audits.new_critical", *subject, {"findings": [shown(dict(row)) for row in fresh]})
