"""Pages that a run has kept, judged again by the recipe of today. Nothing is fetched."""

from typing import Any
from uuid import UUID

from leasehold import Context, Transaction
from leasehold.errors import NotFound
from leasehold_packs.audits.crawl import Visited, read_again
from leasehold_packs.audits.recipe import checks

#: Pages that one job judges.
_CHUNK = 50


async def chunks(tx: Transaction, run_id: UUID, before: UUID | None) -> list[list[str]]:
    """Tell the run of all pages of the one before; the keys of those to judge, some at a time."""
    rows = await tx.fetch("select key from leasehold_audits.copy_urls($1, $2) as key", run_id, before)
    keys = [row["key"] for row in rows]
    return [keys[n : n + _CHUNK] for n in range(0, len(keys), _CHUNK)]


async def rows(tx: Transaction, before: UUID | None, keys: list[str]) -> list[Any]:
    return await tx.fetch(
        "select * from leasehold_audits.url where run_id = $1 and key = any($2) order by key",
        before, [bytes.fromhex(key) for key in keys],
    )  # fmt: skip


async def read_kept(ctx: Context, row: Any) -> Visited | None:
    """The page as it was answered; None if its body is no longer kept."""
    try:
        return read_again(row, await ctx.bodies.get(row["body"]) if row["body"] and row["bytes"] else b"")
    except NotFound:
        return None


async def copy(tx: Transaction, run_id: UUID, row: Any) -> None:
    """What the run before said of a page holds on. Relations between pages are found anew, for all."""
    relations = [check.id for check in checks().values() if check.scope == "relation"]
    await tx.execute("select leasehold_audits.copy_page($1, $2, $3, $4)", run_id, row["run_id"], row["key"], relations)
