"""``python -m tests.dashboard.screenshots``: pictures for the documentation, of what `leasehold demo` does.

The tenant is the demo's, its jobs are done by a worker of this process, and what packs show was asked through their
pages, of servers on loopback. Two things take longer in life than here and are told as if they had: the hour before
(the charts), and the days over which a price was seen (its line).

    python -m tests.dashboard.screenshots [--every FOLDER] [--only NAME]

``--every`` makes all pictures in both colours and both widths there: to look at, not to keep.
"""

import argparse
import asyncio
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from uuid import UUID

from playwright.async_api import Browser, async_playwright

from leasehold.dashboard import app
from leasehold.database import migrate
from leasehold.database.database import Role
from leasehold.engine import tenants
from leasehold.features.demo import sample_data
from leasehold.features.flows.store import Flows
from leasehold.features.jobs import store as look
from leasehold.http.server import serving
from leasehold.plugins.discovery import assembled, discover, files_of_all
from tests.cell import Cell, apart
from tests.dashboard.conftest import CHROMIUM, FLAGS
from tests.dashboard.pack_world import fill_packs
from tests.dashboard.world import World, history
from tests.features.people.signed_in import invite, signed_in
from tests.http.conftest import SECRET_KEY, settings_of
from tests.waiting import PATIENCE_SECONDS, eventually
from tests.worker.running import FAST, running

FOLDER = Path(__file__).parents[2] / "docs" / "screenshots"
SIZES = {"wide": {"width": 1280, "height": 820}, "narrow": {"width": 390, "height": 820}}
KINDS = [("demo.charge", 12, 3, 400), ("demo.mail", 24, 0, 200), ("demo.refund", 3, 1, 310), ("demo.feed", 1, 0, 9000)]
_PRICES = ("19.00", "21.50", "18.90", "19.50", "17.00")
_MOST_BYTES = 200_000
_ALL = ("light-wide", "dark-wide", "light-narrow", "dark-narrow")


