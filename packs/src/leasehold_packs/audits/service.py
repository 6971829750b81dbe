"""What people ask of audits, for the routes and the commands alike: one transaction each.

What sites say is shown without its secrets; a page is asked for by its key, since its address may hold one.
"""

import json
from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold import Access, Transaction
from leasehold.errors import BadInput, NotFound
from leasehold.redact import redact
from leasehold_packs.audits.crawl import page_key
from leasehold_packs.audits.cursors import cursor_of, place_of
from leasehold_packs.audits.model_results import (
    AcceptedFinding,
    AuditEvent,
    AuditProgress,
    AuditSummary,
    CheckSample,
    ComparedIssue,
    Comparison,
    Finding,
    Issue,
    OutsideLink,
    Page,
    PageAnswer,
    PageDetail,
    PageIssue,
    PageLink,
    PageSummary,
    Site,
    SiteAudit,
    SiteSummary,
    T,
)
from leasehold_packs.audits.run import RUNS
from leasehold_packs.runs.snapshot import Snapshot
from leasehold_packs.webfacts.redacted import shown

#: Issues of one report, and of a comparison.
MOST = 100_000
_COMPARED = 10_000


# -- runs and sites ---------------------------------------------------------------------------------------------------


async def get_run(tx: Transaction, run_id: UUID) -> SiteAudit:
    run = await RUNS.get(tx, run_id)
    row = await tx.fetchrow(
        "select site_id, recipe, options, pages, score::float8, report, progress, part, reread_of, settles"
        " from leasehold_audits.run where run_id = $1", run_id,
    )  # fmt: skip
    counts = await tx.fetch(
        "select state, count(*) as n from leasehold_audits.url where run_id = $1 group by state", run_id
    )
    columns = {field.name: getattr(run, field.name) for field in fields(run)} | dict(row)
    masked = {name: shown(json.loads(row[name] or "null")) for name in ("options", "report")}
    urls = {count["state"]: count["n"] for count in counts}
    return SiteAudit(**columns | masked | {"reason": shown(run.reason), "urls": urls})


async def snapshot(access: Access, run_id: UUID, after: int | None) -> Snapshot:
    """The run, and then its events: an end that is read has all its events with it."""
    async with access.transaction() as tx:
        run = await get_run(tx, run_id)
        events = []
        if after is not None and run.seq > after:
            events = await list_events(tx, run_id, after=after)
    state = AuditProgress(**{field.name: getattr(run, field.name) for field in fields(AuditProgress)})
    patches = [(event.seq, event) for event in events]
    return Snapshot(seq=run.seq, is_running=run.is_running, state=state, end=state, patches=patches)


async def list_runs(tx: Transaction, *, site_id: UUID | None = None, limit: int = 50) -> list[AuditSummary]:
    """The newest first, without their reports."""
    rows = await tx.fetch("select * from leasehold_audits.list_runs($1, $2)", site_id, limit)
    return [AuditSummary(**_masked(row, "url", "reason")) for row in rows]


async def list_events(tx: Transaction, run_id: UUID, *, after: int, limit: int = 1000) -> list[AuditEvent]:
    """What happened in a run, the oldest first."""
    rows = await tx.fetch(
        "select seq, type, step, message, progress, data, at from leasehold_audits.event"
        " where run_id = $1 and seq > $2 order by seq limit $3", run_id, after, limit,
    )  # fmt: skip
    return [AuditEvent(**_masked(row, "message") | {"data": shown(json.loads(row["data"] or "null"))}) for row in rows]


async def list_sites(tx: Transaction) -> list[SiteSummary]:
    """With the newest score, and how many findings are open."""
    return [SiteSummary(**_masked(row, "url")) for row in await tx.fetch("select * from leasehold_audits.list_sites()")]


async def get_site(tx: Transaction, site_id: UUID) -> Site:
    row = await tx.fetchrow("select site_id, url, created_at from leasehold_audits.site where site_id = $1", site_id)
    if row is None:
        raise NotFound(f"there is no site {site_id}", hint="leasehold audits sites")
    return Site(**_masked(row, "url"))


