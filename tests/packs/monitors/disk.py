"""What pages cost on disk: products looked at once a day for some days, on pages that differ by some bytes each time.

python -m tests.packs.monitors.disk
"""

import argparse
import asyncio
import random
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from uuid import UUID

from leasehold import Leasehold
from leasehold.database.database import Database, Role
from leasehold.engine import maintenance
from leasehold.plugins.discovery import app_of
from leasehold.program.access import Access
from leasehold.program.client import Backend
from leasehold.settings import Settings
from leasehold_packs.monitors import feature
from leasehold_packs.monitors.demo.shop import Item, product_page
from leasehold_packs.monitors.handlers import QUEUES
from leasehold_packs.monitors.store import CRAWL
from tests.cell import Cell, apart
from tests.fetch.world import Handler, page, serving
from tests.packs.killer import prepare
from tests.packs.monitors.fairness import watch
from tests.packs.monitors.watching import DAY, HTML
from tests.waiting import eventually
from tests.worker.running import FAST, running

_BATCH = 500
_AN_HOUR_AND_MORE = 3700.0  #: pages that were replaced are let go then
_MONTH_DAYS = 30
_MB = 1_000_000


class Shop:
    """Each page has this many kB, differs from itself each time, and has a new price when its product's turn comes."""

    def __init__(self, kilobytes: int) -> None:
        dice = random.Random(1)
        words = ["".join(dice.choices("abcdefghijklmnop", k=dice.randint(2, 9))) for _ in range(2000)]
        filler: list[str] = []
        while sum(map(len, filler)) < kilobytes * 1000:
            href, text = dice.choice(words), " ".join(dice.choices(words, k=8))
            filler.append(f'<li class="card item-{dice.randint(1, 99)}"><a href="/c/{href}">{text}</a></li>')
        self._filler = "".join(filler)
        self._asked: Counter[int] = Counter()
        self.prices: dict[int, Decimal] = {}

    def answer(self, n: int) -> bytes:
        self._asked[n] += 1
        html = product_page(Item(n=n, price=self.prices.get(n, Decimal("20.00"))), layout="json-ld")
        more = f"<ul>{self._filler}</ul><!-- {self._asked[n]:06d} {n:06d} --></body>"
        return page(html.replace("</body>", more).encode(), HTML)

    def handler(self) -> Handler:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while head := await reader.readuntil(b"\r\n\r\n"):
                name = head.split(b" ")[1].rpartition(b"/")[2]
                writer.write(self.answer(int(name)) if name.isdigit() else page(b"", status="404 Not Found"))
                await writer.drain()

        return handle


async def main(products: int, days: int, kilobytes: int, changing: float) -> None:
    shop, dice = Shop(kilobytes), random.Random(2)
    async with apart() as cell, serving(shop.handler()) as port, cell.database(Role.API) as db:
        await prepare(cell, feature, *QUEUES)
        # Few at once, so that none waits for a turn of this process longer than an attempt may
        # take.
        settings = replace(FAST, lease_seconds=1e8, slots=8, fetch_allow=f"127.0.0.1:{port}", fetch_gap_seconds=0.0001)
        app = Leasehold(settings)
        app.include(app_of(feature))
        access = Access(Backend(Settings(), db), cell.tenant_a, "test")
        _, watched = await watch(access, f"http://127.0.0.1:{port}/", products)
        sizes: list[int] = []
        changes = 0
        async with running(cell, app, settings), cell.database(Role.WORKER) as worker_db:
            for day in range(days):
                if day:
                    changed = dice.sample(range(1, products + 1), round(products * changing / 100))
                    changes += len(changed)
                    shop.prices |= {n: Decimal(dice.randint(1500, 2500)) / 100 for n in changed}
                await check(cell, access, watched)
                await cell.pass_time(_AN_HOUR_AND_MORE)
                await purge(worker_db)
                sizes.append(await kept(cell, day + 1, products))
                await cell.pass_time(DAY - _AN_HOUR_AND_MORE)
    size = len(shop.answer(1)) / 1000
    print(f"{products} products with pages of {size:.0f} kB, {products * days} checks, {changes} new prices")
    if days > 2:  # from the second day on: the first page and the newest are two then
        grown = (sizes[-1] - sizes[1]) / (days - 2) * _MONTH_DAYS / products / 1000
        print(f"each month adds {grown:.0f} kB a product, until its history is as long as it is kept")


async def check(cell: Cell, access: Access, products: list[UUID]) -> None:
    """Each of them once."""
    for start in range(0, len(products), _BATCH):
        orders = [{"product_id": str(one)} for one in products[start : start + _BATCH]]
        async with access.transaction() as tx:
            await tx.enqueue_many("monitors.check", orders, queue=CRAWL)

        async def is_quiet() -> bool:
            [row] = await cell.look(
                "select (select count(*) from leasehold.ready) + (select count(*) from leasehold.lease) as n"
            )
            return bool(row["n"] == 0)

        await eventually(is_quiet, what="all checks", seconds=1200)


async def purge(db: Database) -> None:
    while await maintenance.purge(db, history_days=90, result_days=7):
        pass


async def kept(cell: Cell, day: int, products: int) -> int:
    """The bytes of all pages, as they are kept: compressed."""
    [row] = await cell.look("select count(*) as n, coalesce(sum(length(bytes)), 0) as size from leasehold.body")
    size = int(row["size"])
    print(f"day {day}: {row['n']} pages, {size / _MB:.1f} MB, {size / products / 1000:.1f} kB a product", flush=True)
    return size


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--products", type=int, default=2000)
    parser.add_argument("--days", type=int, default=10)
    parser.add_argument("--kilobytes", type=int, default=2, help="Of a page; those of real shops have about 500.")
    parser.add_argument(
        "--changing", type=float, default=2.0, help="Of a hundred products, those that change in a day."
    )
    given = parser.parse_args()
    asyncio.run(main(given.products, given.days, given.kilobytes, given.changing))
