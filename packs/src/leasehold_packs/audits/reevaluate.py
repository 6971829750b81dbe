"""Pages that a run has kept, judged again by the recipe of today. Nothing is fetched."""

from typing import Any
from uuid import UUID

from leasehold import Context, Transaction
from leasehold.errors import NotFound
from leasehold_packs.audits.crawl import Visited, read_again
from leasehold_packs.audits.recipe import checks

#: Pages that one job judges.
_CHUNK = 50
_COPIED = (
    "state, status, final_key, hops, media_type, answer, body, bytes, ms, title, description, canonical, indexable,"
    " words, content, simhash, anchors, lang, has_icon, problem"
)


async def chunks(tx: Transaction, run_id: UUID, before: UUID | None) -> list[list[str]]:
    """Tell the run of all pages of the one before; those to judge, some at a time."""
    rows = await tx.fetch(
        "insert into leasehold_audits.url (run_id, key, tenant_id, url, depth, source, in_sitemap, state)"
        " select $1, key, tenant_id, url, depth, source, in_sitemap,"
        "  case when state = 'left' then 'left' else 'queued' end"
        " from leasehold_audits.url where run_id = $2 on conflict do nothing"
        " returning encode(key, 'hex') as key, state",
        run_id, before,
    )  # fmt: skip
    if not rows:  # the run was stopped, and goes on
        rows = await tx.fetch(
            "select encode(key, 'hex') as key, state from leasehold_audits.url where run_id = $1", run_id
        )
    await tx.execute(
        "insert into leasehold_audits.outside_link (run_id, from_key, n, tenant_id, to_key, words)"
        " select $1, from_key, n, tenant_id, to_key, words from leasehold_audits.outside_link where run_id = $2"
        " on conflict do nothing",
        run_id, before,
    )  # fmt: skip
    await tx.execute(
        "insert into leasehold_audits.image (run_id, from_key, n, tenant_id, to_key)"
        " select $1, from_key, n, tenant_id, to_key from leasehold_audits.image where run_id = $2"
        " on conflict do nothing",
        run_id, before,
    )  # fmt: skip
    keys = sorted(row["key"] for row in rows if row["state"] == "queued")
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
    names = ", ".join(f"{name.strip()} = o.{name.strip()}" for name in _COPIED.split(","))
    await tx.execute(
        f"update leasehold_audits.url u set {names} from leasehold_audits.url o"
        " where u.run_id = $1 and u.key = $3 and u.state = 'queued' and o.run_id = $2 and o.key = $3",
        run_id, row["run_id"], row["key"],
    )  # fmt: skip
    await tx.execute(
        "insert into leasehold_audits.issue (run_id, check_id, key, tenant_id, severity, evidence)"
        " select $1, check_id, key, tenant_id, severity, evidence from leasehold_audits.issue"
        " where run_id = $2 and key = $3 and check_id <> all($4) on conflict do nothing",
        run_id, row["run_id"], row["key"], [check.id for check in checks().values() if check.scope == "relation"],
    )  # fmt: skip
    for table, columns in (
        ("link", "from_key, n, tenant_id, to_key, fragment, words, nofollow"),
        ("alternate", "from_key, n, tenant_id, to_key, hreflang"),
    ):
        await tx.execute(
            f"insert into leasehold_audits.{table} (run_id, {columns}) select $1, {columns}"
            f" from leasehold_audits.{table} where run_id = $2 and from_key = $3 on conflict do nothing",
            run_id, row["run_id"], row["key"],
        )  # fmt: skip