# -- issues and findings ----------------------------------------------------------------------------------------------


async def list_issues(
    tx: Transaction,
    run_id: UUID,
    *,
    check: str | None = None,
    severity: str | None = None,
    state: str | None = None,
    cursor: str | None = None,
    limit: int = 1000,
) -> Page[Issue]:
    """What a run found, the worst first, and what has become of each by now."""
    await RUNS.get(tx, run_id)
    check_after, key_after = place_of(cursor, 2)
    rows = await tx.fetch(
        "select * from leasehold_audits.list_issues($1, $2, $3, $4, $5, $6, $7)",
        run_id, check, severity, state, check_after, _key_of(key_after), limit + 1,
    )  # fmt: skip
    found = [_issue(row) for row in rows[:limit]]
    return _page(found, more=len(rows) > limit, place=lambda last: (last.check_id, last.key))


async def all_issues(tx: Transaction, run_id: UUID) -> tuple[list[Issue], int]:
    """What a run found as a whole, and how many are left out because they are too many."""
    found = await list_issues(tx, run_id, limit=MOST)
    if not found.has_more:
        return found.data, 0
    every = await tx.fetchval("select count(*) from leasehold_audits.issue where run_id = $1", run_id)
    return found.data, every - len(found.data)


async def sample_issues(tx: Transaction, run_id: UUID, *, each: int) -> list[CheckSample]:
    """What each check found, the worst first: on how many pages, how many of them are accepted, and the first ones."""
    await RUNS.get(tx, run_id)
    samples: dict[str, CheckSample] = {}
    for row in await tx.fetch("select * from leasehold_audits.sample_issues($1, $2)", run_id, each):
        counts = {name: row[name] for name in ("check_id", "severity", "pages", "accepted")}
        sample = samples.setdefault(row["check_id"], CheckSample(**counts, issues=[]))
        sample.issues.append(_issue(row))
    return list(samples.values())


async def count_open(tx: Transaction, run_id: UUID) -> dict[str, int]:
    """How many issues of a run nobody has accepted, by severity."""
    rows = await tx.fetch("select severity, n from leasehold_audits.count_open($1)", run_id)
    return {row["severity"]: row["n"] for row in rows}


async def list_findings(
    tx: Transaction, site_id: UUID, *, state: str | None = None, cursor: str | None = None, limit: int = 1000
) -> Page[Finding]:
    """What became of what was found, the worst first."""
    [after] = place_of(cursor, 1)
    rows = await tx.fetch(
        "select * from leasehold_audits.list_findings($1, $2, $3, $4)", site_id, state, _uuid(after), limit + 1
    )
    found = [Finding(**_masked(row, "url", "note")) for row in rows[:limit]]
    return _page(found, more=len(rows) > limit, place=lambda last: (str(last.finding_id),))


async def accept(tx: Transaction, finding_id: UUID, *, note: str | None, until: datetime | None) -> AcceptedFinding:
    """Live with a finding, for ever or until then; without a note it counts again."""
    row = await tx.fetchrow("select * from leasehold_audits.accept_finding($1, $2, $3)", finding_id, note, until)
    if row is None:
        raise NotFound(f"there is no open finding {finding_id}")
    return AcceptedFinding(**_masked(row, "url"))


async def compare(tx: Transaction, before: UUID, after: UUID) -> Comparison:
    """What the later run found and the earlier one did not, and the other way round."""
    earlier, later = await get_run(tx, before), await get_run(tx, after)
    if earlier.site_id != later.site_id:
        raise BadInput("the two audits are of different sites")
    rows = await tx.fetch("select * from leasehold_audits.compare_runs($1, $2, $3)", before, after, _COMPARED)
    found = [
        (row["fixed"], ComparedIssue(check_id=row["check_id"], key=row["key"], url=shown(row["url"]))) for row in rows
    ]
    return Comparison(
        score=(earlier.score, later.score),
        new=[issue for is_fixed, issue in found if not is_fixed],
        fixed=[issue for is_fixed, issue in found if is_fixed],
        left_out=rows[0]["n"] - len(rows) if rows else 0,
    )


