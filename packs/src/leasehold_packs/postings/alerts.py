"""Saved searches: whoever asked is told once of each posting that is new, changed or open again and answers."""

import json
from typing import Any
from uuid import UUID

from leasehold import Transaction
from leasehold_packs.postings import search
from leasehold_packs.webfacts.redacted import shown

_TOLD = ("opened", "reposted", "reopened", "changed")
#: Postings that one message names.
_NAMED = 50


async def tell(tx: Transaction, events: list[dict[str, Any]]) -> None:
    """Find the searches that these events answer; in the transaction that writes them."""
    kinds = {UUID(one["posting_id"]): one["kind"] for one in events if one["kind"] in _TOLD}
    if not kinds:
        return
    for row in await tx.fetch("select search_id, tenant_id, name, query from leasehold_postings.search"):
        query = search.Query(**json.loads(row["query"]))
        # As it is written: a word that was put right for a reader is not put right for an alarm.
        found = await search.find(tx, search.asked(query, only=list(kinds)), limit=1000, exact=True)
        if found.ids:
            await _write(tx, row, found.ids, kinds)


async def _write(tx: Transaction, row: Any, ids: list[UUID], kinds: dict[UUID, str]) -> None:
    await tx.execute(
        "insert into leasehold_postings.search_match (search_id, posting_id, tenant_id, kind)"
        " select $1, m.posting_id, $2, m.kind from unnest($3::uuid[], $4::text[]) m(posting_id, kind)"
        " on conflict do nothing",
        row["search_id"], row["tenant_id"], ids, [kinds[one] for one in ids],
    )  # fmt: skip
    named = await tx.fetch(
        "select posting_id::text, title, url, place from leasehold_postings.posting where posting_id = any($1)"
        " order by first_seen desc, posting_id limit $2",
        ids, _NAMED,
    )  # fmt: skip
    told = {
        "name": row["name"],
        "matches": len(ids),
        "postings": [dict(one) | {"url": shown(one["url"])} for one in named],
    }
    await tx.emit("postings.search_matched", "posting_search", str(row["search_id"]), told)
