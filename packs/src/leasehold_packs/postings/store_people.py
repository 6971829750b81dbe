"""What belongs to one person or key: preferences, saved searches, and a board of applications."""

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING
from uuid import UUID

from leasehold.errors import BadInput, Conflict, NotFound
from leasehold_packs.postings import search
from leasehold_packs.postings.model_postings import (
    Application,
    CompanySuccess,
    Match,
    Preference,
    SavedQuery,
    SavedSearch,
    Stage,
)
from leasehold_packs.postings.store import masked
from leasehold_packs.rows.values import adapter, json_of, value_of

if TYPE_CHECKING:
    from leasehold import Transaction


async def get_preference(tx: "Transaction", owner: str) -> Preference:
    row = await tx.fetchrow(
        "select companies, title_include, title_exclude from leasehold_postings.preference where owner = $1", owner
    )
    return value_of(Preference, row) if row else Preference()


async def put_preference(tx: "Transaction", owner: str, wanted: Preference) -> Preference:
    await tx.execute(
        "select leasehold_postings.put_preference($1, $2, $3, $4, $5)",
        tx.tenant_id, owner, wanted.companies, wanted.title_include, wanted.title_exclude,
    )  # fmt: skip
    return await get_preference(tx, owner)


async def add_search(tx: "Transaction", owner: str, name: str, query: SavedQuery) -> SavedSearch:
    if query.get("as_of") is not None:
        raise BadInput("a saved search looks at what comes, not at a moment", hint="leave out as_of")
    adapter(search.Query).validate_python(query)
    search_id = await tx.fetchval(
        "select leasehold_postings.add_search($1, $2, $3, $4)", tx.tenant_id, owner, name, json_of(query, SavedQuery)
    )
    if search_id is None:
        raise Conflict(f"there is a saved search {name!r} already")
    return await get_search(tx, owner, search_id)


async def get_search(tx: "Transaction", owner: str, search_id: UUID) -> SavedSearch:
    row = await tx.fetchrow("select * from leasehold_postings.list_searches($1, $2)", owner, search_id)
    if row is None:
        raise NotFound(f"there is no saved search {search_id}")
    return value_of(SavedSearch, row, "query")


async def list_searches(tx: "Transaction", owner: str) -> list[SavedSearch]:
    rows = await tx.fetch("select * from leasehold_postings.list_searches($1, null)", owner)
    return [value_of(SavedSearch, row, "query") for row in rows]


async def delete_search(tx: "Transaction", owner: str, search_id: UUID) -> None:
    await get_search(tx, owner, search_id)
    await tx.execute("delete from leasehold_postings.search where search_id = $1", search_id)


async def list_matches(tx: "Transaction", owner: str, search_id: UUID, *, limit: int = 100) -> list[Match]:
    """The postings that a saved search has found, the newest first."""
    await get_search(tx, owner, search_id)
    rows = await tx.fetch("select * from leasehold_postings.list_matches($1, $2)", search_id, limit)
    return [value_of(Match, masked(row)) for row in rows]


async def add_matches(
    tx: "Transaction", search_id: UUID, kinds: dict[UUID, str], *, limit: int
) -> Sequence[dict[str, str]]:
    """Note what a saved search has found; the newest postings of it, for the message about it."""
    rows = await tx.fetch(
        "select * from leasehold_postings.add_matches($1, $2, $3, $4, $5)",
        tx.tenant_id, search_id, list(kinds), list(kinds.values()), limit,
    )  # fmt: skip
    return [dict(masked(row)) for row in rows]


async def put_application(
    tx: "Transaction", owner: str, posting_id: UUID, *, stage: Stage, note: str | None, due: date | None
) -> Application:
    """Put a posting on the board, or move it; each stage knows since when."""
    made = await tx.fetchval(
        "select leasehold_postings.put_application($1, $2, $3, $4, $5, $6)",
        tx.tenant_id, owner, posting_id, stage, note, due,
    )  # fmt: skip
    found = await get_application(tx, owner, posting_id)
    if made is None or found is None:
        raise NotFound(f"there is no posting {posting_id}")
    return found


async def delete_application(tx: "Transaction", owner: str, application_id: UUID) -> None:
    gone = await tx.fetchval(
        "delete from leasehold_postings.application where application_id = $1 and owner = $2 returning 1",
        application_id, owner,
    )  # fmt: skip
    if gone is None:
        raise NotFound(f"there is no application {application_id}")


async def get_application(tx: "Transaction", owner: str, posting_id: UUID) -> Application | None:
    """A posting on the board of a person, if it is there."""
    row = await tx.fetchrow("select * from leasehold_postings.list_applications($1, $2)", owner, posting_id)
    return None if row is None else value_of(Application, masked(row), "stages")


async def list_applications(tx: "Transaction", owner: str) -> list[Application]:
    """With the days that each has spent in its stages so far."""
    rows = await tx.fetch("select * from leasehold_postings.list_applications($1, null)", owner)
    return [value_of(Application, masked(row), "stages") for row in rows]


async def success_by_company(tx: "Transaction", owner: str) -> list[CompanySuccess]:
    """For each company, how many applications went how far."""
    rows = await tx.fetch("select * from leasehold_postings.success_by_company($1)", owner)
    return [value_of(CompanySuccess, row) for row in rows]
