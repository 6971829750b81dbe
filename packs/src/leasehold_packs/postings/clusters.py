"""One job on two boards is one cluster: near by SimHash first, then nearly the same words, and the same places.

Never by likeness alone: postings for two cities, or for iOS and Android, differ in a few words.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from leasehold import Transaction
from leasehold_packs.postings.store_settle import PostingRow
from leasehold_packs.rows.values import json_of, value_of
from leasehold_packs.webfacts.simhash import distance

_BITS = 3
_SAME = 0.9
_BAND = 16


class Comparable(Protocol):
    """What decides whether two postings of a company are one job."""

    @property
    def simhash(self) -> int | None: ...
    @property
    def locations(self) -> list[str]: ...
    @property
    def requisition(self) -> str | None: ...
    @property
    def description(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Near:
    """A posting of another board that shares a quarter of its SimHash with one of ours (``mine``)."""

    mine: UUID
    posting_id: UUID
    simhash: int | None
    locations: list[str]
    requisition: str | None
    description: str
    first_seen: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _Band:
    posting_id: UUID
    band: int
    value: int


async def update(tx: Transaction, company_id: UUID, rows: list[PostingRow], closed: list[UUID]) -> None:
    """Find the clusters of new and changed postings anew; one whose head is closed gets another."""
    ids = [row.posting_id for row in rows]
    left = await tx.fetch("select leasehold_postings.leave_clusters($1, $2, $3)", company_id, ids, closed)
    await _write_bands(tx, company_id, rows)
    for mine, other in await _pairs(tx, company_id, rows):
        await tx.execute("select leasehold_postings.join_cluster($1, $2)", mine, other)
    await elect_heads(tx, [*(row[0] for row in left), *ids, *closed])


async def elect_heads(tx: Transaction, ids: Sequence[UUID]) -> None:
    """The head of a cluster is its oldest posting that is not closed."""
    await tx.execute("select leasehold_postings.elect_heads($1)", list(ids))


async def _write_bands(tx: Transaction, company_id: UUID, rows: list[PostingRow]) -> None:
    bands = [
        _Band(posting_id=row.posting_id, band=band, value=row.simhash >> (_BAND * band) & 0xFFFF)
        for row in rows
        if row.simhash is not None
        for band in range(4)
    ]
    await tx.execute(
        "select leasehold_postings.write_bands($1, $2, $3, $4)",
        tx.tenant_id, company_id, [row.posting_id for row in rows], json_of(bands, list[_Band]),
    )  # fmt: skip


async def _pairs(tx: Transaction, company_id: UUID, rows: list[PostingRow]) -> list[tuple[UUID, UUID]]:
    """New postings, each with the first of another board that is the same job."""
    by_id = {row.posting_id: row for row in rows}
    near = await tx.fetch(
        "select * from leasehold_postings.near_postings($1, $2, $3)", tx.tenant_id, company_id, list(by_id)
    )
    candidates: dict[UUID, list[_Near]] = defaultdict(list)
    for row in near:
        candidates[row["mine"]].append(value_of(_Near, row))
    return [
        (mine, other.posting_id)
        for mine, others in candidates.items()
        if (other := next((one for one in others if same_job(by_id[mine], one)), None)) is not None
    ]


def same_job(one: Comparable, other: Comparable) -> bool:
    """Two postings of one company."""
    if one.simhash is None or other.simhash is None or distance(one.simhash, other.simhash) > _BITS:
        return False
    mine, theirs = places_of(one.locations), places_of(other.locations)
    if mine != theirs or (not mine and (one.requisition is None or one.requisition != other.requisition)):
        return False
    return likeness(one.description, other.description) >= _SAME


def places_of(locations: list[str]) -> frozenset[str]:
    """Cities alone: one board says Berlin, another Berlin, Germany."""
    return frozenset(place.partition(",")[0].strip().casefold() for place in locations)


def likeness(one: str, other: str) -> float:
    """The share of three words in a row that both have (Jaccard)."""
    ours, theirs = _shingles(one), _shingles(other)
    return len(ours & theirs) / max(1, len(ours | theirs))


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = text.casefold().split()
    return set(zip(words, words[1:], words[2:], strict=False))
