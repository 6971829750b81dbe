"""Which pages stay: of each product the newest one, and those that a row speaks of."""

import json
from typing import Any
from uuid import UUID

from leasehold.database.database import Database
from leasehold.engine import maintenance
from leasehold_packs.monitors import service
from tests.cell import Cell
from tests.fetch.world import Site, page
from tests.packs.monitors.test_checks import CAPTCHA
from tests.packs.monitors.watching import DAY, MINUTE, Watcher, item, known

HOUR = 60 * MINUTE


async def test_of_pages_that_differ_by_a_byte_the_newest_one_stays_and_those_that_prove_a_change(
    cell: Cell, worker_db: Database, shop: Site, watcher: Watcher
) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    for noise in range(1, 4):
        shop.pages["/p/1"] = item("20.00", noise=noise)
        assert await watcher.check(product_id) == "unchanged"
    shop.pages["/p/1"] = item("18.00", noise=4)
    assert await watcher.check(product_id) == "changed"
    for noise in range(5, 8):
        shop.pages["/p/1"] = item("18.00", noise=noise)
        assert await watcher.check(product_id) == "unchanged"
    await cell.pass_time(2 * HOUR)
    await purge(worker_db)
    spoken_of = await proofs(watcher, product_id)
    assert len(spoken_of) == 3, "the first price, the page before the change, and the one that has it"
    assert await digests(cell) == {*spoken_of, await newest(cell)}
    assert len(await digests(cell)) == 4


async def test_a_page_stays_the_newest_while_others_say_nothing(
    cell: Cell, worker_db: Database, shop: Site, watcher: Watcher
) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    shop.pages["/p/1"] = item("20.00", noise=1)
    await watcher.check(product_id)
    for answer in (CAPTCHA, page(b"no", status="403 Forbidden")):
        shop.pages["/p/1"] = answer
        assert await watcher.check(product_id) == "blocked"
    await cell.pass_time(2 * HOUR)
    await purge(worker_db)
    assert await newest(cell) in await digests(cell)
    job = await watcher.ended(await watcher.ask(service.try_selector, product_id, ".price"))
    assert job.result["price"] == "20.00", "of the page that was kept"


async def test_a_page_that_is_the_same_for_longer_than_history_is_kept_stays(
    cell: Cell, worker_db: Database, shop: Site, watcher: Watcher
) -> None:
    shop.pages["/p/1"] = item("20.00")
    await watcher.site(retention_days=100)
    product_id = await watcher.watch()
    for _ in range(3):
        await watcher.pass_time(60 * DAY)
        assert await watcher.check(product_id) == "unchanged"
    await cell.pass_time(95 * DAY)
    await purge(worker_db)
    assert await digests(cell) == {await newest(cell)}, "also when what the address answered is long forgotten"
    await cell.pass_time(6 * DAY)
    await purge(worker_db)
    assert await digests(cell) == set(), "nobody has looked for as long"


async def test_what_proves_a_change_goes_with_the_history_of_its_site(
    cell: Cell, worker_db: Database, shop: Site, watcher: Watcher
) -> None:
    shop.pages["/p/1"] = item("20.00")
    await watcher.site(retention_days=2)
    product_id = await watcher.watch()
    shop.pages["/p/1"] = item("18.00")
    await watcher.check(product_id)
    for n in range(3):
        await watcher.pass_time(DAY)
        shop.pages["/p/1"] = item("18.00", noise=n)
        await watcher.check(product_id)
    await watcher.pass_time(2 * HOUR)
    await purge(worker_db)
    assert await digests(cell) == {await newest(cell)}


async def purge(db: Database) -> None:
    await db.value("purge_fetch_cache")
    await maintenance.purge(db, history_days=90, result_days=7)


async def digests(cell: Cell) -> set[str]:
    found = await cell.look("select encode(sha256, 'hex') as digest from leasehold.body where not named")
    return {row["digest"] for row in found}


async def newest(cell: Cell) -> str:
    [row] = await cell.look("select body from leasehold_monitors.product")
    return str(row["body"])


async def proofs(watcher: Watcher, product_id: UUID) -> set[str]:
    """The pages that people and programs are told of."""
    [event] = await watcher.events("price_changed")
    told: Any = event["data"] if isinstance(event["data"], dict) else json.loads(event["data"])
    seen = await watcher.ask(service.list_observations, product_id)
    return {*told["evidence"].values(), *(known(row.body) for row in seen)}
