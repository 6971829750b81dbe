"""The end of a run: pages are compared, the site is scored, findings move on, and endpoints are told.

A run that has read no page says nothing: it fails, and findings stay as they were.
"""

import json
from uuid import UUID

from typing_extensions import TypedDict

from leasehold import Transaction
from leasehold_packs.audits import store
from leasehold_packs.audits.crawl import page_key
from leasehold_packs.audits.model_results import AuditReport, Changes, Counts, Term
from leasehold_packs.audits.recipe import checks
from leasehold_packs.audits.run import RUNS, AuditRun
from leasehold_packs.audits.score import Score, score
from leasehold_packs.webfacts.redacted import shown


class Outcome(TypedDict, total=False):
    """The result of the job: a score, or why there is none."""

    score: float
    pages: int
    arithmetic: str
    failed: str


async def end_run(tx: Transaction, run: AuditRun) -> Outcome:
    """Everything in one transaction: a run has ended with all of it, or not yet."""
    run_id = run.run_id
    await tx.execute("select leasehold_audits.fail_queued_pages($1)", run_id)
    if reason := await tx.fetchval("select leasehold_audits.unreachable($1)", run_id):
        return await _fail(tx, run_id, shown(reason))
    await _relate(tx, run)
    counts = await _count(tx, run_id)
    result = score(counts["checks"], pages=counts["pages"], indexable=counts["indexable"])
    before = await tx.fetchval("select leasehold_audits.score_before($1)", run_id)
    changed = await _changed(tx, run.reread_of, run_id) if run.reread_of else None
    report = _report(counts, result, changed)
    await tx.execute(
        "select leasehold_audits.succeed_run($1, $2, $3, $4)",
        run_id, counts["pages"], result.value, json.dumps(report),
    )  # fmt: skip
    await _warn(tx, run_id, counts)
    if await tx.fetchval("select settles from leasehold_audits.run where run_id = $1", run_id):
        gone = await _list_gone(tx, run)
        await tx.execute("select leasehold_audits.update_findings($1, $2)", run_id, gone)
        await _emit(tx, run_id, result.value, before)
    return {"score": result.value, "pages": counts["pages"], "arithmetic": result.arithmetic()}


async def _fail(tx: Transaction, run_id: UUID, reason: str) -> Outcome:
    await RUNS.end(tx, run_id, "failed", reason)
    await tx.emit("audits.run_failed", "audit_run", str(run_id), {"reason": reason})
    return {"failed": reason}


async def _relate(tx: Transaction, run: AuditRun) -> None:
    """Find the issues that only show when all pages are known."""
    severities = {check.id: check.severity for check in checks().values()}
    every = json.dumps(severities)
    await tx.execute("select leasehold_audits.measure_depth($1)", run.run_id)
    await tx.execute("select leasehold_audits.note_relations($1, $2)", run.run_id, every)
    await tx.execute("select leasehold_audits.note_more($1, $2, $3)", run.run_id, page_key(run.url), every)
    await tx.execute("select leasehold_audits.note_outside($1, $2)", run.run_id, severities["link_broken_outside"])


async def _warn(tx: Transaction, run_id: UUID, counts: Counts) -> None:
    """Say of which pages the run says nothing, and why."""
    if forbidden := counts["forbidden"]:
        words = "; ".join(f"{rule}: {_pages(n)}" for rule, n in forbidden.items())
        message, data = f"not read, as {words}", {"forbidden": forbidden}
        await store.add_event(tx, run_id, "warning", "robots", message, data=data)
    if counts["unread"]:
        message = f"{_pages(counts['unread'])} could not be read: what is known of them stays as it was"
        await store.add_event(tx, run_id, "warning", "unread", message)


def _pages(n: int) -> str:
    return "1 page" if n == 1 else f"{n} pages"


async def _list_gone(tx: Transaction, run: AuditRun) -> list[bytes]:
    """Pages with findings that the run would have met if they were there; of all others it knows nothing."""
    if not await tx.fetchval("select leasehold_audits.has_seen_all($1)", run.run_id):
        return []
    rows = await tx.fetch("select key, url from leasehold_audits.list_lost_pages($1)", run.run_id)
    return [row["key"] for row in rows if run.options.covers(row["url"], run.url)]


async def _count(tx: Transaction, run_id: UUID) -> Counts:
    row = await tx.fetchrow("select * from leasehold_audits.count_pages($1)", run_id)
    found = await tx.fetch(
        "select check_id, count(*) as n from leasehold_audits.issue where run_id = $1 group by 1 order by 1",
        run_id,
    )
    forbidden = await tx.fetch("select rule, n from leasehold_audits.count_forbidden($1)", run_id)
    return {
        "pages": row["pages"],
        "indexable": row["indexable"],
        "failed": row["failed"],
        "unread": row["unread"],
        "blocked": row["blocked"],
        "left_out": row["left_out"],
        "depth": row["depth"],
        "links": row["links"],
        "checks": {row["check_id"]: row["n"] for row in found},
        "forbidden": {shown(row["rule"]): row["n"] for row in forbidden},
    }


async def _changed(tx: Transaction, before: UUID, after: UUID) -> Changes:
    """What the recipe of today says otherwise of the same pages, by check."""
    rows = await tx.fetch("select check_id, new, gone from leasehold_audits.compare_checks($1, $2)", before, after)
    score_before = await tx.fetchval("select score::float8 from leasehold_audits.run where run_id = $1", before)
    return {
        "score_before": score_before,
        "checks": {row["check_id"]: {"new": row["new"], "gone": row["gone"]} for row in rows},
    }


def _report(counts: Counts, result: Score, changed: Changes | None) -> AuditReport:
    terms: list[Term] = [
        {
            "check": term.check,
            "weight": term.weight,
            "affected": term.affected,
            "pages": term.pages,
            "taken": term.taken,
        }
        for term in result.terms
    ]
    return {
        **counts,
        "arithmetic": result.arithmetic(),
        "terms": terms,
        "groups": dict(result.groups),
        "changed": changed,
    }


async def _emit(tx: Transaction, run_id: UUID, value: float, before: float | None) -> None:
    subject = "audit_run", str(run_id)
    await tx.emit("audits.run_finished", *subject, {"score": value, "score_before": before})
    if before is not None and value < before:
        await tx.emit("audits.score_fell", *subject, {"score": value, "score_before": before})
    fresh = await tx.fetch("select check_id, url from leasehold_audits.list_new_critical($1)", run_id)
    if fresh:
        await tx.emit("audits.new_critical", *subject, {"findings": [shown(dict(row)) for row in fresh]})
