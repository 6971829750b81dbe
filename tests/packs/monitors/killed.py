"""The days of a shop on workers that die, and the same days that nobody disturbed: what they leave must be the same.

python -m tests.packs.monitors.killed --seeds 20

A worker holds all checks of a crawl at once, so that each kill takes an attempt of all of them. A check has four:
beyond two kills in one crawl it may have none left for a fetch that fails by itself, and then says ``error``, as it
should.
"""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import unified_diff
from hashlib import sha256
from uuid import UUID

from leasehold.access import Access
from leasehold.client import Backend
from leasehold.engine import migrate
from leasehold.engine.database import Role
from leasehold.engine.tenants import create_queue
from leasehold.settings import Settings
from leasehold_packs.monitors import pack, requests
from leasehold_packs.monitors.handlers import QUEUES
from tests.cell import Cell, apart
from tests.cli.program import started
from tests.net.world import Site, serving
from tests.packs.monitors import days
from tests.packs.monitors.watching import DAY, MINUTE, Watcher
from tests.worker.running import ENVIRONMENT

_KILLS_OF_A_CRAWL = 2
#: Without ids and moments, which are nobody's doing; rows of one offer in the order in which they came.
_TABLES = (
    "select url, state, result, name, sku, gtin, brand, facts_digest, body, without_price from {product} order by url",
    "select p.url, o.variant, o.price, o.currency, o.list_price, o.availability, o.method, o.told_price, o.low, o.high,"
    " o.body from leasehold_monitors.offer o join {product} p using (product_id) order by 1, 2",
    "select p.url, o.variant, n.price, n.currency, n.availability, n.body from leasehold_monitors.observation n"
    " join leasehold_monitors.offer o using (offer_id) join {product} p using (product_id) order by 1, 2, n.at",
    "select p.url, c.variant, c.kind, c.before, c.after, c.percent, c.state, c.doubt, c.told, c.body_before,"
    " c.body_after from leasehold_monitors.change c join {product} p using (product_id) order by 1, 2, c.at, 3",
    "select p.url, a.rule_id is not null as told from leasehold_monitors.alert a"
    " join leasehold_monitors.change c using (change_id) join {product} p using (product_id) order by 1, c.at",
    "select p.url, v.result, v.status from leasehold_monitors.visit v join {product} p using (product_id)"
    " where v.run_id is not null order by 1, v.at",
    "select what, planned, counts from leasehold_monitors.run where site_id = '{site}' order by started_at",
    "select type, subject, n from (select e.type, p.url as subject, count(*) as n from leasehold.webhook_event e"
    " join {product} p on p.product_id::text = e.subject_id group by 1, 2) e order by 1, 2",
)


@contextmanager
def nursery(cell: Cell, port: int, *, workers: int = 3) -> Iterator[int]:
    """Workers that are replaced when they die; the process that has them."""
    environment = cell.environment() | ENVIRONMENT
    environment |= {"LEASEHOLD_FETCH_ALLOW": f"127.0.0.1:{port}", "LEASEHOLD_FETCH_GAP_SECONDS": "0.0001"}
    # Longer than a busy machine leaves a worker without a turn: a check has four attempts, and they are for the kills.
    environment |= {"LEASEHOLD_LEASE_SECONDS": "6", "LEASEHOLD_BEAT_SECONDS": "1"}
    command = (sys.executable, "-m", "tests.faults.nursery", str(workers), "leasehold_packs.monitors.handlers:app")
    with started(env=environment, command=command) as begun:
        yield begun.process.pid


