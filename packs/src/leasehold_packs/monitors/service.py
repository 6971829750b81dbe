"""What people ask of monitors, for the routes, the pages and the commands alike: one transaction each."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, TypedDict, Unpack
from urllib.parse import urlsplit
from uuid import UUID

from leasehold import Transaction
from leasehold.errors import BadInput, Conflict, NotFound
from leasehold_packs.monitors.crawl import page_key
from leasehold_packs.monitors.handlers import MAINTENANCE
from leasehold_packs.monitors.handlers_discovery import search_flow
from leasehold_packs.monitors.model import Search, Settings
from leasehold_packs.monitors.model_results import (
    ApprovalQueue,
    Candidate,
    CrawlRun,
    Day,
    LastCheck,
    Month,
    Observation,
    OfferChange,
    PendingChange,
    Product,
    ProductDetail,
    ProductSearch,
    Site,
    Variant,
)
from leasehold_packs.monitors.rows import Row, columns_of, standing_of, value_of
from leasehold_packs.monitors.store import CRAWL, gate_of
from leasehold_packs.webfacts.url_key import url_key

# -- sites ------------------------------------------------------------------------------------------------------


async def put_site(tx: Transaction, tenant: UUID, url: str, settings: Settings) -> Site:
    """Register a site, or give the one that is there new settings; a new one is read for a test."""
    root = _root(url)
    row = await tx.fetchrow(
        "select site_id, created from leasehold_monitors.put_site($1, $2, $3, $4)",
        tenant, root, page_key(root), json.dumps(asdict(settings)),
    )  # fmt: skip
    site_id: UUID = row["site_id"]
    if row["created"]:
        await tx.enqueue("monitors.test", {"site_id": str(site_id)}, queue=CRAWL, gate=gate_of(site_id))
    return await get_site(tx, site_id)


async def get_site(tx: Transaction, site_id: UUID) -> Site:
    row = await tx.fetchrow("select * from leasehold_monitors.list_sites($1)", site_id)
    if row is None:
        raise NotFound(f"there is no site {site_id}", hint="leasehold monitors sites")
    return _site(row)


async def list_sites(tx: Transaction) -> list[Site]:
    rows = await tx.fetch("select * from leasehold_monitors.list_sites()")
    return [_site(row) for row in rows]


async def change_site(
    tx: Transaction, site_id: UUID, *, settings: Mapping[str, Any] | None = None, paused: bool | None = None
) -> Site:
    site = await get_site(tx, site_id)
    try:
        whole = Settings(**asdict(site.settings) | dict(settings or {}))
    except ValueError as problem:
        raise BadInput(f"these settings do not fit: {problem}") from None
    state = site.state if paused is None else "paused" if paused else "active"
    await tx.execute(
        "update leasehold_monitors.site set settings = $2, state = $3 where site_id = $1",
        site_id, json.dumps(asdict(whole)), state,
    )  # fmt: skip
    return await get_site(tx, site_id)


async def remove_site(tx: Transaction, site_id: UUID) -> None:
    """The site and all that is known of its products, but for the statistics of days and months."""
    if not await tx.fetchval("delete from leasehold_monitors.site where site_id = $1 returning true", site_id):
        raise NotFound(f"there is no site {site_id}")


async def crawl(tx: Transaction, site_id: UUID, *, what: str = "crawl") -> UUID:
    """Check all products of a site now, within its spread; the job that begins."""
    site = await get_site(tx, site_id)
    if site.state == "paused":
        raise Conflict(f"site {site_id} is paused", hint="set paused to false first")
    asked = await tx.enqueue("monitors.crawl", {"site_id": str(site_id), "what": what}, queue=CRAWL)
    return asked.job_id


async def reread(tx: Transaction, site_id: UUID) -> UUID:
    """Read what was kept by the rules of today; the job whose result says who would change."""
    await get_site(tx, site_id)
    return (await tx.enqueue("monitors.reread", {"site_id": str(site_id)}, queue=MAINTENANCE)).job_id


async def list_runs(tx: Transaction, site_id: UUID, *, limit: int = 50) -> list[CrawlRun]:
    rows = await tx.fetch(
        "select run_id, what, flow_id, planned, counts, started_at, finished_at from leasehold_monitors.run"
        " where site_id = $1 order by started_at desc limit $2",
        site_id, limit,
    )  # fmt: skip
    return [value_of(CrawlRun, row, "counts") for row in rows]


# -- products ---------------------------------------------------------------------------------------------------


async def watch(
    tx: Transaction, tenant: UUID, url: str, *, tags: list[str] | None = None, selector: str | None = None
) -> ProductDetail:
    """Watch a product from now on; its site is registered if it is new. The first check is asked for at once."""
    site_id = await tx.fetchval("select site_id from leasehold_monitors.site where key = $1", page_key(_root(url)))
    if site_id is None:
        site_id = (await put_site(tx, tenant, url, Settings())).site_id
    product_id = await add_product(tx, tenant, site_id, url, tags=tags or [], selector=selector)
    await check(tx, product_id)
    return await get_product(tx, product_id)


async def add_product(
    tx: Transaction, tenant: UUID, site_id: UUID, url: str, *, tags: list[str], selector: str | None = None
) -> UUID:
    product_id: UUID = await tx.fetchval(
        "select leasehold_monitors.add_product($1, $2, $3, $4, $5, $6)",
        tenant, site_id, url_key(url), page_key(url), tags, selector,
    )  # fmt: skip
    return product_id


async def check(tx: Transaction, product_id: UUID) -> UUID:
    """Look at a product now; the job."""
    site_id = await tx.fetchval("select site_id from leasehold_monitors.product where product_id = $1", product_id)
    if site_id is None:
        raise _no_product(product_id)
    order = {"product_id": str(product_id)}
    return (await tx.enqueue("monitors.check", order, queue=CRAWL, gate=gate_of(site_id))).job_id


async def get_product(tx: Transaction, product_id: UUID) -> ProductDetail:
    """All that is known, with its variants and how the newest page was read."""
    row = await tx.fetchrow(
        "select o.*, p.facts from leasehold_monitors.products_with_offers() o"
        " join leasehold_monitors.product p using (product_id) where product_id = $1", product_id,
    )  # fmt: skip
    if row is None:
        raise _no_product(product_id)
    variants = await tx.fetch(
        "select variant, price, currency, list_price, availability, since, seen_at from leasehold_monitors.offer"
        " where product_id = $1 and variant <> '' order by variant",
        product_id,
    )
    waiting = await tx.fetch(
        "select change_id, kind, before, after, doubt, at from leasehold_monitors.change"
        " where product_id = $1 and state = 'pending' order by at",
        product_id,
    )
    newest = await tx.fetchrow(
        "select at, result, status, problem from leasehold_monitors.visit"
        " where site_id = $1 and product_id = $2 and result <> 'late' order by at desc limit 1",
        row["site_id"], product_id,
    )  # fmt: skip
    return ProductDetail(
        **standing_of(row, "facts"),
        last_check=value_of(LastCheck, newest) if newest else None,
        variants=[value_of(Variant, one) for one in variants],
        waiting=[value_of(PendingChange, one, "before", "after") for one in waiting],
    )


async def list_products(
    tx: Transaction,
    *,
    site_id: UUID | None = None,
    state: str | None = None,
    brand: str | None = None,
    tag: str | None = None,
    query: str | None = None,
    changed_since: datetime | None = None,
    after: UUID | None = None,
    limit: int = 100,
) -> list[Product]:
    """By id; ``after`` is the last one of the page before."""
    rows = await tx.fetch(
        "select * from leasehold_monitors.list_products($1, $2, $3, $4, $5, $6, $7, $8)",
        site_id, state, brand, tag, query, changed_since, after, limit,
    )  # fmt: skip
    return [Product(**standing_of(row)) for row in rows]


async def change_product(
    tx: Transaction,
    product_id: UUID,
    *,
    paused: bool | None = None,
    tags: list[str] | None = None,
    selector: str | None = None,
    forget_selector: bool = False,
) -> ProductDetail:
    """A new selector makes the next check read the page again, even if it is the same."""
    found = await tx.fetchval(
        "select leasehold_monitors.change_product($1, $2, $3, $4, $5)",
        product_id, tags, paused, selector, forget_selector,
    )  # fmt: skip
    if not found:
        raise _no_product(product_id)
    return await get_product(tx, product_id)


async def try_selector(tx: Transaction, product_id: UUID, selector: str) -> UUID:
    """The job whose result says what the selector finds on the page that was kept."""
    await get_product(tx, product_id)
    order = {"product_id": str(product_id), "selector": selector}
    return (await tx.enqueue("monitors.try", order, queue=CRAWL)).job_id


class Span(TypedDict, total=False):
    """Which rows of the history of an offer: those of the product itself, unless a variant is named."""

    variant: str
    since: datetime | None
    until: datetime | None
    limit: int


async def list_observations(tx: Transaction, product_id: UUID, **span: Unpack[Span]) -> list[Observation]:
    """What an offer was, the newest first."""
    return [value_of(Observation, row) for row in await _history(tx, "list_observations", product_id, **span)]


async def list_days(tx: Transaction, product_id: UUID, **span: Unpack[Span]) -> list[Day]:
    """What an offer cost each day, the newest first."""
    return [value_of(Day, row) for row in await _history(tx, "list_days", product_id, **span)]


async def list_months(tx: Transaction, product_id: UUID, **span: Unpack[Span]) -> list[Month]:
    """What an offer cost each month, the newest first."""
    return [value_of(Month, row) for row in await _history(tx, "list_months", product_id, **span)]


async def _history(tx: Transaction, function: str, product_id: UUID, **span: Unpack[Span]) -> list[Row]:
    """There is none if the product has no such variant."""
    offer_id = await tx.fetchval(
        "select offer_id from leasehold_monitors.offer where product_id = $1 and variant = $2",
        product_id, span.get("variant", ""),
    )  # fmt: skip
    if offer_id is None:
        await get_product(tx, product_id)
        return []
    return await tx.fetch(
        f"select * from leasehold_monitors.{function}($1, $2, $3, $4)",
        offer_id, span.get("since"), span.get("until"), span.get("limit", 1000),
    )  # fmt: skip


# -- finding products -------------------------------------------------------------------------------------------


async def search(tx: Transaction, tenant: UUID, site_id: UUID, options: Search) -> UUID:
    """Look for products at a site; what is found waits for approval."""
    await get_site(tx, site_id)
    search_id: UUID = await tx.fetchval(
        "insert into leasehold_monitors.search (tenant_id, site_id, options) values ($1, $2, $3) returning search_id",
        tenant, site_id, json.dumps(asdict(options)),
    )  # fmt: skip
    flow_id = await tx.start(search_flow(search_id))
    await tx.execute("update leasehold_monitors.search set flow_id = $2 where search_id = $1", search_id, flow_id)
    return search_id


async def list_searches(tx: Transaction, site_id: UUID, *, limit: int = 50) -> list[ProductSearch]:
    rows = await tx.fetch(
        "select search_id, options, flow_id, counts, created_at, finished_at from leasehold_monitors.search"
        " where site_id = $1 order by created_at desc limit $2",
        site_id, limit,
    )  # fmt: skip
    return [value_of(ProductSearch, row, "options", "counts") for row in rows]


async def list_candidates(
    tx: Transaction, site_id: UUID, *, state: str = "proposed", limit: int = 500
) -> list[Candidate]:
    """The surest first."""
    rows = await tx.fetch("select * from leasehold_monitors.list_candidates($1, $2, $3)", site_id, state, limit)
    return [value_of(Candidate, row, "guess") for row in rows]


async def list_queues(tx: Transaction) -> list[ApprovalQueue]:
    """The sites with candidates that wait for approval, the most first."""
    rows = await tx.fetch("select * from leasehold_monitors.list_approval_queues()")
    return [value_of(ApprovalQueue, row) for row in rows]


async def decide(
    tx: Transaction,
    tenant: UUID,
    site_id: UUID,
    *,
    approve: bool,
    by: str,
    candidates: list[UUID] | None = None,
    least: float = 0.0,
    tags: list[str] | None = None,
) -> int:
    """Approve or reject candidates, all or these, that are sure enough; how many. The approved get their baseline."""
    await get_site(tx, site_id)
    rows = await tx.fetch(
        "select url from leasehold_monitors.decide_candidates($1, $2, $3, $4, $5) as url",
        site_id, candidates, "approved" if approve else "rejected", by, least,
    )  # fmt: skip
    if approve and rows:
        for row in rows:
            await add_product(tx, tenant, site_id, row["url"], tags=tags or [])
        await crawl(tx, site_id, what="baseline")
    return len(rows)


# -- changes ---------------------------------------------------------------------------------------------------


async def list_changes(
    tx: Transaction,
    *,
    state: str | None = "confirmed",
    kind: str | None = None,
    site_id: UUID | None = None,
    product_id: UUID | None = None,
    since: datetime | None = None,
    told: bool | None = None,
    before: tuple[datetime, UUID] | None = None,
    limit: int = 100,
) -> list[OfferChange]:
    """The newest first; ``before`` is the moment and id of the last one of the page before."""
    rows = await tx.fetch(
        "select * from leasehold_monitors.list_changes($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        state, kind, site_id, product_id, since, told, *(before or (None, None)), limit,
    )  # fmt: skip
    return [value_of(OfferChange, row, "before", "after") for row in rows]


# -- words ------------------------------------------------------------------------------------------------------


def _root(url: str) -> str:
    parts = urlsplit(url_key(url))
    return f"{parts.scheme}://{parts.netloc}/"


def _site(row: Row) -> Site:
    columns = columns_of(row, "settings", "tested", "health")
    return Site(**columns | {"settings": Settings(**columns["settings"])})


def _no_product(product_id: UUID) -> NotFound:
    return NotFound(f"there is no product {product_id}", hint="leasehold monitors products")
