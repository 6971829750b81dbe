"""What settling a source reads and writes, in the pack's own tables; rows go to SQL as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from leasehold import Transaction
from leasehold_packs.postings.model import Counts, Held, ItemState, Kind, Options
from leasehold_packs.postings.posting import Facts, FieldChanges, PublishedSalary
from leasehold_packs.rows.values import adapter, json_of, value_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """A source that a run is to settle; ``complete`` if its list was read to its end."""

    company_id: UUID
    options: Options
    list_digest: str | None
    complete: bool
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedItem:
    external_id: str
    state: ItemState
    list_mark: str
    facts: Facts | None
    digest: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPosting:
    """``is_recent``: open, or closed in the last 90 days."""

    posting_id: UUID
    external_id: str
    state: str
    digest: str
    version: int
    missing: int
    title: str
    locations: list[str]
    requisition: str | None
    reposts: int
    is_recent: bool


@dataclass(slots=True, kw_only=True)
class PostingRow:
    """The columns of a posting that is new, or says something else now."""

    posting_id: UUID
    external_id: str
    url: str
    title: str
    locations: list[str]
    place: str
    remote: str | None
    employment: str | None
    seniority: str | None
    department: str | None
    requisition: str | None
    salary: PublishedSalary | None
    currency: str | None
    yearly_min: str | None
    yearly_max: str | None
    posted_at: datetime | None
    valid_through: str | None
    description: str
    digest: str
    list_mark: str
    simhash: int | None = None
    version: int = 1
    repost_of: UUID | None = None
    reposts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRow:
    posting_id: UUID
    n: int
    facts: Facts
    digest: str
    minor: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    posting_id: UUID
    kind: Kind
    diff: FieldChanges


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """A posting that was read again, and is the same."""

    posting_id: UUID
    list_mark: str
    digest: str | None


# -- what is known --------------------------------------------------------------------------------


async def open_settlement(tx: Transaction, run_id: UUID, source_id: UUID) -> Settlement | None:
    """Nobody else settles the source until the transaction ends. None when the run is over."""
    row = await tx.fetchrow("select * from leasehold_postings.open_settlement($1, $2)", run_id, source_id)
    return None if row is None else value_of(Settlement, row, "options")


async def list_items(tx: Transaction, run_id: UUID, source_id: UUID) -> list[ListedItem]:
    rows = await tx.fetch("select * from leasehold_postings.list_items($1, $2)", run_id, source_id)
    return [value_of(ListedItem, row, "facts") for row in rows]


async def list_known(tx: Transaction, source_id: UUID) -> list[KnownPosting]:
    rows = await tx.fetch("select * from leasehold_postings.list_known($1)", source_id)
    return [value_of(KnownPosting, row) for row in rows]


async def newest_facts(tx: Transaction, postings: Sequence[UUID]) -> dict[UUID, Facts]:
    rows = await tx.fetch("select * from leasehold_postings.newest_facts($1)", list(postings))
    return {row["posting_id"]: adapter(Facts).validate_json(row["facts"]) for row in rows}


async def list_held(tx: Transaction, source_id: UUID) -> list[UUID]:
    """Postings whose closing waits for a person."""
    rows = await tx.fetch(
        "select posting_id from leasehold_postings.posting where source_id = $1 and held and state <> 'closed'",
        source_id,
    )
    return [row["posting_id"] for row in rows]


# -- what becomes of it ---------------------------------------------------------------------------


async def add_postings(tx: Transaction, source_id: UUID, rows: list[PostingRow]) -> None:
    await tx.execute("select leasehold_postings.add_postings($1, $2)", source_id, json_of(rows, list[PostingRow]))


async def change_postings(tx: Transaction, rows: list[PostingRow]) -> None:
    await tx.execute("select leasehold_postings.change_postings($1)", json_of(rows, list[PostingRow]))


async def note_seen(tx: Transaction, seen: list[UUID], refreshed: list[Refreshed]) -> None:
    await tx.execute("select leasehold_postings.note_seen($1, $2)", seen, json_of(refreshed, list[Refreshed]))


async def add_versions(tx: Transaction, run_id: UUID, rows: list[VersionRow]) -> None:
    await tx.execute(
        "select leasehold_postings.add_versions($1, $2, $3)", tx.tenant_id, run_id, json_of(rows, list[VersionRow])
    )


async def suspect_postings(tx: Transaction, postings: list[UUID]) -> None:
    await tx.execute("select leasehold_postings.suspect_postings($1)", postings)


async def close_postings(tx: Transaction, postings: list[UUID]) -> None:
    await tx.execute("select leasehold_postings.close_postings($1)", postings)


async def hold_postings(tx: Transaction, postings: list[UUID]) -> None:
    """Their closing waits for a person."""
    await tx.execute("update leasehold_postings.posting set held = true where posting_id = any($1)", postings)


async def decide_held(tx: Transaction, source_id: UUID) -> None:
    await tx.execute("select leasehold_postings.decide_held($1)", source_id)


async def add_events(tx: Transaction, run_id: UUID, source_id: UUID, events: list[EventRow]) -> None:
    await tx.execute(
        "select leasehold_postings.add_events($1, $2, $3, $4)",
        tx.tenant_id, source_id, run_id, json_of(events, list[EventRow]),
    )  # fmt: skip


async def settle_source(
    tx: Transaction, run_id: UUID, source_id: UUID, *, counts: Counts, outcomes: dict[str, str], digest: str, rung: str,
    held: Held | None,
) -> bool:  # fmt: skip
    """False when the run is over."""
    problem = f"{held.missing} of {held.known} postings are gone at once" if held else None
    return bool(
        await tx.fetchval(
            "select leasehold_postings.settle_source($1, $2, $3, $4, $5, $6, $7, $8)",
            run_id, source_id, json_of(counts), json_of(outcomes), digest, rung,
            json_of(held) if held else None, problem,
        )
    )  # fmt: skip


async def fail_source(tx: Transaction, run_id: UUID, source_id: UUID, problem: str) -> bool:
    """False when the run is over."""
    return bool(await tx.fetchval("select leasehold_postings.fail_source($1, $2, $3)", run_id, source_id, problem))
