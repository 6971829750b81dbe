"""``python -m tests.dashboard.screenshots``: pictures for the documentation, of a server with living data."""

import asyncio
import shutil
import sys
from pathlib import Path

from playwright.async_api import async_playwright

from tests.cell import apart
from tests.dashboard.conftest import CHROMIUM, FLAGS
from tests.dashboard.world import World, world
from tests.waiting import PATIENCE_SECONDS

FOLDER = Path(__file__).parents[2] / "docs" / "screenshots"
WIDE, NARROW = {"width": 1280, "height": 820}, {"width": 390, "height": 820}
_MOST_BYTES = 200_000


def pictures(made: World) -> dict[str, str]:
    """Names, which say the look, and addresses."""
    dead, running = (f"/jobs/{made.made[name]}" for name in ("dead", "running"))
    return {
        "overview-light-wide": "/",
        "overview-dark-wide": "/",
        "overview-light-narrow": "/",
        "jobs-light-wide": "/jobs",
        "jobs-dark-narrow": "/jobs",
        "job-light-wide": dead,
        "job-dark-wide": running,
        "job-light-narrow": f"/jobs/{made.made['queued']}",
        "failures-light-wide": "/failures",
        "schedules-dark-wide": "/schedules?tenant=acme",
        "webhooks-light-wide": f"/webhooks/{made.made['endpoint']}?tenant=acme",
        "workers-dark-wide": "/workers",
        "flows-dark-wide": "/flows",
        "flow-light-wide": f"/flows/{made.made['flow']}",
        "flow-dark-narrow": f"/flows/{made.made['flow_running']}",
        "approvals-light-wide": "/approvals",
        "gates-light-wide": "/gates?tenant=acme",
        "gates-dark-narrow": "/gates",
        "schedule-light-wide": "/schedules/nightly-report?tenant=acme",
        "endpoints-dark-wide": "/webhooks?tenant=acme",
        "delivery-light-wide": f"/deliveries/{made.made['delivery']}?tenant=acme",
        "queues-light-wide": "/queues",
        "tenants-dark-wide": "/tenants",
        "tenant-light-wide": "/tenants/acme",
        "keys-light-wide": "/keys?tenant=acme",
        "audit-dark-wide": "/audit",
        "copy-light-wide": f"{dead}/copy",
        "confirm-light-wide": f"/jobs/{made.made['queued']}/confirm/cancel",
    }


async def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    async with apart() as cell, world(cell) as made, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name, path in pictures(made).items():
            _, scheme, width = name.rsplit("-", 2)
            context = await browser.new_context(
                base_url=made.url,
                color_scheme="dark" if scheme == "dark" else "light",
                viewport=WIDE if width == "wide" else NARROW,  # type: ignore[arg-type]
                reduced_motion="reduce",
            )
            await context.add_cookies([{"name": made.cookie, "value": made.sessions["operator"], "url": made.url}])
            context.set_default_timeout(PATIENCE_SECONDS * 1000)
            page = await context.new_page()
            await page.goto(path)
            if await page.locator("#live").count():
                await page.locator("#live.on").wait_for()
            if name.startswith("job-light-wide"):
                await page.locator(".attempt summary").first.click()
            file = FOLDER / f"{name}.png"
            await page.screenshot(path=file)
            size = len(await asyncio.to_thread(file.read_bytes))
            print(f"{file.relative_to(FOLDER.parents[1])} {size // 1000} kB")
            assert size <= _MOST_BYTES
            await context.close()
        await browser.close()


if __name__ == "__main__":
    if CHROMIUM is None or not shutil.which(CHROMIUM):
        sys.exit("there is no chromium: apt-get install chromium, or set CHROMIUM to where it is")
    asyncio.run(main())
