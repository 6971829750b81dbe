"""The end of a source within a run: what it lists is compared with what is known of it, in one transaction.

A list that was not read to its end says nothing. A posting that a complete list lacks is suspect, and closed when the
next one lacks it too; where many are gone at once, or the list is empty, their closing waits for a person.
"""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from leasehold import Cancel, Transaction
from leasehold_packs.postings import alerts, clusters, spelling
from leasehold_packs.postings.model import Options
from leasehold_packs.postings.pay import by_year
from leasehold_packs.postings.posting import compare, moment
from leasehold_packs.webfacts.page_change import facts_digest
from leasehold_packs.webfacts.simhash import signed, simhash

#: What may become of a posting in a run, and all that is counted, in the order in which it is told.
KINDS = ("opened", "changed", "touched", "suspect", "closed", "reopened", "reposted")
COUNTED = ("listed", "skipped", "failed", "same", *KINDS, "held")


@dataclass(slots=True, kw_only=True)
class Plan:
    """What is to be written; rows are those of the tables, as JSON."""

    opened: list[dict[str, Any]] = field(default_factory=list)
    changed: list[dict[str, Any]] = field(default_factory=list)  # reopened and touched ones too
    versions: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    outcomes: dict[str, str] = field(default_factory=dict)  # by external id
    seen: list[UUID] = field(default_factory=list)
    refreshed: list[dict[str, Any]] = field(default_factory=list)  # read again, and the same
    gone: list[Any] = field(default_factory=list)
    before: dict[UUID, dict[str, Any]] = field(default_factory=dict)  # facts that are no longer true

    def tell(self, kind: str, posting_id: UUID, diff: dict[str, Any] | None = None) -> None:
        self.events.append({"posting_id": str(posting_id), "kind": kind, "diff": diff or {}})


async def settle(tx: Transaction, tenant: UUID, run_id: UUID, source_id: UUID) -> dict[str, int]:
    """Counts of what became of the postings; raises Cancel when the run is over."""
    source = await tx.fetchrow("select * from leasehold_postings.source where source_id = $1 for update", source_id)
    begun = await tx.fetchrow(
        "select complete, problem from leasehold_postings.run_source"
        " where run_id = $1 and source_id = $2 and state = 'running'",
        run_id, source_id,
    )  # fmt: skip
    if begun is None:
        raise Cancel("the run is over")
    if not begun["complete"]:
        return await _fail(tx, run_id, source_id, begun["problem"] or "its list could not be read to its end")
    items = await tx.fetch(
        "select external_id, state, list_mark, facts, digest from leasehold_postings.run_item"
        " where run_id = $1 and source_id = $2",
        run_id, source_id,
    )  # fmt: skip
    known = await tx.fetch(
        "select posting_id, external_id, state, digest, version, missing, title, locations, requisition, reposts,"
        " closed_at > leasehold.now() - interval '90 days' as lately"
        " from leasehold_postings.posting where source_id = $1",
        source_id,
    )  # fmt: skip
    digest = facts_digest({item["external_id"]: item["list_mark"] for item in items})
    rung = "same_list" if digest == source["list_digest"] else "other_list"
    plan = await _plan(tx, items, known)
    await asyncio.to_thread(_add_hashes, plan.opened + plan.changed)
    held = _must_hold(Options(**json.loads(source["options"])), items, known, plan.gone)
    closed = [] if held else _judge_missing(plan)
    await _write(tx, tenant, run_id, source, plan, closed)
    if held:
        await tx.execute(
            "update leasehold_postings.posting set held = true where posting_id = any($1)",
            [row["posting_id"] for row in plan.gone],
        )
    await clusters.update(tx, tenant, source["company_id"], plan.opened + plan.changed, closed)
    await spelling.update(tx, tenant, [*plan.opened, *plan.changed], plan.before)
    await alerts.tell(tx, plan.events)
    counts = _counts(items, plan, held=held)
    seq = await _next_seq(tx, run_id)  # as late as this: until the end of the transaction, other sources wait for it
    hold = _hold(run_id, known, plan) if held else None
    await _end_source(tx, run_id, source_id, seq, counts, digest=digest, rung=rung, held=hold)
    await tx.execute(
        "update leasehold_postings.run_item i set outcome = o.value, seq = $4, facts = null, listed = null"
        " from leasehold_postings.run_item j left join jsonb_each_text($3::jsonb) o on o.key = j.external_id"
        " where i.run_id = $1 and i.source_id = $2 and j.run_id = $1 and j.source_id = $2"
        " and j.external_id = i.external_id",
        run_id, source_id, json.dumps(plan.outcomes), seq,
    )  # fmt: skip
    subject = "posting_source", str(source_id)
    await tx.emit("postings.source_settled", *subject, {"run_id": str(run_id), "counts": counts})
    if held:
        await tx.emit("postings.closings_held", *subject, {"run_id": str(run_id), "missing": len(plan.gone)})
    return counts


