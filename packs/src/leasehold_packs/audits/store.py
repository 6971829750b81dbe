"""The rows of a run, as its jobs write them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from leasehold import Cancel, Transaction
from leasehold_packs.audits.crawl import Visited, digest, page_key
from leasehold_packs.audits.page_record import record_of
from leasehold_packs.audits.run import AuditRun
from leasehold_packs.webfacts.url_key import plain_url, url_key


@dataclass(frozen=True, slots=True)
class Written:
    """Which pages of the site are to be fetched now, which of others and images asked for; how old the run is."""

    urls: list[str]
    outside: list[str]
    images: list[str]
    age_s: float


async def write_page(tx: Transaction, run: AuditRun, visited: Visited) -> Written | None:
    """Its row, its issues and its links; None if that was done before the run was stopped."""
    row = await tx.fetchrow(
        "select urls, outside, images, age from leasehold_audits.write_page($1, $2, $3, $4)",
        run.run_id, run.part, page_key(visited.crawled.visit.url), json.dumps(record_of(run, visited)),
    )  # fmt: skip
    if row is None:
        return None
    if row["urls"] is None:
        raise Cancel("the run is over")
    return Written(row["urls"], row["outside"], row["images"], row["age"])


async def add_urls(tx: Transaction, run: AuditRun, urls: list[str], *, depth: int, source: str) -> list[str]:
    """Tell the run of these addresses; those that are to be fetched."""
    spelled = (plain_url(url) for url in urls if run.options.covers(url, run.url))
    keys = {digest(url): url for url in spelled if url}
    rows = await tx.fetch(
        "select url from leasehold_audits.add_urls($1, $2, $3, $4, $5, $6)",
        run.run_id, run.part, list(keys), list(keys.values()), depth, source,
    )  # fmt: skip
    found = [row["url"] for row in rows]
    if None in found:
        raise Cancel("the run is over")
    return found


async def put_site(tx: Transaction, url: str) -> UUID:
    """The site of an address, registered if it is new."""
    site_id: UUID = await tx.fetchval("select leasehold_audits.put_site($1, $2, $3)", tx.tenant_id, url, url_key(url))
    return site_id


async def add_event(
    tx: Transaction,
    run_id: UUID,
    type_: str,
    step: str | None,
    message: str,
    *,
    data: Mapping[str, object] | None = None,
    progress: int = 0,
) -> None:
    """What has a step is said once in each part of a run; warnings and errors of pages have a limit."""
    await tx.execute(
        "select leasehold_audits.add_event($1, $2, $3, $4, $5, $6)",
        run_id, type_, step, message, None if data is None else json.dumps(data), progress,
    )  # fmt: skip