async def run(
    cell: Cell,
    shop: Site,
    port: int,
    parent: int,
    *,
    kills: int,
    dice: random.Random,
    until: int = days.DAYS,
    products: int = days.PRODUCTS,
) -> tuple[list[str], int]:
    """The rows that the days leave, and how many workers they cost."""
    killed = 0
    async with cell.database(Role.API) as db:
        watcher = Watcher(cell, Access(Backend(Settings(), db), cell.tenant_a, "test"), port)
        site_id = await _begin(watcher, shop, products)
        for day in range(until + 1):
            shop.pages = days.pages(day)
            crawled = asyncio.create_task(watcher.crawl(site_id, "crawl" if day else "baseline"))
            most = min(kills, killed + _KILLS_OF_A_CRAWL)
            while not crawled.done():
                await asyncio.wait([crawled], timeout=dice.uniform(0.05, 0.4))
                if killed < most and not crawled.done() and (victim := _child(parent, dice)):
                    with suppress(ProcessLookupError):
                        os.kill(victim, signal.SIGKILL)
                        killed += 1
            crawled.result()
            await watcher.pass_time(DAY + MINUTE)  # timers of a day are over when the next one begins
        left = await _rows(cell, site_id)
        await watcher.ask(requests.remove_site, site_id)
        return left, killed


async def _begin(watcher: Watcher, shop: Site, products: int) -> UUID:
    shop.pages = days.pages(0)
    site_id = await watcher.site(spread_minutes=0)
    tenant = watcher.access.tenant_id
    async with watcher.access.transaction() as tx:
        for n in range(products):
            await requests.add_product(tx, tenant, site_id, f"{watcher.base}/p/{n}", tags=[])
        for rule in await requests.list_rules(tx):
            await requests.remove_rule(tx, rule["rule_id"])
        await requests.put_rule(tx, tenant, name="low", condition="new_low")
    return site_id


def _child(parent: int, dice: random.Random) -> int | None:
    found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True, check=False).stdout.split()
    return int(dice.choice(found)) if found else None


async def _rows(cell: Cell, site_id: UUID) -> list[str]:
    product = f"(select * from leasehold_monitors.product where site_id = '{site_id}')"
    return [
        f"{n} {sorted(row.items())}"
        for n, query in enumerate(_TABLES)
        for row in await cell.look(query.format(product=product, site=site_id))
    ]


async def _ended_badly(cell: Cell) -> tuple[int, int]:
    """Attempts whose worker was lost, and checks that had no attempt left, so far."""
    [row] = await cell.look(
        "select (select count(*) from leasehold.attempt where outcome = 'lost') as lost,"
        " (select count(*) from leasehold.outcome where state = 'dead') as dead"
    )
    return row["lost"], row["dead"]


def _digest(rows: list[str]) -> str:
    return sha256("\n".join(rows).encode()).hexdigest()[:16]


async def prepare(cell: Cell) -> None:
    """The pack's tables and queues."""
    await migrate.migrate(cell.cluster.url(cell.name), packs=[pack.files])
    async with cell.database(Role.OPERATOR) as operator:
        for queue in QUEUES:
            await create_queue(operator, queue)


async def main(seeds: range, kills: int) -> int:
    different = total = 0
    async with apart() as cell, serving(shop := Site()) as port:
        await prepare(cell)
        with nursery(cell, port) as parent:
            calm, _ = await run(cell, shop, port, parent, kills=0, dice=random.Random(0))
            for seed in seeds:
                before = await _ended_badly(cell)
                rough, killed = await run(cell, shop, port, parent, kills=kills, dice=random.Random(seed))
                different += calm != rough
                total += killed
                lost, dead = (now - then for now, then in zip(await _ended_badly(cell), before, strict=True))
                told = f"{_digest(calm)} undisturbed, {_digest(rough)} with {killed} workers killed"
                print(f"seed {seed}: {told}, {lost} attempts lost, {dead} jobs dead", flush=True)
                for line in list(unified_diff(calm, rough, "undisturbed", "killed", lineterm="", n=0))[:20]:
                    print(line, flush=True)
    print(f"{len(seeds)} seeds from {seeds[0]}, {total} workers killed, {different} runs left something else")
    return 1 if different else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--kills", type=int, default=10)
    given = parser.parse_args()
    sys.exit(asyncio.run(main(range(given.first, given.first + given.seeds), given.kills)))