async def finish(tx: Transaction, run_id: UUID) -> dict[str, Any]:
    """End the run: it has succeeded if any of its sources was settled. Runs of a month ago are forgotten."""
    rows = await tx.fetch("select state, counts from leasehold_postings.run_source where run_id = $1", run_id)
    total: Counter[str] = Counter()
    for row in rows:
        total.update(json.loads(row["counts"]))
    state = "succeeded" if any(row["state"] in ("succeeded", "held") for row in rows) or not rows else "failed"
    problem = None if state == "succeeded" else "no source could be read"
    if not await tx.fetchval("select leasehold_postings.stop_run($1, 'failed', $2)", run_id, problem):
        raise Cancel("the run is over")
    await tx.execute("update leasehold_postings.run set state = $2 where run_id = $1", run_id, state)
    await tx.execute("delete from leasehold_postings.run where finished_at < leasehold.now() - interval '30 days'")
    await tx.emit("postings.run_finished", "posting_run", str(run_id), {"state": state, "counts": dict(total)})
    return {"state": state, "counts": dict(total)}


async def close_held(tx: Transaction, tenant: UUID, source_id: UUID, run_id: UUID) -> int:
    """A person has said that what is held is really gone."""
    rows = await tx.fetch(
        "select posting_id, external_id, version from leasehold_postings.posting"
        " where source_id = $1 and held and state <> 'closed'",
        source_id,
    )
    plan = Plan()
    for row in rows:
        plan.tell("closed", row["posting_id"], {"approved": True})
    ids = [row["posting_id"] for row in rows]
    await _close(tx, ids)
    await _write_events(tx, tenant, run_id, source_id, plan.events)
    await clusters.elect(tx, ids)
    return len(rows)


async def _plan(tx: Transaction, items: list[Any], known: list[Any]) -> Plan:
    plan, by_id = Plan(), {row["external_id"]: row for row in known}
    listed = {item["external_id"] for item in items}
    plan.gone = [row for row in known if row["state"] != "closed" and row["external_id"] not in listed]
    lost = [row for row in known if row["external_id"] not in listed and (row["state"] != "closed" or row["lately"])]
    wanted = [
        by_id[item["external_id"]]["posting_id"]
        for item in items
        if (row := by_id.get(item["external_id"]))
        and (row["state"] == "closed" or item["digest"] not in (None, row["digest"]))
    ]
    versions = await tx.fetch(
        "select distinct on (posting_id) posting_id, facts from leasehold_postings.version where posting_id = any($1)"
        " order by posting_id, n desc",
        wanted,
    )
    before = {row["posting_id"]: json.loads(row["facts"]) for row in versions}
    for item in items:
        if (row := by_id.get(item["external_id"])) is not None:
            _plan_known(plan, item, row, before.get(row["posting_id"]))
        elif item["facts"] is not None:
            _plan_new(plan, item, lost)
    return plan


