"""The products that are watched, as their checks need them."""

import json
from uuid import UUID

from leasehold import Cancel, Transaction
from leasehold_packs.monitors.crawl import WatchedProduct
from leasehold_packs.monitors.model import Settings

CRAWL = "monitors.crawl"
_RECOGNISED_BY = ("gtin", "mpn", "sku", "name")


async def load(tx: Transaction, product_id: UUID, run_id: UUID | None = None) -> WatchedProduct:
    """The product, if it is to be checked at all."""
    row = await tx.fetchrow("select * from leasehold_monitors.load_product($1, $2)", product_id, run_id)
    if row is None or row["state"] == "paused" or row["site_state"] == "paused":
        raise Cancel("nobody watches it any more")
    return WatchedProduct(
        product_id=product_id,
        site_id=row["site_id"],
        url=row["url"],
        selector=row["selector"],
        settings=Settings(**json.loads(row["settings"])),
        asked_at=row["now"],
        rules_since=row["rules_since"],
        known={name: row[name] for name in _RECOGNISED_BY if row[name]},
        body=row["body"] if row["state"] == "active" and row["missing_since"] is None else None,
        extractor=row["extractor"],
        media_type=row["media_type"],
        is_waiting=row["is_waiting"],
        has_feed=row["feed"] is not None,
    )


def gate_of(site_id: UUID) -> str:
    """What holds requests to one site to the rate of its settings."""
    return f"monitors:{site_id}"