# -- pages ------------------------------------------------------------------------------------------------------------


async def list_urls(
    tx: Transaction,
    run_id: UUID,
    *,
    state: str | None = None,
    status: int | None = None,
    depth: int | None = None,
    cursor: str | None = None,
    limit: int,
) -> Page[PageSummary]:
    """The pages that a run met, those near the start first."""
    await RUNS.get(tx, run_id)
    [after] = place_of(cursor, 1)
    rows = await tx.fetch(
        "select * from leasehold_audits.list_urls($1, $2, $3, $4, $5, $6)",
        run_id, state, status, depth, _key_of(after), limit + 1,
    )  # fmt: skip
    found = [PageSummary(**_masked(row, "url", "title", "problem")) for row in rows[:limit]]
    return _page(found, more=len(rows) > limit, place=lambda last: (last.key,))


async def get_url(tx: Transaction, run_id: UUID, url: str | None = None, *, key: str | None = None) -> PageDetail:
    """All about one page, by its address or its key: its answer, its issues, and the links from and to it."""
    wanted = _key_of(key) or page_key(url)
    row = await tx.fetchrow("select * from leasehold_audits.url where run_id = $1 and key = $2", run_id, wanted)
    if row is None:
        raise NotFound(f"audit {run_id} has not met {shown(url or key)[:200]}")
    links = await tx.fetch("select * from leasehold_audits.list_links($1, $2)", run_id, wanted)
    outside = await tx.fetch("select * from leasehold_audits.list_outside_links($1, $2)", run_id, wanted)
    issues = await tx.fetch(
        "select check_id, severity, evidence from leasehold_audits.issue where run_id = $1 and key = $2 order by 1",
        run_id, wanted,
    )  # fmt: skip
    masked = _masked(row, "url", "title", "description", "problem")
    columns = {field.name: masked[field.name] for field in fields(PageDetail) if field.name in masked}
    found = columns | {
        "key": row["key"].hex(),
        "answer": _answer(row["answer"]),
        "issues": [PageIssue(**dict(one) | {"evidence": shown(json.loads(one["evidence"]))}) for one in issues],
        "links_out": [_link(one) for one in links if one["leaves"]],
        "links_in": [_link(one) for one in links if not one["leaves"]],
        "links_outside": [OutsideLink(**_masked(one, "url", "text", "problem")) for one in outside],
    }
    return PageDetail(**found)


# -- rows -------------------------------------------------------------------------------------------------------------


def _issue(row: Any) -> Issue:
    columns = {field.name: row[field.name] for field in fields(Issue)}
    return Issue(**columns | {"url": shown(row["url"]), "evidence": shown(json.loads(row["evidence"]))})


def _link(row: Any) -> PageLink:
    return PageLink(url=shown(row["url"]), key=row["key"], text=shown(row["text"]))


def _answer(text: str | None) -> PageAnswer | None:
    """Headers without what they are to keep secret: cookies and the like."""
    answer = json.loads(text or "null")
    if answer is None:
        return None
    headers = [list(pair) for pair in redact([(name, value) for name, value in answer["headers"]])]
    masked: PageAnswer = shown({name: value for name, value in answer.items() if name != "headers"})
    return {**masked, "headers": headers}


def _masked(row: Any, *names: str) -> dict[str, Any]:
    """The columns of a row, these without the secrets of addresses."""
    return dict(row) | {name: shown(row[name]) for name in names}


def _page(found: list[T], *, more: bool, place: Callable[[T], tuple[str, ...]]) -> Page[T]:
    return Page(data=found, next_cursor=cursor_of(*place(found[-1])) if more else None, has_more=more)


def _key_of(text: str | None) -> bytes | None:
    try:
        return bytes.fromhex(text) if text else None
    except ValueError:
        raise BadInput("this is no key of a page", hint="use key, as it was listed") from None


def _uuid(text: str | None) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        raise BadInput("this is no cursor", hint="use next_cursor of the page before, as it was") from None
