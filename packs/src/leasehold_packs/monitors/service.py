"""What people ask of monitors, for the routes, the pages and the commands alike: one transaction each."""

import json
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID

from leasehold.errors import BadInput, Conflict, NotFound
from leasehold_packs.monitors.crawl import page_key
from leasehold_packs.monitors.handlers import MAINTENANCE
from leasehold_packs.monitors.handlers_discovery import search_flow
from leasehold_packs.monitors.model import Search, Settings
from leasehold_packs.monitors.store import CRAWL, gate_of, told_price
from leasehold_packs.webfacts.redacted import shown
from leasehold_packs.webfacts.url_key import url_key

if TYPE_CHECKING:
    from leasehold.web import Transaction

_CONDITIONS = ("percent", "absolute", "target", "back_in_stock", "new_low", "undercut")
_PRODUCT = (
    "p.product_id, p.site_id, p.group_id, p.url, p.state, p.reason, p.tags, p.selector, p.name, p.brand, p.image,"
    " p.sku, p.gtin, p.mpn, p.platform_id, p.id_method, p.checked_at, p.result, p.missing_since, p.created_at,"
    " coalesce(p.facts -> 'disagreements', '[]')"
    '  @? \'$[*] ? (@.name == "price" || @.name == "availability")\' as disagrees,'
    " o.price, o.currency, o.list_price, o.availability, o.confidence, o.method, o.low, o.high, o.since, o.seen_at"
)
_WITH_OFFER = (
    "leasehold_monitors.product p left join leasehold_monitors.offer o on o.product_id = p.product_id and variant = ''"
)


# -- sites ------------------------------------------------------------------------------------------------------


async def put_site(tx: "Transaction", tenant: UUID, url: str, settings: Settings) -> dict[str, Any]:
    """Register a site, or give the one that is there new settings; a new one is read for a test."""
    root = _root(url)
    row = await tx.fetchrow(
        "insert into leasehold_monitors.site (tenant_id, url, key, settings) values ($1, $2, $3, $4)"
        " on conflict (tenant_id, key) do update set settings = excluded.settings"
        " returning site_id, (xmax = 0) as created",
        tenant, root, page_key(root), json.dumps(asdict(settings)),
    )  # fmt: skip
    site_id: UUID = row["site_id"]
    if row["created"]:
        await tx.enqueue("monitors.test", {"site_id": str(site_id)}, queue=CRAWL, gate=gate_of(site_id))
    return await get_site(tx, site_id)


async def get_site(tx: "Transaction", site_id: UUID) -> dict[str, Any]:
    row = await tx.fetchrow(
        "select site_id, url, state, settings, tested, health, created_at,"
        " (select count(*) from leasehold_monitors.product p where p.site_id = s.site_id) as products"
        " from leasehold_monitors.site s where site_id = $1",
        site_id,
    )
    if row is None:
        raise NotFound(f"there is no site {site_id}", hint="leasehold monitors sites")
    return _plain(row, "settings", "tested", "health")


async def list_sites(tx: "Transaction") -> list[dict[str, Any]]:
    rows = await tx.fetch(
        "select site_id, url, state, settings, tested, health, created_at,"
        " (select count(*) from leasehold_monitors.product p where p.site_id = s.site_id) as products"
        " from leasehold_monitors.site s order by url limit 1000"
    )
    return [_plain(row, "settings", "tested", "health") for row in rows]


async def change_site(
    tx: "Transaction", site_id: UUID, *, settings: dict[str, Any] | None = None, paused: bool | None = None
) -> dict[str, Any]:
    site = await get_site(tx, site_id)
    try:
        whole = Settings(**site["settings"] | (settings or {}))
    except ValueError as problem:
        raise BadInput(f"these settings do not fit: {problem}") from None
    state = site["state"] if paused is None else "paused" if paused else "active"
    await tx.execute(
        "update leasehold_monitors.site set settings = $2, state = $3 where site_id = $1",
        site_id, json.dumps(asdict(whole)), state,
    )  # fmt: skip
    return await get_site(tx, site_id)


async def remove_site(tx: "Transaction", site_id: UUID) -> None:
    """The site and all that is known of its products, but for the statistics of days and months."""
    if not await tx.fetchval("delete from leasehold_monitors.site where site_id = $1 returning true", site_id):
        raise NotFound(f"there is no site {site_id}")


