"""The end of a source within a run: what it lists is compared with what is known of it, in one transaction.

A list that was not read to its end says nothing. A posting that a complete list lacks is suspect, and closed when the
next one lacks it too; where many are gone at once, or the list is empty, their closing waits for a person.
"""

import asyncio
from collections import Counter
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from uuid import UUID, uuid4

from leasehold import Cancel, Transaction
from leasehold_packs.postings import alerts, clusters, spelling, store_runs, store_settle
from leasehold_packs.postings.model import KINDS, Counts, Held, Kind, Options, RunFinished
from leasehold_packs.postings.pay import by_year
from leasehold_packs.postings.posting import Facts, FieldChanges, PublishedSalary, compare, moment
from leasehold_packs.postings.store_settle import (
    EventRow,
    KnownPosting,
    ListedItem,
    PostingRow,
    Refreshed,
    VersionRow,
)
from leasehold_packs.webfacts.page_change import facts_digest
from leasehold_packs.webfacts.simhash import signed, simhash


@dataclass(slots=True, kw_only=True)
class Plan:
    """What is to be written."""

    opened: list[PostingRow] = field(default_factory=list)
    changed: list[PostingRow] = field(default_factory=list)  # reopened and touched ones too
    versions: list[VersionRow] = field(default_factory=list)
    events: list[EventRow] = field(default_factory=list)
    outcomes: dict[str, str] = field(default_factory=dict)  # by external id
    seen: list[UUID] = field(default_factory=list)
    refreshed: list[Refreshed] = field(default_factory=list)
    gone: list[KnownPosting] = field(default_factory=list)
    before: dict[UUID, Facts] = field(default_factory=dict)  # facts that are no longer true

    def add_event(self, kind: Kind, posting_id: UUID, diff: FieldChanges | None = None) -> None:
        self.events.append(EventRow(posting_id=posting_id, kind=kind, diff=diff or {}))

    def ids_of(self, kind: Kind) -> list[UUID]:
        return [event.posting_id for event in self.events if event.kind == kind]


async def settle(tx: Transaction, run_id: UUID, source_id: UUID) -> Counts:
    """Counts of what became of the postings; raises Cancel when the run is over."""
    source = await store_settle.open_settlement(tx, run_id, source_id)
    if source is None:
        raise _over()
    if not source.complete:
        return await _fail(tx, run_id, source_id, source.problem or "its list could not be read to its end")
    items = await store_settle.list_items(tx, run_id, source_id)
    known = await store_settle.list_known(tx, source_id)
    digest = facts_digest({item.external_id: item.list_mark for item in items})
    plan = plan_of(items, known, await store_settle.newest_facts(tx, _to_compare(items, known)))
    await asyncio.to_thread(_add_hashes, plan.opened + plan.changed)
    held = _held(source.options, items, known, plan.gone, run_id)
    if held is None:
        _close_or_suspect(plan)
    closed = plan.ids_of("closed")
    await _write(tx, run_id, source_id, plan, closed)
    if held is not None:
        await store_settle.hold_postings(tx, [row.posting_id for row in plan.gone])
    await clusters.update(tx, source.company_id, plan.opened + plan.changed, closed)
    await spelling.update(tx, [*plan.opened, *plan.changed], plan.before)
    await alerts.notify(tx, plan.events)
    counts = _counts(items, plan, held)
    # As late as this: the number of the run is locked, so until the end of the transaction other sources wait for it.
    rung = "same_list" if digest == source.list_digest else "other_list"
    is_running = await store_settle.settle_source(
        tx, run_id, source_id, counts=counts, outcomes=plan.outcomes, digest=digest, rung=rung, held=held
    )
    if not is_running:
        raise _over()
    subject = "posting_source", str(source_id)
    await tx.emit("postings.source_settled", *subject, {"run_id": str(run_id), "counts": counts})
    if held is not None:
        await tx.emit("postings.closings_held", *subject, {"run_id": str(run_id), "missing": held.missing})
    return counts


