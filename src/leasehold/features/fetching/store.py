"""What all tenants and workers share about sites: their robots.txt, and when a host may be asked next."""

from datetime import datetime
from typing import TYPE_CHECKING

from leasehold.database.database import Database

if TYPE_CHECKING:
    from leasehold.fetch.robots import Kept


class KeptRobots:
    """robots.txt of sites, kept in the database for everybody."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def load(self, origin: str, since: datetime | None) -> "Kept | None":
        from leasehold.fetch.robots import Kept  # here: upkeep needs the rest of this module alone

        rows = await self._db.call("get_fresh_robots", origin, since)
        return Kept(**rows[0]) if rows else None

    async def keep(self, origin: str, kept: "Kept") -> None:
        await self._db.call("put_robots", origin, kept.status, kept.file, kept.seconds)


async def wait_for_host(db: Database, host: str, gap_s: float, *, patience_s: float) -> float:
    """Seconds until the moment that is ours now. More than the patience: none is, come back after so many."""
    return float(await db.value("reserve_host_slot", host, gap_s, patience_s))


async def purge_outside(db: Database) -> int:
    return int(await db.value_long("purge_fetch_cache"))