async def crawl(tx: "Transaction", site_id: UUID, *, what: str = "crawl") -> UUID:
    """Check all products of a site now, within its spread; the job that begins."""
    site = await get_site(tx, site_id)
    if site["state"] == "paused":
        raise Conflict(f"site {site_id} is paused", hint="set paused to false first")
    asked = await tx.enqueue("monitors.crawl", {"site_id": str(site_id), "what": what}, queue=CRAWL)
    return asked.job_id


async def reread(tx: "Transaction", site_id: UUID) -> UUID:
    """Read what was kept by the rules of today; the job whose result says who would change."""
    await get_site(tx, site_id)
    return (await tx.enqueue("monitors.reread", {"site_id": str(site_id)}, queue=MAINTENANCE)).job_id


async def list_runs(tx: "Transaction", site_id: UUID, *, limit: int = 50) -> list[dict[str, Any]]:
    rows = await tx.fetch(
        "select run_id, what, flow_id, planned, counts, started_at, finished_at from leasehold_monitors.run"
        " where site_id = $1 order by started_at desc limit $2",
        site_id, limit,
    )  # fmt: skip
    return [_plain(row, "counts") for row in rows]


# -- products ---------------------------------------------------------------------------------------------------


async def watch(
    tx: "Transaction", tenant: UUID, url: str, *, tags: list[str] | None = None, selector: str | None = None
) -> dict[str, Any]:
    """Watch a product from now on; its site is registered if it is new. The first check is asked for at once."""
    site_id = await tx.fetchval("select site_id from leasehold_monitors.site where key = $1", page_key(_root(url)))
    if site_id is None:
        site_id = (await put_site(tx, tenant, url, Settings()))["site_id"]
    product_id = await add_product(tx, tenant, site_id, url, tags=tags or [], selector=selector)
    await check(tx, product_id)
    return await get_product(tx, product_id)


async def add_product(
    tx: "Transaction", tenant: UUID, site_id: UUID, url: str, *, tags: list[str], selector: str | None = None
) -> UUID:
    product_id: UUID = await tx.fetchval(
        "insert into leasehold_monitors.product (tenant_id, site_id, url, key, tags, selector)"
        " values ($1, $2, $3, $4, $5, $6)"
        " on conflict (site_id, key) do update set tags = excluded.tags,"
        " state = case when product.state = 'paused' then 'active' else product.state end"
        " returning product_id",
        tenant, site_id, url_key(url), page_key(url), tags, selector,
    )  # fmt: skip
    return product_id


async def check(tx: "Transaction", product_id: UUID) -> UUID:
    """Look at a product now; the job."""
    site_id = await tx.fetchval("select site_id from leasehold_monitors.product where product_id = $1", product_id)
    if site_id is None:
        raise _no_product(product_id)
    order = {"product_id": str(product_id)}
    return (await tx.enqueue("monitors.check", order, queue=CRAWL, gate=gate_of(site_id))).job_id


async def get_product(tx: "Transaction", product_id: UUID) -> dict[str, Any]:
    """All that is known, with its variants and how the newest page was read."""
    row = await tx.fetchrow(f"select {_PRODUCT}, p.facts from {_WITH_OFFER} where p.product_id = $1", product_id)
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
    seen = await tx.fetchrow(
        "select at, result, status, problem from leasehold_monitors.visit"
        " where site_id = $1 and product_id = $2 and result <> 'late' order by at desc limit 1",
        row["site_id"], product_id,
    )  # fmt: skip
    return _standing(_plain(row, "facts")) | {
        "last_check": _masked(dict(seen)) if seen else None,
        "variants": [_priced(dict(one)) for one in variants],
        "waiting": [_plain(one, "before", "after") for one in waiting],
    }


async def list_products(
    tx: "Transaction",
    *,
    site_id: UUID | None = None,
    state: str | None = None,
    brand: str | None = None,
    tag: str | None = None,
    query: str | None = None,
    changed_since: datetime | None = None,
    after: UUID | None = None,
    limit: int = 100,
) -> list[dict[str, Any]]:
    """By id; ``after`` is the last one of the page before."""
    rows = await tx.fetch(
        f"select {_PRODUCT} from {_WITH_OFFER}"
        " where ($1::uuid is null or p.site_id = $1) and ($2::text is null or p.state = $2)"
        " and ($3::text is null or lower(p.brand) = lower($3)) and ($4::text is null or $4 = any(p.tags))"
        " and ($5::text is null or position(lower($5) in lower(concat_ws(' ', p.name, p.url, p.sku))) > 0)"
        " and ($6::timestamptz is null or o.since >= $6) and ($7::uuid is null or p.product_id > $7)"
        " order by p.product_id limit $8",
        site_id, state, brand, tag, query, changed_since, after, limit,
    )  # fmt: skip
    return [_standing(dict(row)) for row in rows]


