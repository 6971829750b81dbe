"""Companies and their sources, in the pack's own tables."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID

from leasehold.errors import Conflict, NotFound
from leasehold_packs.postings.boards import Address
from leasehold_packs.postings.model import Company, NewSource, Options, Source
from leasehold_packs.rows.values import json_of, value_of
from leasehold_packs.webfacts.redacted import shown

if TYPE_CHECKING:
    from leasehold import Transaction

#: What may name an address, and so carry a secret.
_ADDRESSES = ("url", "base", "slug", "problem", "external_id")


def masked(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row without the secrets of its addresses."""
    columns = dict(row)
    return columns | {name: shown(columns[name]) for name in _ADDRESSES if name in columns}


async def add_source(
    tx: "Transaction", address: Address, new: NewSource, options: Options, *, company: str, company_key: str
) -> Source:
    host, url = urlsplit(address.base).netloc.lower(), new.url or address.base
    source_id = await tx.fetchval(
        "select leasehold_postings.add_source($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        tx.tenant_id, company[:200], company_key, address.board, address.slug, address.base, host, url,
        json_of(options),
    )  # fmt: skip
    if source_id is None:
        raise Conflict(f"the {address.board} board {address.slug or shown(address.base)} is a source already")
    return await get_source(tx, source_id)


async def get_source(tx: "Transaction", source_id: UUID) -> Source:
    found = await _sources(tx, source_id)
    if not found:
        raise NotFound(f"there is no source {source_id}", hint="leasehold postings sources")
    return found[0]


async def list_sources(tx: "Transaction") -> list[Source]:
    """With their health, and how many postings they have."""
    return await _sources(tx, None)


async def _sources(tx: "Transaction", source_id: UUID | None) -> list[Source]:
    rows = await tx.fetch("select * from leasehold_postings.list_sources($1)", source_id)
    return [value_of(Source, masked(row), "options", "held") for row in rows]


async def change_source(tx: "Transaction", source_id: UUID, *, enabled: bool | None, options: Options | None) -> Source:
    await get_source(tx, source_id)
    await tx.execute(
        "update leasehold_postings.source set enabled = coalesce($2, enabled), options = coalesce($3, options)"
        " where source_id = $1",
        source_id, enabled, None if options is None else json_of(options),
    )  # fmt: skip
    return await get_source(tx, source_id)


async def delete_source(tx: "Transaction", source_id: UUID) -> None:
    """With all its postings; not while a run asks it."""
    if await tx.fetchval(
        "select exists (select from leasehold_postings.run_source where source_id = $1 and state = 'running')",
        source_id,
    ):
        raise Conflict("a run asks this source now", hint="cancel the run first")
    await tx.execute("delete from leasehold_postings.source where source_id = $1", source_id)


async def lock_source(tx: "Transaction", source_id: UUID) -> Source:
    """The source, which nobody else changes until the transaction ends."""
    await tx.execute("select from leasehold_postings.source where source_id = $1 for update", source_id)
    return await get_source(tx, source_id)


async def list_companies(tx: "Transaction") -> list[Company]:
    """With what is known of how they hire."""
    return [value_of(Company, row) for row in await tx.fetch("select * from leasehold_postings.list_companies()")]
