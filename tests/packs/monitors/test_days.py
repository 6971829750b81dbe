"""Some days of a shop: exactly what changed is told, each of it once, by a receiver that fails now and then."""

import pytest

from leasehold.database.database import Database
from leasehold_packs.monitors import service
from leasehold_packs.monitors.model_results import CrawlRun
from tests.cell import Cell
from tests.features.webhooks.hooks import Hooks, Receiver, settings_for
from tests.fetch.world import Site, page, serving
from tests.packs.monitors import days
from tests.packs.monitors.watching import DAY, MINUTE, Watcher, known, watching


def every_third_time_no(n: int) -> bytes:
    return page(b"", status="500 Oh") if n % 3 == 0 else page(b"", status="204 No Content")


@pytest.mark.long
async def test_days_of_a_shop_are_told_exactly_and_once(cell: Cell, api_db: Database, shop: Site) -> None:
    receiver = Receiver(answer=every_third_time_no)
    async with serving(receiver) as receiver.port:
        allow = f"127.0.0.1:{receiver.port}"
        async with watching(cell, api_db, shop, allow=allow) as watcher:
            hooks = Hooks(cell, api_db, settings_for(receiver))
            await hooks.add(receiver, "monitors.*")
            runs = await live_through(watcher, shop)
            await hooks.settled(hurry=True)
            changes = await watcher.ask(service.list_changes, limit=1000)
            events = await watcher.events()
            sent = {str(row["event_id"]) for row in await cell.look("select event_id from leasehold.webhook_event")}
    found = sorted((one.url.removeprefix(watcher.base), one.kind) for one in changes)
    assert found == days.truth()
    told = [event for event in events if event["type"].endswith(("_changed", ".gone"))]
    assert len(told) == len(found)
    assert sorted(receiver.accepted) == sorted(sent), "each once by its id"
    assert len(receiver.got) > len(sent), "some were sent again"
    assert [known(run.counts)["results"].get("blocked", 0) for run in runs] == [0, 1, 0]
    assert [known(run.counts)["results"].get("missing", 0) for run in runs] == [0, 1, 0]


async def live_through(watcher: Watcher, shop: Site) -> list[CrawlRun]:
    """The runs of the days, the first day first."""
    site_id = await watcher.site(spread_minutes=0)
    shop.pages = days.pages(0)
    async with watcher.access.transaction() as tx:
        for n in range(days.PRODUCTS):
            await service.add_product(tx, watcher.access.tenant_id, site_id, f"{watcher.base}/p/{n}", tags=[])
    await watcher.crawl(site_id, "baseline")
    runs = []
    for day in range(1, days.DAYS + 1):
        await watcher.pass_time(DAY + MINUTE)  # timers of a day are over when the next one begins
        shop.pages = days.pages(day)
        runs.append(await watcher.crawl(site_id))
    await watcher.pass_time(DAY + MINUTE)
    return runs