async def change_product(
    tx: "Transaction",
    product_id: UUID,
    *,
    paused: bool | None = None,
    tags: list[str] | None = None,
    selector: str | None = None,
    forget_selector: bool = False,
) -> dict[str, Any]:
    """A new selector makes the next check read the page again, even if it is the same."""
    found = await tx.fetchval(
        "update leasehold_monitors.product set tags = coalesce($2, tags),"
        " state = case when $3 then 'paused' when not $3 and state = 'paused' then 'active' else state end,"
        " selector = case when $5 then null else coalesce($4, selector) end,"
        " extractor = case when $5 or $4 is not null then null else extractor end"
        " where product_id = $1 returning true",
        product_id, tags, paused, selector, forget_selector,
    )  # fmt: skip
    if not found:
        raise _no_product(product_id)
    return await get_product(tx, product_id)


async def try_selector(tx: "Transaction", product_id: UUID, selector: str) -> UUID:
    """The job whose result says what the selector finds on the page that was kept."""
    await get_product(tx, product_id)
    order = {"product_id": str(product_id), "selector": selector}
    return (await tx.enqueue("monitors.try", order, queue=CRAWL)).job_id


async def history(
    tx: "Transaction",
    product_id: UUID,
    *,
    granularity: str = "raw",
    variant: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int = 1000,
) -> list[dict[str, Any]]:
    """The newest first: what was seen when it changed, or one row for each day or month."""
    offer_id = await tx.fetchval(
        "select offer_id from leasehold_monitors.offer where product_id = $1 and variant = $2", product_id, variant
    )
    if offer_id is None:
        await get_product(tx, product_id)
        return []
    if granularity == "raw":
        rows = await tx.fetch(
            "select at, price, currency, list_price, availability, method, confidence, body, pointer"
            " from leasehold_monitors.observation where offer_id = $1 and ($2::timestamptz is null or at >= $2)"
            " and ($3::timestamptz is null or at < $3) order by at desc limit $4",
            offer_id, since, until, limit,
        )  # fmt: skip
    elif granularity == "day":
        rows = await tx.fetch(
            "select day, currency, low, high, opened, closed, changes from leasehold_monitors.history_by_day($1)"
            " where ($2::timestamptz is null or day >= $2::date)"
            " and ($3::timestamptz is null or day < $3::date) order by day desc, currency limit $4",
            offer_id, since, until, limit,
        )  # fmt: skip
    else:
        rows = await tx.fetch(
            "select date_trunc('month', day)::date as month, currency, min(low) as low, max(high) as high,"
            " avg(closed)::numeric(20, 6) as average, sum(changes)::integer as changes, count(*)::integer as days"
            " from leasehold_monitors.history_by_day($1) group by 1, 2"
            " having ($2::timestamptz is null or date_trunc('month', min(day))::date >= $2::date)"
            " and ($3::timestamptz is null or date_trunc('month', min(day))::date < $3::date)"
            " order by 1 desc, currency limit $4",
            offer_id, since, until, limit,
        )  # fmt: skip
    return [_priced(dict(row)) for row in rows]


# -- finding products -------------------------------------------------------------------------------------------


async def search(tx: "Transaction", tenant: UUID, site_id: UUID, options: Search) -> UUID:
    """Look for products at a site; what is found waits for approval."""
    await get_site(tx, site_id)
    search_id: UUID = await tx.fetchval(
        "insert into leasehold_monitors.search (tenant_id, site_id, options) values ($1, $2, $3) returning search_id",
        tenant, site_id, json.dumps(asdict(options)),
    )  # fmt: skip
    flow_id = await tx.start(search_flow(search_id))
    await tx.execute("update leasehold_monitors.search set flow_id = $2 where search_id = $1", search_id, flow_id)
    return search_id


async def list_searches(tx: "Transaction", site_id: UUID, *, limit: int = 50) -> list[dict[str, Any]]:
    rows = await tx.fetch(
        "select search_id, options, flow_id, counts, created_at, finished_at from leasehold_monitors.search"
        " where site_id = $1 order by created_at desc limit $2",
        site_id, limit,
    )  # fmt: skip
    return [_plain(row, "options", "counts") for row in rows]


