"""One tenant has 50,000 products that all wait, another has 20: how long the other's take, alone and beside it.

python -m tests.packs.monitors.fairness
"""

import argparse
import asyncio
import sys
import time
from decimal import Decimal
from uuid import UUID

from leasehold.database.database import Role
from leasehold.program.access import Access
from leasehold.program.client import Backend
from leasehold.settings import Settings
from leasehold_packs.monitors import feature, service
from leasehold_packs.monitors.demo.shop import Item, product_page
from leasehold_packs.monitors.handlers import QUEUES
from leasehold_packs.monitors.model import Settings as Watched
from leasehold_packs.monitors.store import CRAWL, gate_of
from tests.cell import Cell, apart
from tests.cli.program import started
from tests.fetch.world import Handler, page, serving
from tests.packs.killer import prepare
from tests.packs.monitors.watching import HTML
from tests.worker.running import ENVIRONMENT

NURSERY = (sys.executable, "-m", "tests.faults.nursery", "2", "leasehold_packs.monitors.handlers:app")
_BATCH = 1000


def shop() -> Handler:
    """Any number of products, each with a page of its own."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            name = head.split(b" ")[1].rpartition(b"/")[2]
            if name.isdigit():
                item = Item(n=int(name), price=Decimal(1000 + int(name)) / 100)
                writer.write(page(product_page(item, layout="json-ld").encode(), HTML))
            else:
                writer.write(page(b"", status="404 Not Found"))
            await writer.drain()

    return handle


async def watch(access: Access, url: str, count: int) -> tuple[UUID, list[UUID]]:
    """A site with so many products that nobody has looked at."""
    async with access.transaction() as tx:
        site = await service.put_site(tx, access.tenant_id, url, Watched())
        rows = await tx.fetch(
            "insert into leasehold_monitors.product (tenant_id, site_id, url, key)"
            " select $1, $2, $3 || 'p/' || n, sha256(($3 || 'p/' || n)::bytea) from generate_series(1, $4) n"
            " returning product_id",
            access.tenant_id, site.site_id, url, count,
        )  # fmt: skip
    return site.site_id, [row["product_id"] for row in rows]


async def ask(access: Access, site_id: UUID, products: list[UUID]) -> list[UUID]:
    jobs = []
    for start in range(0, len(products), _BATCH):
        async with access.transaction() as tx:
            orders = [{"product_id": str(one)} for one in products[start : start + _BATCH]]
            asked = await tx.enqueue_many("monitors.check", orders, queue=CRAWL, gate=gate_of(site_id))
            jobs += [one.job_id for one in asked]
    return jobs


async def timed(cell: Cell, access: Access, site_id: UUID, products: list[UUID]) -> float:
    """Seconds until all of these were checked once more."""
    begun = time.monotonic()
    jobs = await ask(access, site_id, products)
    named = ", ".join(f"'{job}'" for job in jobs)
    while True:
        [row] = await cell.look(f"select count(*) as n from leasehold.outcome where job_id in ({named})")
        if row["n"] == len(jobs):
            return time.monotonic() - begun
        await asyncio.sleep(0.02)


async def main(many: int, few: int) -> int:
    async with apart() as cell, serving(shop()) as port, cell.database(Role.API) as db:
        await prepare(cell, feature, *QUEUES)
        environment = cell.environment() | ENVIRONMENT
        environment |= {"LEASEHOLD_FETCH_ALLOW": f"127.0.0.1:{port}", "LEASEHOLD_FETCH_GAP_SECONDS": "0.0001"}
        environment |= {"LEASEHOLD_SLOTS": "20"}  # the nursery opens a connection for each
        large, small = (Access(Backend(Settings(), db), tenant, "test") for tenant in (cell.tenant_a, cell.tenant_b))
        big_site, products = await watch(large, f"http://127.0.0.1:{port}/", many)
        site_id, own = await watch(small, f"http://127.0.0.1:{port}/", few)
        with started(env=environment, command=NURSERY):
            alone = [await timed(cell, small, site_id, own) for _ in range(3)]
            await ask(large, big_site, products)
            beside = [await timed(cell, small, site_id, own) for _ in range(3)]
            [row] = await cell.look(
                "select count(*) as n, count(*) filter (where result <> 'first') as other from leasehold_monitors.visit"
                f" where tenant_id = '{cell.tenant_a}'"
            )
    print(f"{few} products alone: {_words(alone)} s")
    print(f"{few} products beside another tenant's {many}: {_words(beside)} s")
    print(f"of the {many}, {row['n']} were checked meanwhile, {row['other']} of them in vain")
    return 0


def _words(seconds: list[float]) -> str:
    return ", ".join(f"{one:.2f}" for one in seconds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--many", type=int, default=50_000)
    parser.add_argument("--few", type=int, default=20)
    given = parser.parse_args()
    sys.exit(asyncio.run(main(given.many, given.few)))
