"""Saved searches: each is reported once each posting that is new, changed or open again and answers it."""

from leasehold import Transaction
from leasehold_packs.postings import search, store_people
from leasehold_packs.postings.store_settle import EventRow
from leasehold_packs.rows.values import adapter

_REPORTED = ("opened", "reposted", "reopened", "changed")
#: Postings that one message names.
_NAMED = 50


async def notify(tx: Transaction, events: list[EventRow]) -> None:
    """Find the searches that these events answer; in the transaction that writes them."""
    kinds = {one.posting_id: str(one.kind) for one in events if one.kind in _REPORTED}
    if not kinds:
        return
    for row in await tx.fetch("select search_id, name, query from leasehold_postings.search"):
        query = adapter(search.Query).validate_json(row["query"])
        # As it is written: a word that is corrected for a reader is not corrected for an alarm.
        found = await search.find(tx, search.question_of(query, only=list(kinds)), limit=1000, exact=True)
        if not found.ids:
            continue
        matched = {one: kinds[one] for one in found.ids}
        named = await store_people.add_matches(tx, row["search_id"], matched, limit=_NAMED)
        about = {"name": row["name"], "matches": len(matched), "postings": named}
        await tx.emit("postings.search_matched", "posting_search", str(row["search_id"]), about)