async def finish(tx: Transaction, run_id: UUID) -> RunFinished:
    """End the run: it has succeeded if any of its sources was settled."""
    ended = await store_runs.list_states(tx, run_id)
    total: Counter[str] = Counter()
    for _, counts in ended:
        total.update(counts)
    has_succeeded = any(state in ("succeeded", "held") for state, _ in ended) or not ended
    finished = RunFinished(state="succeeded" if has_succeeded else "failed", counts=dict(total))
    problem = None if has_succeeded else "no source could be read"
    if not await store_runs.finish_run(tx, run_id, finished.state, problem):
        raise _over()
    await tx.emit("postings.run_finished", "posting_run", str(run_id), asdict(finished))
    return finished


async def close_held(tx: Transaction, source_id: UUID, run_id: UUID) -> int:
    """A person has said that what is held is really gone."""
    plan = Plan()
    for posting_id in await store_settle.list_held(tx, source_id):
        plan.add_event("closed", posting_id, {"approved": True})
    closed = plan.ids_of("closed")
    await store_settle.close_postings(tx, closed)
    await store_settle.add_events(tx, run_id, source_id, plan.events)
    await clusters.elect_heads(tx, closed)
    return len(closed)


# -- the plan -------------------------------------------------------------------------------------


def _to_compare(items: list[ListedItem], known: list[KnownPosting]) -> list[UUID]:
    """Postings that are listed again, or with other facts."""
    by_id = {row.external_id: row for row in known}
    return [
        row.posting_id
        for item in items
        if (row := by_id.get(item.external_id)) and (row.state == "closed" or item.digest not in (None, row.digest))
    ]


def plan_of(items: list[ListedItem], known: list[KnownPosting], before: dict[UUID, Facts]) -> Plan:
    plan, by_id = Plan(), {row.external_id: row for row in known}
    listed = {item.external_id for item in items}
    plan.gone = [row for row in known if row.state != "closed" and row.external_id not in listed]
    lost = [row for row in known if row.is_recent and row.external_id not in listed]
    for item in items:
        if (row := by_id.get(item.external_id)) is not None:
            _plan_known(plan, item, row, before.get(row.posting_id))
        elif item.facts is not None and item.digest is not None:
            _plan_new(plan, item, item.facts, item.digest, lost)
    return plan


def _plan_known(plan: Plan, item: ListedItem, row: KnownPosting, before: Facts | None) -> None:
    plan.seen.append(row.posting_id)
    plan.outcomes[item.external_id] = "same"
    if item.facts is not None:
        plan.refreshed.append(Refreshed(posting_id=row.posting_id, list_mark=item.list_mark, digest=item.digest))
    if before is None:
        return
    facts = item.facts or before
    difference = compare(before, facts)
    reopened = row.state == "closed"
    if not reopened and not difference.fields:
        return
    digest, version = item.digest or row.digest, row.version + 1
    plan.before[row.posting_id] = before
    changed = _row(row.posting_id, item, facts, digest)
    changed.version = version
    plan.changed.append(changed)
    plan.versions.append(
        VersionRow(posting_id=row.posting_id, n=version, facts=facts, digest=digest, minor=difference.minor)
    )
    kind: Kind = "reopened" if reopened else "touched" if difference.minor else "changed"
    plan.outcomes[item.external_id] = kind
    plan.add_event(kind, row.posting_id, difference.fields)


def _plan_new(plan: Plan, item: ListedItem, facts: Facts, digest: str, lost: list[KnownPosting]) -> None:
    row = _row(uuid4(), item, facts, digest)
    old = next((one for one in lost if _is_repost(one, digest, facts)), None)
    kind: Kind = "opened" if old is None else "reposted"
    if old is not None:
        lost.remove(old)
        row.repost_of, row.reposts = old.posting_id, old.reposts + 1
    plan.opened.append(row)
    plan.add_event(kind, row.posting_id, None if old is None else {"of": str(old.posting_id)})
    plan.outcomes[item.external_id] = kind
    plan.versions.append(VersionRow(posting_id=row.posting_id, n=1, facts=facts, digest=digest, minor=False))