def _plan_known(plan: Plan, item: Any, row: Any, before: dict[str, Any] | None) -> None:
    posting_id, name = row["posting_id"], item["external_id"]
    plan.seen.append(posting_id)
    plan.outcomes[name] = "same"
    facts = json.loads(item["facts"]) if item["facts"] else None
    if facts is not None:
        plan.refreshed.append({"posting_id": str(posting_id), "list_mark": item["list_mark"], "digest": item["digest"]})
    if before is None:
        return
    difference = compare(before, facts or before)
    reopened = row["state"] == "closed"
    if not reopened and not difference.fields:
        return
    facts = facts or before
    plan.before[posting_id] = before
    plan.changed.append(
        _row(posting_id, item, facts) | {"version": row["version"] + 1, "digest": item["digest"] or row["digest"]}
    )
    plan.versions.append(
        _version(posting_id, row["version"] + 1, facts, item["digest"] or row["digest"], difference.minor)
    )
    kind = "reopened" if reopened else "touched" if difference.minor else "changed"
    plan.outcomes[name] = kind
    plan.tell(kind, posting_id, difference.fields)


def _plan_new(plan: Plan, item: Any, lost: list[Any]) -> None:
    facts, posting_id = json.loads(item["facts"]), uuid4()
    old = next((row for row in lost if _is_repost(row, item["digest"], facts)), None)
    row = _row(posting_id, item, facts)
    if old is None:
        plan.opened.append(row | {"repost_of": None, "reposts": 0})
        plan.tell("opened", posting_id)
        plan.outcomes[item["external_id"]] = "opened"
    else:
        lost.remove(old)
        plan.opened.append(row | {"repost_of": str(old["posting_id"]), "reposts": old["reposts"] + 1})
        plan.tell("reposted", posting_id, {"of": str(old["posting_id"])})
        plan.outcomes[item["external_id"]] = "reposted"
    plan.versions.append(_version(posting_id, 1, facts, item["digest"], minor=False))


def _is_repost(row: Any, digest: str, facts: dict[str, Any]) -> bool:
    """The same words under another id, or the same title and places for the same requisition."""
    same_requisition = row["requisition"] is not None and row["requisition"] == facts["requisition"]
    same_post = row["title"] == facts["title"] and row["locations"] == facts["locations"]
    return bool(row["digest"] == digest or (same_requisition and same_post))


def _must_hold(options: Options, items: list[Any], known: list[Any], gone: list[Any]) -> bool:
    alive = sum(row["state"] != "closed" for row in known)
    fresh = sum(row["missing"] == 0 for row in gone)
    many = fresh > options.guard_count and fresh > options.guard_share * alive
    return bool(gone) and (not items or many)


def _judge_missing(plan: Plan) -> list[UUID]:
    """Suspect at first, closed the second time; those that are closed."""
    closed = [row["posting_id"] for row in plan.gone if row["missing"] > 0]
    for row in plan.gone:
        plan.tell("closed" if row["missing"] > 0 else "suspect", row["posting_id"])
    return closed