def pictures(made: dict[str, UUID]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Names, addresses, and the looks that are kept."""
    light, dark, narrow = ("light-wide",), ("dark-wide",), ("light-narrow",)
    return {
        "overview": ("/", ("light-wide", "dark-wide", "light-narrow")),
        "jobs": ("/jobs", ("light-wide", "dark-narrow")),
        "job": (f"/jobs/{made['dead']}", ("light-wide", "light-narrow")),
        "running": (f"/jobs/{made['running']}", dark),
        "failures": ("/failures", light),
        "flows": ("/flows", dark),
        "flow": (f"/flows/{made['flow']}", ("light-wide", "dark-narrow")),
        "approvals": ("/approvals", light),
        "gates": ("/gates", ("light-wide", "dark-narrow")),
        "schedules": ("/schedules", dark),
        "schedule": ("/schedules/nightly-report", light),
        "schedule-edit": ("/schedules/nightly-report/edit", light),
        "zone": ("/zone", narrow),
        "endpoints": ("/webhooks", dark),
        "webhooks": (f"/webhooks/{made['endpoint']}", light),
        "delivery": (f"/deliveries/{made['delivery']}", light),
        "queues": ("/queues", light),
        "workers": ("/workers", dark),
        "tenants": ("/tenants", dark),
        "tenant": ("/tenants/demo", light),
        "keys": ("/keys", light),
        "audit": ("/audit", dark),
        "copy": (f"/jobs/{made['dead']}/copy", light),
        "confirm": (f"/jobs/{made['dead']}/confirm/retry", light),
        "monitors": ("/monitors", ("light-wide", "dark-narrow")),
        "monitors-product": (f"/monitors/products/{made['product']}", ("light-wide", "dark-wide")),
        "monitors-site": (f"/monitors/sites/{made['site']}", light),
        "monitors-products": ("/monitors/products", narrow),
        "monitors-changes": ("/monitors/changes", dark),
        "monitors-approvals": ("/monitors/approvals", light),
        "monitors-groups": ("/monitors/groups", dark),
        "monitors-group": (f"/monitors/groups/{made['group']}", light),
        "monitors-rules": ("/monitors/rules", light),
        "postings": ("/postings?q=kuberntes", ("light-wide", "dark-narrow")),
        "postings-one": (f"/postings/{made['posting']}", ("light-wide", "dark-wide")),
        "postings-sources": ("/postings/sources", light),
        "postings-source": (f"/postings/sources/{made['source']}", dark),
        "postings-runs": ("/postings/runs", dark),
        "postings-run": (f"/postings/runs/{made['ended_run']}", light),
        "postings-board": ("/postings/board", ("light-wide", "light-narrow")),
        "postings-searches": ("/postings/searches", dark),
        "postings-search": (f"/postings/searches/{made['search']}", light),
        "audits": ("/audits", light),
        "audits-one": (f"/audits/{made['audit']}", light),
        "passports": ("/passports", dark),
        "passports-one": (f"/passports/{made['passport']}", light),
        "passports-document": (f"/passports/documents/{made['passport_document']}", light),
        "passports-issuer": ("/passports/issuer", dark),
    }


@asynccontextmanager
async def demo(cell: Cell) -> AsyncIterator[World]:
    """The demo, at work, with packs."""
    packs = discover()
    await migrate.migrate(cell.cluster.url(cell.name), packs=files_of_all(packs))
    await invite(cell, None, "olga@leasehold.example")
    olga, _ = await signed_in(cell, "olga@leasehold.example")
    async with sample_data.receiver() as receiver:
        settings = settings_of(cell, ip_requests=1_000_000, port=0, host="127.0.0.1")
        settings = sample_data.allowing(settings, receiver)
        async with serving(settings, packs=packs, mount=app.mount) as url:
            async with cell.database(Role.OPERATOR, connections=1) as db:
                tenant = await tenants.create_tenant(db, sample_data.TENANT)
            here = World(
                cell=cell,
                url=url,
                acme=tenant,
                globex=tenant,
                made={},
                tokens={},
                cookie=f"leasehold_session_{url.rpartition(':')[2]}",
                sessions={"operator": olga.text},
            )
            here.made.update(await fill_packs(here, sample_data.TENANT, postings=60, prices=_PRICES, unfinished=False))
            await spread_prices(cell)
            working = replace(FAST, fetch_allow=settings.fetch_allow, secret_keys=SECRET_KEY)
            async with (
                running(cell, assembled(packs, settings=working), working),
                sample_data.shop(settings, receiver) as shop,
            ):
                going = asyncio.create_task(shop.go_on())
                await history(cell, [tenant], KINDS)
                here.made.update(await found_by(cell, tenant))
                yield here
                going.cancel()


async def found_by(cell: Cell, tenant: UUID) -> dict[str, UUID]:
    """Examples among what the demo has done so far, once there are some of each."""
    made: dict[str, UUID] = {}

    async def enough() -> bool:
        async with cell.database(Role.OPERATOR, connections=1) as db:
            for state, kind in (("dead", "demo.charge"), ("running", "demo.feed")):
                found = await look.find_jobs(db, tenant, {"state": state, "kind": kind}, limit=1)
                made.update((state, job_id) for job_id in found.jobs)
        async with cell.database(Role.API, connections=1) as db:
            made.update(("flow", one.flow_id) for one in await Flows(db, tenant, lambda: None).approvals())
        for name in ("endpoint", "delivery"):
            rows = await cell.look(f"select {name}_id as id from leasehold.{name} limit 1")
            made.update((name, UUID(row["id"])) for row in rows)
        return {"dead", "running", "flow", "endpoint", "delivery"} <= made.keys()

    await eventually(enough, what="something of everything", seconds=180)
    return made


async def spread_prices(cell: Cell) -> None:
    """As if what was seen one after the other had been seen in the course of three weeks."""
    await cell.change(
        "update leasehold_monitors.observation o set at = o.at - make_interval(days => (21 * s.n / s.all_of)::integer)"
        " from (select offer_id, at, row_number() over (partition by offer_id order by at desc) - 1 as n,"
        "  count(*) over (partition by offer_id) as all_of from leasehold_monitors.observation) s"
        " where s.offer_id = o.offer_id and s.at = o.at"
    )


async def take(browser: Browser, made: World, path: str, seen: str, file: Path) -> None:
    scheme, width = seen.split("-")
    context = await browser.new_context(
        base_url=made.url,
        color_scheme="dark" if scheme == "dark" else "light",
        viewport=SIZES[width],  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    await context.add_cookies([{"name": made.cookie, "value": made.sessions["operator"], "url": made.url}])
    context.set_default_timeout(PATIENCE_SECONDS * 1000)
    page = await context.new_page()
    whole = path.startswith(("/queues", "/workers", "/tenants", "/zone"))
    await page.goto(path if whole else f"{path}{'&' if '?' in path else '?'}tenant={sample_data.TENANT}")
    if await page.locator("#live").count():
        await page.locator("#live.on").wait_for()
    await page.screenshot(path=file)
    size = len(await asyncio.to_thread(file.read_bytes))
    print(f"{file.name} {size // 1000} kB", flush=True)
    assert size <= _MOST_BYTES
    await context.close()


async def main(every: Path | None, only: str) -> None:
    folder = every or FOLDER
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    async with apart() as cell, demo(cell) as made, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name, (path, looks) in pictures(made.made).items():
            for seen in _ALL if every else looks:
                if name.startswith(only):
                    await take(browser, made, path, seen, folder / f"{name}-{seen}.png")
        await browser.close()


if __name__ == "__main__":
    if CHROMIUM is None or not shutil.which(CHROMIUM):
        sys.exit("there is no chromium: apt-get install chromium, or set CHROMIUM to where it is")
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=Path)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    asyncio.run(main(given.every, given.only))
