"""The days of a shop while workers, the server and PostgreSQL are killed leave what undisturbed days leave.

python -m tests.packs.monitors.killed --seeds 20
"""

import argparse
import asyncio
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from difflib import unified_diff
from uuid import UUID

from leasehold.database.database import Role
from leasehold.program.access import Access
from leasehold.program.client import Backend
from leasehold.settings import Settings
from leasehold_packs.monitors import feature, service, service_rules
from leasehold_packs.monitors.handlers import QUEUES
from tests.cell import Cell
from tests.faults.conftest import Own
from tests.fetch.world import Site, serving
from tests.packs.killer import Killer, digest, ended_badly, kills, prepared
from tests.packs.monitors import days
from tests.packs.monitors.watching import DAY, MINUTE, Watcher

#: Without ids and moments, which are nobody's doing; rows of one offer in the order in which they
#: came.
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


class Days:
    """A shop, day by day, watched by one tenant."""

    def __init__(
        self, own: Own, shop: Site, port: int, *, until: int = days.DAYS, products: int = days.PRODUCTS
    ) -> None:
        self.own, self.shop, self.port, self.until, self.products = own, shop, port, until, products

    async def left(self, victims: list[str], dice: random.Random) -> tuple[list[str], Counter[str]]:
        """The rows that the days leave, and who was killed meanwhile."""
        cell = self.own.cell
        killer = Killer(self.own, "monitors", cell.tenant_a, dice, LEASEHOLD_FETCH_ALLOW=f"127.0.0.1:{self.port}")
        async with killer.running():
            async with self._watching() as watcher:
                site_id = await self._begin(watcher)
            for day, dying in enumerate(_dealt(victims, self.until + 1, dice)):
                self.shop.pages = days.pages(day)
                await _crawl(killer, site_id, day, dying)
                await watcher.pass_time(DAY + MINUTE)  # timers of a day are over when the next one begins
            left = await _rows(cell, site_id)
            async with self._watching() as watcher:
                await watcher.ask(service.remove_site, site_id)
        return left, killer.killed

    @asynccontextmanager
    async def _watching(self) -> AsyncIterator[Watcher]:
        cell = self.own.cell
        async with cell.database(Role.API) as db:
            yield Watcher(cell, Access(Backend(Settings(), db), cell.tenant_a, "test"), self.port)

    async def _begin(self, watcher: Watcher) -> UUID:
        self.shop.pages = days.pages(0)
        site_id = await watcher.site(spread_minutes=0)
        tenant = watcher.access.tenant_id
        async with watcher.access.transaction() as tx:
            for n in range(self.products):
                await service.add_product(tx, tenant, site_id, f"{watcher.base}/p/{n}", tags=[])
            for rule in await service_rules.list_rules(tx):
                await service_rules.remove_rule(tx, rule.rule_id)
            await service_rules.put_rule(tx, tenant, name="low", condition="new_low")
        return site_id


def _dealt(victims: list[str], n: int, dice: random.Random) -> list[list[str]]:
    """Who dies on which of so many days."""
    dealt: list[list[str]] = [[] for _ in range(n)]
    for victim in victims:
        dice.choice(dealt).append(victim)
    return dealt


async def _crawl(killer: Killer, site_id: UUID, day: int, victims: list[str]) -> None:
    site = f"/v1/monitors/sites/{site_id}"
    asked = await killer.asked("POST", f"{site}/crawl", key=f"{site_id} {day}")
    job = await killer.until(lambda job: job["state"] == "succeeded", f"/v1/jobs/{asked['job_id']}", [])
    await killer.until(lambda runs: _is_over(runs["data"], job["result"]), f"{site}/runs", victims)


def _is_over(runs: list[dict[str, object]], run_id: str) -> bool:
    return any(run["run_id"] == run_id and run["finished_at"] for run in runs)


async def _rows(cell: Cell, site_id: UUID) -> list[str]:
    product = f"(select * from leasehold_monitors.product where site_id = '{site_id}')"
    return [
        f"{n} {sorted(row.items())}"
        for n, query in enumerate(_TABLES)
        for row in await cell.look(query.format(product=product, site=site_id))
    ]


async def main(seeds: range, workers: int) -> int:
    different, killed = 0, Counter[str]()
    async with prepared(feature, *QUEUES) as own, serving(shop := Site()) as port:
        series = Days(own, shop, port)
        calm, _ = await series.left([], random.Random(0))
        for seed in seeds:
            dice = random.Random(seed)
            rough, done = await series.left(kills(dice, workers), dice)
            different += calm != rough
            killed += done
            told = f"{digest(calm)} undisturbed, {digest(rough)} with {dict(done)} killed"
            print(f"seed {seed}: {told}; so far {await ended_badly(own.cell)}", flush=True)
            for line in list(unified_diff(calm, rough, "undisturbed", "killed", lineterm="", n=0))[:20]:
                print(line, flush=True)
    print(f"{len(seeds)} seeds from {seeds[0]}, killed {dict(killed)}, {different} runs left something else")
    return 1 if different else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument(
        "--workers", type=int, default=4, help="how many of them are killed, beside server and PostgreSQL"
    )
    given = parser.parse_args()
    sys.exit(asyncio.run(main(range(given.first, given.first + given.seeds), given.workers)))