async def _write(tx: Transaction, tenant: UUID, run_id: UUID, source: Any, plan: Plan, closed: list[UUID]) -> None:
    source_id = source["source_id"]
    await tx.execute(
        "insert into leasehold_postings.posting"
        f" ({_COLUMNS}, repost_of, reposts, cluster_id, detail_at, tenant_id, source_id, company_id)"
        f" select {_COLUMNS}, repost_of, reposts, posting_id, leasehold.now(), $2, $3, $4"
        f" from jsonb_to_recordset($1::jsonb) r({_TYPES}, repost_of uuid, reposts integer)",
        json.dumps(plan.opened), tenant, source_id, source["company_id"],
    )  # fmt: skip
    await tx.execute(
        "update leasehold_postings.posting set last_seen = leasehold.now(), missing = 0, held = false,"
        " state = case state when 'suspect' then 'open' else state end where posting_id = any($1)",
        plan.seen,
    )
    await tx.execute(
        "update leasehold_postings.posting p set list_mark = r.list_mark, digest = r.digest,"
        " detail_at = leasehold.now()"
        " from jsonb_to_recordset($1::jsonb) r(posting_id uuid, list_mark text, digest text)"
        " where p.posting_id = r.posting_id",
        json.dumps(plan.refreshed),
    )
    sets = ", ".join(f"{name} = r.{name}" for name in _NAMES if name not in ("posting_id", "external_id"))
    await tx.execute(
        f"update leasehold_postings.posting p set {sets}, version = r.version, state = 'open', closed_at = null,"
        " reopened = p.reopened + (p.state = 'closed')::integer"
        f" from jsonb_to_recordset($1::jsonb) r({_TYPES}, version integer) where p.posting_id = r.posting_id",
        json.dumps(plan.changed),
    )
    await tx.execute(
        "update leasehold_postings.version v set valid_to = leasehold.now()"
        " from jsonb_to_recordset($1::jsonb) r(posting_id uuid, n integer)"
        " where v.posting_id = r.posting_id and v.n < r.n and v.valid_to is null",
        json.dumps(plan.versions),
    )
    await tx.execute(
        "insert into leasehold_postings.version (posting_id, n, tenant_id, run_id, facts, digest, minor)"
        " select posting_id, n, $2, $3, facts, digest, minor"
        " from jsonb_to_recordset($1::jsonb) r(posting_id uuid, n integer, facts jsonb, digest text, minor boolean)",
        json.dumps(plan.versions), tenant, run_id,
    )  # fmt: skip
    suspects = [UUID(one["posting_id"]) for one in plan.events if one["kind"] == "suspect"]
    await tx.execute(
        "update leasehold_postings.posting set state = 'suspect', missing = missing + 1 where posting_id = any($1)",
        suspects,
    )
    await _close(tx, closed)
    await _write_events(tx, tenant, run_id, source_id, plan.events)


async def _close(tx: Transaction, ids: list[UUID]) -> None:
    await tx.execute(
        "update leasehold_postings.posting set state = 'closed', held = false, missing = missing + 1,"
        " closed_at = leasehold.now() where posting_id = any($1)",
        ids,
    )
    await tx.execute(
        "update leasehold_postings.version set valid_to = leasehold.now()"
        " where posting_id = any($1) and valid_to is null",
        ids,
    )


async def _write_events(tx: Transaction, tenant: UUID, run_id: UUID, source_id: UUID, events: list[Any]) -> None:
    await tx.execute(
        "insert into leasehold_postings.event (tenant_id, posting_id, source_id, run_id, kind, diff)"
        " select $2, posting_id, $3, $4, kind, diff"
        " from jsonb_to_recordset($1::jsonb) r(posting_id uuid, kind text, diff jsonb)",
        json.dumps(events), tenant, source_id, run_id,
    )  # fmt: skip


async def _end_source(
    tx: Transaction, run_id: UUID, source_id: UUID, seq: int, counts: dict[str, int], *, digest: str, rung: str,
    held: dict[str, Any] | None,
) -> None:  # fmt: skip
    await tx.execute(
        "update leasehold_postings.run_source set state = $3, seq = $4, counts = $5, list_digest = $6, rung = $7,"
        " finished_at = leasehold.now() where run_id = $1 and source_id = $2",
        run_id, source_id, "held" if held else "succeeded", seq, json.dumps(counts), digest, rung,
    )  # fmt: skip
    problem = f"{held['missing']} of {held['known']} postings are gone at once" if held else None
    await tx.execute(
        "update leasehold_postings.source set health = $2, problem = $3, failures = 0, held = $4,"
        " list_digest = case when $4::jsonb is null then $5 else list_digest end,"
        " last_ok_at = case when $4::jsonb is null then leasehold.now() else last_ok_at end where source_id = $1",
        source_id, "suspicious" if held else "good", problem, json.dumps(held) if held else None, digest,
    )  # fmt: skip


async def _next_seq(tx: Transaction, run_id: UUID) -> int:
    seq: int | None = await tx.fetchval("select leasehold_postings.next_seq($1)", run_id)
    if seq is None:
        raise Cancel("the run is over")
    return seq


