"""Postings, their versions and how companies hire, in the pack's own tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from leasehold.errors import NotFound
from leasehold_packs.postings.model_postings import (
    Duplicate,
    Ghost,
    HiringWeek,
    PostingDetails,
    PostingEvent,
    PostingSummary,
    Version,
    VersionDifference,
)
from leasehold_packs.postings.posting import Facts, compare
from leasehold_packs.postings.store import masked
from leasehold_packs.rows.values import adapter, value_of
from leasehold_packs.webfacts.redacted import shown

if TYPE_CHECKING:
    from leasehold import Transaction

#: Open for longer, or posted again at least so often: a person may not be wanted at all.
GHOST_DAYS = 90
GHOST_REPOSTS = 2
MOST_WEEKS = 520


async def list_postings(tx: "Transaction", ids: Sequence[UUID]) -> list[PostingSummary]:
    """In the order of their ids."""
    rows = await tx.fetch("select * from leasehold_postings.list_postings($1)", list(ids))
    found = {row["posting_id"]: value_of(PostingSummary, masked(row), "salary") for row in rows}
    return [found[one] for one in ids if one in found]


async def get_posting(tx: "Transaction", posting_id: UUID) -> PostingDetails:
    row = await tx.fetchrow("select * from leasehold_postings.list_postings($1)", [posting_id])
    if row is None:
        raise NotFound(f"there is no posting {posting_id}")
    text = await tx.fetchval("select description from leasehold_postings.posting where posting_id = $1", posting_id)
    events = await tx.fetch("select * from leasehold_postings.list_events($1)", posting_id)
    others = await tx.fetch("select * from leasehold_postings.list_duplicates($1, $2)", posting_id, row["cluster_id"])
    return value_of(
        PostingDetails,
        masked(row),
        "salary",
        description=text,
        events=[value_of(PostingEvent, one, "diff") for one in events],
        also=[value_of(Duplicate, masked(one)) for one in others],
    )


async def list_versions(tx: "Transaction", posting_id: UUID) -> list[Version]:
    """The newest first."""
    rows = await tx.fetch("select * from leasehold_postings.list_versions($1)", posting_id)
    if not rows:
        raise NotFound(f"there is no posting {posting_id}")
    return [value_of(Version, {**row, "facts": shown_facts(row["facts"])}) for row in rows]


def shown_facts(text: str) -> Facts:
    """Facts without the secrets of their address."""
    facts = adapter(dict[str, object]).validate_json(text)
    return value_of(Facts, masked(facts))


async def compare_versions(tx: "Transaction", posting_id: UUID, before: int, after: int) -> VersionDifference:
    rows = await tx.fetch(
        "select n, facts from leasehold_postings.version where posting_id = $1 and n in ($2, $3)",
        posting_id, before, after,
    )  # fmt: skip
    facts = {row["n"]: adapter(Facts).validate_json(row["facts"]) for row in rows}
    if not {before, after} <= facts.keys():
        raise NotFound(f"posting {posting_id} has no versions {before} and {after}")
    difference = compare(facts[before], facts[after])
    return {"from": before, "to": after, "fields": shown(difference.fields), "minor": difference.minor}


async def hiring_by_week(tx: "Transaction", *, weeks: int, company: UUID | None = None) -> list[HiringWeek]:
    """The last weeks, the oldest first: what opened, closed and changed, and what was open in the end."""
    rows = await tx.fetch("select * from leasehold_postings.hiring_by_week($1, $2)", weeks, company)
    return [value_of(HiringWeek, row) for row in rows]


async def list_ghosts(tx: "Transaction", *, company: UUID | None = None, limit: int = 100) -> list[Ghost]:
    """Open postings with a sign of being for show, those with the most signs first, then the oldest."""
    rows = await tx.fetch(
        "select * from leasehold_postings.list_ghosts($1, $2, $3, $4)", GHOST_DAYS, GHOST_REPOSTS, company, limit
    )
    return [value_of(Ghost, row) for row in rows]
