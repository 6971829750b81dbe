"""What is known of a page, written into the rows of its run."""

from typing import Any
from uuid import UUID

from leasehold import Transaction
from leasehold_packs.audits.ending import write_issues
from leasehold_packs.audits.options import Options
from leasehold_packs.audits.visiting import Visited, digest, facts, fragment, page_key, plain_url


async def write_page(
    tx: Transaction, tenant: UUID, run_id: UUID, visited: Visited, options: Options, root: str
) -> int | None:
    """Its row, its issues and its links within the site; its depth, or None if that was done before."""
    key = page_key(visited.seen.visit.url)
    columns = facts(visited)
    names = ", ".join(f"{name} = ${n}" for n, name in enumerate(columns, 3))
    depth: int | None = await tx.fetchval(
        f"update leasehold_audits.url set {names} where run_id = $1 and key = $2 and state = 'queued'"
        " returning coalesce(depth, 0)",
        run_id, key, *columns.values(),
    )  # fmt: skip
    if depth is None:
        return None
    await write_issues(tx, run_id, tenant, key, visited.issues())
    if visited.is_page:
        await _write_links(tx, tenant, run_id, key, visited, options, root)
    return depth


async def write_outside(
    tx: Transaction, tenant: UUID, run_id: UUID, visited: Visited, options: Options, root: str
) -> list[str]:
    """The links of a page to other sites; those addresses that nobody has asked for lately."""
    found = [
        (digest(plain), plain, link.text[:200])
        for link in visited.seen.page.links
        if link.url and not options.is_inside(link.url, root)
        if (plain := plain_url(link.url))
    ]
    if not found:
        return []
    keys, urls, words = map(list, zip(*found, strict=True))
    await tx.execute(
        "insert into leasehold_audits.outside_link (run_id, tenant_id, from_key, n, to_key, words)"
        " select $1, $2, $3, l.n, l.to_key, l.words from unnest($4::bytea[], $5::text[])"
        " with ordinality l(to_key, words, n)",
        run_id, tenant, page_key(visited.seen.visit.url), keys, words,
    )  # fmt: skip
    rows = await tx.fetch("select url from leasehold_audits.add_outside($1, $2, $3)", run_id, keys, urls)
    return [row["url"] for row in rows]


async def _write_links(
    tx: Transaction, tenant: UUID, run_id: UUID, key: bytes | None, visited: Visited, options: Options, root: str
) -> None:
    page = visited.seen.page
    inside: list[tuple[Any, ...]] = [
        (target, fragment(link), link.text[:200], link.nofollow)
        for link in page.links
        if link.url and options.is_inside(link.url, root)
        if (target := page_key(link.url))
    ]
    if inside:
        await tx.execute(
            "insert into leasehold_audits.link (run_id, tenant_id, from_key, n, to_key, fragment, words, nofollow)"
            " select $1, $2, $3, l.n, l.to_key, l.fragment, l.words, l.nofollow"
            " from unnest($4::bytea[], $5::text[], $6::text[], $7::boolean[])"
            " with ordinality l(to_key, fragment, words, nofollow, n)",
            run_id, tenant, key, *map(list, zip(*inside, strict=True)),
        )  # fmt: skip
    others = [(to, one.hreflang[:50]) for one in page.alternates if (to := page_key(one.url))]
    if others:
        await tx.execute(
            "insert into leasehold_audits.alternate (run_id, tenant_id, from_key, n, to_key, hreflang)"
            " select $1, $2, $3, a.n, a.to_key, a.hreflang"
            " from unnest($4::bytea[], $5::text[]) with ordinality a(to_key, hreflang, n)",
            run_id, tenant, key, *map(list, zip(*others, strict=True)),
        )  # fmt: skip