async def _fail(tx: Transaction, run_id: UUID, source_id: UUID, problem: str) -> dict[str, int]:
    seq = await _next_seq(tx, run_id)
    await tx.execute(
        "update leasehold_postings.run_source set state = 'failed', seq = $3, problem = $4,"
        " finished_at = leasehold.now() where run_id = $1 and source_id = $2",
        run_id, source_id, seq, problem,
    )  # fmt: skip
    await tx.execute(
        "update leasehold_postings.source set health = 'failing', problem = $2, failures = failures + 1"
        " where source_id = $1",
        source_id, problem,
    )  # fmt: skip
    await tx.execute(
        "update leasehold_postings.run_item set facts = null, listed = null where run_id = $1 and source_id = $2",
        run_id, source_id,
    )  # fmt: skip
    subject = "posting_source", str(source_id)
    await tx.emit("postings.source_failed", *subject, {"run_id": str(run_id), "problem": problem})
    return {}


def _hold(run_id: UUID, known: list[Any], plan: Plan) -> dict[str, Any]:
    alive = sum(row["state"] != "closed" for row in known)
    return {"run_id": str(run_id), "missing": len(plan.gone), "known": alive}


def _counts(items: list[Any], plan: Plan, *, held: bool) -> dict[str, int]:
    kinds = Counter(event["kind"] for event in plan.events)
    states = Counter(item["state"] for item in items)
    return {
        "listed": len(items),
        "skipped": states["skipped"],
        "failed": states["error"] + states["pending"],
        "same": sum(outcome == "same" for outcome in plan.outcomes.values()),
        **{name: kinds[name] for name in KINDS},
        "held": len(plan.gone) if held else 0,
    }


_NAMES = {
    "posting_id": "uuid",
    "external_id": "text",
    "url": "text",
    "title": "text",
    "locations": "text[]",
    "place": "text",
    "remote": "text",
    "employment": "text",
    "seniority": "text",
    "department": "text",
    "requisition": "text",
    "salary": "jsonb",
    "currency": "text",
    "yearly_min": "numeric",
    "yearly_max": "numeric",
    "posted_at": "timestamptz",
    "valid_through": "text",
    "description": "text",
    "digest": "text",
    "list_mark": "text",
    "simhash": "bigint",
}
_COLUMNS = ", ".join(_NAMES)
_TYPES = ", ".join(f"{name} {type_}" for name, type_ in _NAMES.items())


def _row(posting_id: UUID, item: Any, facts: dict[str, Any]) -> dict[str, Any]:
    """The columns of a posting."""
    posted = moment(facts["posted_at"])
    return {
        "posting_id": str(posting_id),
        "external_id": item["external_id"],
        "place": " | ".join(facts["locations"]),
        "digest": item["digest"],
        "list_mark": item["list_mark"],
        "simhash": None,
        **{name: facts[name] for name in _SAME},
        **_pay(facts["salary"]),
        "posted_at": posted.isoformat() if posted else None,
    }


def _add_hashes(rows: list[dict[str, Any]]) -> None:
    """By which postings on other boards are found; a thread's work."""
    for row in rows:
        near = simhash(row["description"])
        row["simhash"] = None if near is None else signed(near)


_SAME = (
    "url", "title", "locations", "remote", "employment", "seniority", "department", "requisition", "salary",
    "valid_through", "description",
)  # fmt: skip


def _pay(salary: dict[str, Any] | None) -> dict[str, Any]:
    """What search compares: both ends by the year."""
    told = salary or {"currency": None, "interval": None, "min": None, "max": None}
    ends = {name: by_year(Decimal(told[end]) if told[end] else None, told["interval"]) for name, end in _ENDS}
    return {"currency": told["currency"], **{name: None if end is None else str(end) for name, end in ends.items()}}


_ENDS = (("yearly_min", "min"), ("yearly_max", "max"))


def _version(posting_id: UUID, n: int, facts: dict[str, Any], digest: str, minor: bool) -> dict[str, Any]:
    return {"posting_id": str(posting_id), "n": n, "facts": facts, "digest": digest, "minor": minor}
