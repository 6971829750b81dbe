"""What belongs to one person or key: preferences, saved searches, and a board of applications."""

import json
import re
from datetime import date
from typing import TYPE_CHECKING, Any
from uuid import UUID

from leasehold.errors import BadInput, Conflict, NotFound
from leasehold_packs.postings import search
from leasehold_packs.webfacts.redacted import shown

if TYPE_CHECKING:
    from leasehold.web import Transaction


async def get_preference(tx: "Transaction", owner: str) -> dict[str, Any]:
    """All companies and no title filters, until somebody says otherwise."""
    row = await tx.fetchrow(
        "select companies, title_include, title_exclude from leasehold_postings.preference where owner = $1", owner
    )
    return dict(row) if row else {"companies": None, "title_include": [], "title_exclude": []}


async def put_preference(
    tx: "Transaction", tenant: UUID, owner: str, *, companies: list[UUID] | None, include: list[str], exclude: list[str]
) -> dict[str, Any]:
    await tx.execute(
        "insert into leasehold_postings.preference (tenant_id, owner, companies, title_include, title_exclude)"
        " values ($1, $2, $3, $4, $5) on conflict (tenant_id, owner) do update set companies = excluded.companies,"
        " title_include = excluded.title_include, title_exclude = excluded.title_exclude",
        tenant, owner, companies, include, exclude,
    )  # fmt: skip
    return await get_preference(tx, owner)


def as_condition(preference: dict[str, Any]) -> dict[str, Any]:
    """A preference as part of a question."""
    told: dict[str, Any] = {}
    if preference["companies"] is not None:
        told["company_id"] = [str(one) for one in preference["companies"]]
    for name in ("title_include", "title_exclude"):
        if preference[name]:
            told[name] = [rf"\m{re.escape(word)}\M" for word in preference[name]]
    return told


async def save_search(tx: "Transaction", tenant: UUID, owner: str, name: str, query: dict[str, Any]) -> dict[str, Any]:
    if query.get("as_of") is not None:
        raise BadInput("a saved search looks at what comes, not at a moment", hint="leave out as_of")
    search.Query(**query)
    search_id = await tx.fetchval(
        "insert into leasehold_postings.search (tenant_id, owner, name, query) values ($1, $2, $3, $4)"
        " on conflict do nothing returning search_id",
        tenant, owner, name, json.dumps(query),
    )  # fmt: skip
    if search_id is None:
        raise Conflict(f"there is a saved search {name!r} already")
    return await get_search(tx, owner, search_id)


async def get_search(tx: "Transaction", owner: str, search_id: UUID) -> dict[str, Any]:
    found = [one for one in await list_searches(tx, owner) if one["search_id"] == search_id]
    if not found:
        raise NotFound(f"there is no saved search {search_id}")
    return found[0]


async def list_searches(tx: "Transaction", owner: str) -> list[dict[str, Any]]:
    rows = await tx.fetch(
        "select search_id, name, query, created_at,"
        " (select count(*) from leasehold_postings.search_match m where m.search_id = s.search_id) as matches"
        " from leasehold_postings.search s where owner = $1 order by name",
        owner,
    )
    return [dict(row) | {"query": json.loads(row["query"])} for row in rows]


async def remove_search(tx: "Transaction", owner: str, search_id: UUID) -> None:
    await get_search(tx, owner, search_id)
    await tx.execute("delete from leasehold_postings.search where search_id = $1", search_id)


async def list_matches(tx: "Transaction", owner: str, search_id: UUID, *, limit: int = 100) -> list[dict[str, Any]]:
    """What a saved search was told of, the newest first."""
    await get_search(tx, owner, search_id)
    rows = await tx.fetch(
        "select m.posting_id, m.kind, m.at, p.title, p.url, p.place, c.name as company"
        " from leasehold_postings.search_match m join leasehold_postings.posting p using (posting_id)"
        " join leasehold_postings.company c using (company_id)"
        " where m.search_id = $1 order by m.at desc, m.posting_id limit $2",
        search_id, limit,
    )  # fmt: skip
    return [dict(row) | {"url": shown(row["url"])} for row in rows]


async def put_application(
    tx: "Transaction", tenant: UUID, owner: str, posting_id: UUID, *, stage: str, note: str | None, due: date | None
) -> dict[str, Any]:
    """Put a posting on the board, or move it; each stage remembers since when."""
    if not await tx.fetchval(
        "select exists (select from leasehold_postings.posting where posting_id = $1)", posting_id
    ):
        raise NotFound(f"there is no posting {posting_id}")
    application_id = await tx.fetchval(
        "insert into leasehold_postings.application (tenant_id, owner, posting_id, stage, note, due)"
        " values ($1, $2, $3, $4, $5, $6) on conflict (tenant_id, owner, posting_id)"
        " do update set stage = excluded.stage, note = excluded.note, due = excluded.due returning application_id",
        tenant, owner, posting_id, stage, note, due,
    )  # fmt: skip
    await tx.execute(
        "insert into leasehold_postings.application_stage (application_id, n, tenant_id, stage)"
        " select $1::uuid, coalesce(max(n), 0) + 1, $2::uuid, $3::text from leasehold_postings.application_stage"
        " where application_id = $1"
        " having coalesce((array_agg(stage order by n desc))[1], '') <> $3",
        application_id, tenant, stage,
    )  # fmt: skip
    [found] = [one for one in await list_applications(tx, owner) if one["application_id"] == application_id]
    return found


async def remove_application(tx: "Transaction", owner: str, application_id: UUID) -> None:
    gone = await tx.fetchval(
        "delete from leasehold_postings.application where application_id = $1 and owner = $2 returning 1",
        application_id, owner,
    )  # fmt: skip
    if gone is None:
        raise NotFound(f"there is no application {application_id}")


async def list_applications(tx: "Transaction", owner: str) -> list[dict[str, Any]]:
    """With the days that each has spent in its stages so far."""
    rows = await tx.fetch(
        "select application_id, posting_id, p.title, p.url, p.state as posting_state, c.name as company, stage, note,"
        " due::text, a.created_at, (select jsonb_agg(jsonb_build_object('stage', t.stage, 'since', t.since, 'days',"
        "  round((extract(epoch from coalesce(t.until, leasehold.now()) - t.since) / 86400)::numeric, 2)) order by t.n)"
        "  from (select *, lead(since) over (order by n) as until from leasehold_postings.application_stage s"
        "   where s.application_id = a.application_id) t) as stages"
        " from leasehold_postings.application a join leasehold_postings.posting p using (posting_id)"
        " join leasehold_postings.company c using (company_id)"
        " where owner = $1 order by a.created_at desc, application_id limit 2000",
        owner,
    )
    return [dict(row) | {"url": shown(row["url"]), "stages": json.loads(row["stages"])} for row in rows]


async def success_by_company(tx: "Transaction", owner: str) -> list[dict[str, Any]]:
    """For each company, how many applications went how far."""
    rows = await tx.fetch(
        "select c.name as company, count(distinct a.application_id) as saved,"
        " count(distinct a.application_id) filter (where s.stage = 'applied') as applied,"
        " count(distinct a.application_id) filter (where s.stage = 'interview') as interviews,"
        " count(distinct a.application_id) filter (where s.stage = 'offer') as offers,"
        " count(distinct a.application_id) filter (where a.stage = 'rejected') as rejected"
        " from leasehold_postings.application a join leasehold_postings.application_stage s using (application_id)"
        " join leasehold_postings.posting p using (posting_id) join leasehold_postings.company c using (company_id)"
        " where a.owner = $1 group by c.company_id order by c.name",
        owner,
    )
    return [dict(row) for row in rows]