def _is_repost(row: KnownPosting, digest: str, facts: Facts) -> bool:
    """The same words under another id, or the same title and places for the same requisition."""
    same_requisition = row.requisition is not None and row.requisition == facts.requisition
    same_post = row.title == facts.title and row.locations == facts.locations
    return row.digest == digest or (same_requisition and same_post)


def _held(
    options: Options, items: list[ListedItem], known: list[KnownPosting], gone: list[KnownPosting], run_id: UUID
) -> Held | None:
    """What waits for a person: many postings that are gone at once, or all of an empty list."""
    alive = sum(row.state != "closed" for row in known)
    fresh = sum(row.missing == 0 for row in gone)
    many = fresh > options.guard_count and fresh > options.guard_share * alive
    return Held(run_id=run_id, missing=len(gone), known=alive) if gone and (not items or many) else None


def _close_or_suspect(plan: Plan) -> None:
    """Suspect at first, closed the second time."""
    for row in plan.gone:
        plan.add_event("closed" if row.missing > 0 else "suspect", row.posting_id)


async def _write(tx: Transaction, run_id: UUID, source_id: UUID, plan: Plan, closed: list[UUID]) -> None:
    await store_settle.add_postings(tx, source_id, plan.opened)
    await store_settle.note_seen(tx, plan.seen, plan.refreshed)
    await store_settle.change_postings(tx, plan.changed)
    await store_settle.add_versions(tx, run_id, plan.versions)
    await store_settle.suspect_postings(tx, plan.ids_of("suspect"))
    await store_settle.close_postings(tx, closed)
    await store_settle.add_events(tx, run_id, source_id, plan.events)


async def _fail(tx: Transaction, run_id: UUID, source_id: UUID, problem: str) -> Counts:
    if not await store_settle.fail_source(tx, run_id, source_id, problem):
        raise _over()
    about = {"run_id": str(run_id), "problem": problem}
    await tx.emit("postings.source_failed", "posting_source", str(source_id), about)
    return {}


def _over() -> Cancel:
    return Cancel("the run is over")


def _counts(items: list[ListedItem], plan: Plan, held: Held | None) -> Counts:
    kinds = Counter(event.kind for event in plan.events)
    states = Counter(item.state for item in items)
    return {
        "listed": len(items),
        "skipped": states["skipped"],
        "failed": states["error"] + states["pending"],
        "same": sum(outcome == "same" for outcome in plan.outcomes.values()),
        **{name: kinds[name] for name in KINDS},
        "held": held.missing if held else 0,
    }


def _row(posting_id: UUID, item: ListedItem, facts: Facts, digest: str) -> PostingRow:
    """The columns of a posting; search compares pay by the year."""
    pay = facts.salary
    return PostingRow(
        posting_id=posting_id,
        external_id=item.external_id,
        url=facts.url,
        title=facts.title,
        locations=facts.locations,
        place=" | ".join(facts.locations),
        remote=facts.remote,
        employment=facts.employment,
        seniority=facts.seniority,
        department=facts.department,
        requisition=facts.requisition,
        salary=pay,
        currency=pay.currency if pay else None,
        yearly_min=_yearly(pay, pay.min) if pay else None,
        yearly_max=_yearly(pay, pay.max) if pay else None,
        posted_at=moment(facts.posted_at),
        valid_through=facts.valid_through,
        description=facts.description,
        digest=digest,
        list_mark=item.list_mark,
    )


def _yearly(pay: PublishedSalary, amount: str | None) -> str | None:
    found = by_year(Decimal(amount) if amount else None, pay.interval)
    return None if found is None else str(found)


def _add_hashes(rows: list[PostingRow]) -> None:
    """By which postings on other boards are found; a thread's work."""
    for row in rows:
        near = simhash(row.description)
        row.simhash = None if near is None else signed(near)