async def list_candidates(
    tx: "Transaction", site_id: UUID, *, state: str = "proposed", limit: int = 500
) -> list[dict[str, Any]]:
    """The surest first."""
    rows = await tx.fetch(
        "select candidate_id, url, guess, round(confidence::numeric, 3)::float8 as confidence, state, decided_by,"
        " decided_at, created_at from leasehold_monitors.candidate where site_id = $1 and state = $2"
        " order by confidence desc, url limit $3",
        site_id, state, limit,
    )  # fmt: skip
    return [_plain(row, "guess") for row in rows]


async def list_queues(tx: "Transaction") -> list[dict[str, Any]]:
    """The sites with candidates that wait for approval, the most first."""
    rows = await tx.fetch(
        "select s.site_id, s.url, count(*) as waiting, min(c.created_at) as since"
        " from leasehold_monitors.candidate c join leasehold_monitors.site s using (site_id)"
        " where c.state = 'proposed' group by s.site_id order by count(*) desc, s.url limit 100"
    )
    return [_masked(dict(row)) for row in rows]


async def decide(
    tx: "Transaction",
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
        "update leasehold_monitors.candidate set state = $3, decided_by = $4, decided_at = leasehold.now()"
        " where site_id = $1 and state = 'proposed' and ($2::uuid[] is null or candidate_id = any($2))"
        " and confidence >= $5 returning url",
        site_id, candidates, "approved" if approve else "rejected", by, least,
    )  # fmt: skip
    if approve and rows:
        for row in rows:
            await add_product(tx, tenant, site_id, row["url"], tags=tags or [])
        await crawl(tx, site_id, what="baseline")
    return len(rows)


# -- changes and rules ------------------------------------------------------------------------------------------


async def list_changes(
    tx: "Transaction",
    *,
    state: str | None = "confirmed",
    kind: str | None = None,
    site_id: UUID | None = None,
    product_id: UUID | None = None,
    since: datetime | None = None,
    told: bool | None = None,
    before: tuple[datetime, UUID] | None = None,
    limit: int = 100,
) -> list[dict[str, Any]]:
    """The newest first; ``before`` is the moment and id of the last one of the page before."""
    rows = await tx.fetch(
        "select c.change_id, c.product_id, p.site_id, p.url, p.name, c.variant, c.kind, c.before, c.after,"
        " c.percent::float8 as percent, c.state, c.doubt, c.told, c.body_before, c.body_after, c.at, c.decided_at"
        " from leasehold_monitors.change c join leasehold_monitors.product p using (product_id)"
        " where ($1::text is null or c.state = $1) and ($2::text is null or c.kind = $2)"
        " and ($3::uuid is null or p.site_id = $3) and ($4::uuid is null or c.product_id = $4)"
        " and ($5::timestamptz is null or c.at >= $5)"
        " and ($6::timestamptz is null or (c.at, c.change_id) < ($6, $7))"
        " and ($9::boolean is null or c.told = $9) order by c.at desc, c.change_id desc limit $8",
        state, kind, site_id, product_id, since, *(before or (None, None)), limit, told,
    )  # fmt: skip
    return [_plain(row, "before", "after") for row in rows]


async def put_rule(
    tx: "Transaction",
    tenant: UUID,
    *,
    name: str,
    condition: str,
    value: Decimal | None = None,
    currency: str | None = None,
    direction: str = "both",
    **scope: Any,
) -> dict[str, Any]:
    """``scope`` is one or more of site_id, product_id, tag and brand; without it the rule is for all products.

    Of the condition ``undercut`` it says which products are one's own: others of their groups are told of.
    """
    if condition not in _CONDITIONS:
        raise BadInput(f"there is no condition {condition!r}", hint=f"one of {', '.join(_CONDITIONS)}")
    if (value is not None) != (condition in ("percent", "absolute", "target")):
        raise BadInput(f"a rule of the condition {condition} has {'a value' if value is None else 'no value'}")
    if (currency is not None) != (condition in ("absolute", "target")):
        raise BadInput(f"a rule of the condition {condition} has {'a currency' if currency is None else 'no currency'}")
    if condition == "undercut" and not any(scope.values()):
        raise BadInput(
            "a rule of the condition undercut must know what is yours", hint="give a site, a tag or a product"
        )
    for kind in ("site", "product"):
        given = scope.get(f"{kind}_id")
        if given and not await tx.fetchval(f"select true from leasehold_monitors.{kind} where {kind}_id = $1", given):
            raise NotFound(f"there is no {kind} {given}")
    rule_id = await tx.fetchval(
        "insert into leasehold_monitors.rule"
        " (tenant_id, name, condition, value, currency, direction, site_id, product_id, tag, brand)"
        " values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning rule_id",
        tenant, name, condition, value, currency, direction,
        *(scope.get(part) for part in ("site_id", "product_id", "tag", "brand")),
    )  # fmt: skip
    return next(rule for rule in await list_rules(tx) if rule["rule_id"] == rule_id)


