"""One job on two boards is one cluster: near by SimHash first, then nearly the same words, and the same places.

Never by likeness alone: postings for two cities, or for iOS and Android, differ in a few words.
"""

import json
from collections import defaultdict
from typing import Any
from uuid import UUID

from leasehold import Transaction
from leasehold_packs.webfacts.simhash import distance

_BITS = 3
_SAME = 0.9
_BAND = 16


async def update(
    tx: Transaction, tenant: UUID, company_id: UUID, rows: list[dict[str, Any]], closed: list[UUID]
) -> None:
    """Find the clusters of new and changed postings anew; one whose head is closed gets another."""
    # Two boards of a company that settle at once would not see each other's postings.
    await tx.execute("select from leasehold_postings.company where company_id = $1 for no key update", company_id)
    ids = [UUID(row["posting_id"]) for row in rows]
    left = await tx.fetch(
        "select distinct cluster_id from leasehold_postings.posting where posting_id = any($1)", [*ids, *closed]
    )
    await tx.execute("update leasehold_postings.posting set cluster_id = posting_id where posting_id = any($1)", ids)
    await _write_bands(tx, tenant, company_id, ids, rows)
    for mine, other in await _pairs(tx, tenant, company_id, ids, rows):
        await tx.execute(
            "update leasehold_postings.posting set cluster_id ="
            " (select cluster_id from leasehold_postings.posting where posting_id = $2) where posting_id = $1",
            mine, other,
        )  # fmt: skip
    await elect(tx, [*(row["cluster_id"] for row in left), *ids, *closed])


async def elect(tx: Transaction, ids: list[UUID]) -> None:
    """The head of a cluster is its oldest posting that is not closed."""
    await tx.execute(
        "with cluster as ("
        "  select distinct cluster_id from leasehold_postings.posting"
        "  where posting_id = any($1) or cluster_id = any($1)"
        "), head as ("
        "  select cluster_id,"
        "  (array_agg(p.posting_id order by p.state = 'closed', p.first_seen, p.posting_id))[1] as posting_id"
        "  from leasehold_postings.posting p join cluster using (cluster_id) group by cluster_id"
        ") update leasehold_postings.posting p set cluster_id = h.posting_id from head h"
        " where p.cluster_id = h.cluster_id and p.cluster_id <> h.posting_id",
        ids,
    )


async def _write_bands(
    tx: Transaction, tenant: UUID, company_id: UUID, ids: list[UUID], rows: list[dict[str, Any]]
) -> None:
    await tx.execute("delete from leasehold_postings.band where posting_id = any($1)", ids)
    bands = [
        {"posting_id": row["posting_id"], "band": band, "value": row["simhash"] >> (_BAND * band) & 0xFFFF}
        for row in rows
        if row["simhash"] is not None
        for band in range(4)
    ]
    await tx.execute(
        "insert into leasehold_postings.band (tenant_id, company_id, band, value, posting_id)"
        " select $2, $3, band, value, posting_id"
        " from jsonb_to_recordset($1::jsonb) r(posting_id uuid, band smallint, value integer)",
        json.dumps(bands), tenant, company_id,
    )  # fmt: skip


async def _pairs(
    tx: Transaction, tenant: UUID, company_id: UUID, ids: list[UUID], rows: list[dict[str, Any]]
) -> list[tuple[UUID, UUID]]:
    """New postings, each with the first of another board that is the same job."""
    near = await tx.fetch(
        "select distinct m.posting_id as mine, p.posting_id, p.simhash, p.locations, p.requisition, p.description,"
        " p.first_seen"
        " from leasehold_postings.band m"
        " join leasehold_postings.posting own on own.posting_id = m.posting_id"
        " join leasehold_postings.band o on o.tenant_id = $2 and o.company_id = $3"
        " and o.band = m.band and o.value = m.value"
        " join leasehold_postings.posting p on p.posting_id = o.posting_id and p.source_id <> own.source_id"
        " and p.state <> 'closed'"
        " where m.posting_id = any($1) order by p.first_seen, p.posting_id",
        ids, tenant, company_id,
    )  # fmt: skip
    candidates: dict[UUID, list[Any]] = defaultdict(list)
    for row in near:
        candidates[row["mine"]].append(row)
    by_id = {UUID(row["posting_id"]): row for row in rows}
    return [
        (mine, other["posting_id"])
        for mine, others in candidates.items()
        if (other := next((one for one in others if same_job(by_id[mine], one)), None)) is not None
    ]


def same_job(one: Any, other: Any) -> bool:
    """Two postings of one company."""
    if distance(one["simhash"], other["simhash"]) > _BITS:
        return False
    mine, theirs = places_of(one["locations"]), places_of(other["locations"])
    if mine != theirs or (not mine and (one["requisition"] is None or one["requisition"] != other["requisition"])):
        return False
    return likeness(one["description"], other["description"]) >= _SAME


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