async def list_rules(tx: "Transaction") -> list[dict[str, Any]]:
    rows = await tx.fetch(
        "select rule_id, name, condition, value::text, currency, direction, site_id, product_id, tag, brand, paused,"
        " created_at, (select count(*) from leasehold_monitors.alert a where a.rule_id = r.rule_id) as alerts"
        " from leasehold_monitors.rule r order by created_at, rule_id limit 1000"
    )
    return [dict(row) for row in rows]


async def remove_rule(tx: "Transaction", rule_id: UUID) -> None:
    if not await tx.fetchval("delete from leasehold_monitors.rule where rule_id = $1 returning true", rule_id):
        raise NotFound(f"there is no rule {rule_id}")


# -- groups -----------------------------------------------------------------------------------------------------


async def list_groups(tx: "Transaction", *, limit: int = 100) -> list[dict[str, Any]]:
    """Things that more than one site sells, the most first."""
    rows = await tx.fetch(
        "select g.group_id, g.match, g.name, count(*) as products from leasehold_monitors.product_group g"
        " join leasehold_monitors.product p using (group_id) group by 1 having count(*) > 1"
        " order by count(*) desc, g.match limit $1",
        limit,
    )
    return [dict(row) for row in rows]


async def compare_group(tx: "Transaction", group_id: UUID) -> dict[str, Any]:
    """The same thing at all its sites, cheapest first in each currency; amounts of two currencies are not compared."""
    head = await tx.fetchrow(
        "select group_id, match, name from leasehold_monitors.product_group where group_id = $1", group_id
    )
    if head is None:
        raise NotFound(f"there is no group {group_id}")
    rows = await tx.fetch(
        "select p.product_id, p.site_id, p.url, p.name, p.state, p.result, p.missing_since, p.checked_at, o.price,"
        " o.currency, o.availability, o.seen_at, case when p.state <> 'gone' and p.missing_since is null then round(("
        "  o.price / min(o.price) filter (where p.state <> 'gone' and p.missing_since is null)"
        "  over (partition by o.currency) - 1) * 100, 2)::float8 end as percent_above_cheapest"
        f" from {_WITH_OFFER} where p.group_id = $1"
        " order by p.state = 'gone' or p.missing_since is not null, o.currency nulls last, o.price nulls last, p.url"
        " limit 1000",
        group_id,
    )
    return dict(head) | {"products": [_standing(dict(row)) for row in rows]}


# -- words ------------------------------------------------------------------------------------------------------


def _root(url: str) -> str:
    parts = urlsplit(url_key(url))
    return f"{parts.scheme}://{parts.netloc}/"


#: What may name an address, and so carry a secret.
_ADDRESSES = ("url", "image", "reason", "problem", "guess", "options", "facts")


def _masked(row: dict[str, Any]) -> dict[str, Any]:
    """The same without the secrets of addresses."""
    return row | {name: shown(row[name]) for name in _ADDRESSES if name in row}


def _plain(row: Any, *names: str) -> dict[str, Any]:
    return _masked(dict(row) | {name: json.loads(row[name] or "null") for name in names})


def _standing(row: dict[str, Any]) -> dict[str, Any]:
    """With what is true now told apart from what was true when the page was read last, at ``seen_at``.

    Of a page that is not there nobody knows whether it could be bought.
    """
    is_there = row["state"] != "gone" and row["missing_since"] is None
    return _priced(_masked(row)) | {
        "is_there": is_there,
        "is_current": row["result"] == "read",
        "availability": row["availability"] if is_there else None,
        "last_availability": row["availability"],
    }


def _priced(row: dict[str, Any]) -> dict[str, Any]:
    """Amounts as text, with the decimals of their currency."""
    return {
        name: told_price(value, row.get("currency")) if isinstance(value, Decimal) else value
        for name, value in row.items()
    }


def _no_product(product_id: UUID) -> NotFound:
    return NotFound(f"there is no product {product_id}", hint="leasehold monitors products")
