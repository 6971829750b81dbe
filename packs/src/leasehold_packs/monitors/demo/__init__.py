"""The demo: a made-up shop on this machine, whose products are found, approved, and watched from day to day."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import UUID

from leasehold import Access
from leasehold_packs.monitors import service, site_setup
from leasehold_packs.monitors.demo.server import serving
from leasehold_packs.monitors.demo.shop import Shop
from leasehold_packs.monitors.feeds import words
from leasehold_packs.monitors.model import Search, Settings
from leasehold_packs.monitors.model_results import CrawlRun

_POLL_SECONDS = 0.2
T = TypeVar("T")


async def run(access: Access, *, days: int, items: int, port: int, tell: Callable[[str], None]) -> None:
    """Watch the shop for so many days, which are as long as a crawl."""
    day = 0
    async with serving(Shop(items=items), port=port, day=lambda: day):
        site_id = await _site(access, f"http://127.0.0.1:{port}/")
        tell(f"a shop at http://127.0.0.1:{port}/: {await _approve(access, site_id)} new products were found")
        for day in range(days):
            ended = await _crawl(access, site_id)
            counts = ended.counts["results"] if ended.counts else {}
            results = ", ".join(f"{n} {name}" for name, n in counts.items())
            tell(f"day {day}: {results or 'nothing to check'}")
            async with access.transaction() as tx:
                changes = await service.list_changes(tx, site_id=site_id, since=ended.started_at, told=True)
            for change in reversed(changes):
                tell(f"  {change.name}: {words(change.before)} → {words(change.after)}")


async def _site(access: Access, url: str) -> UUID:
    async with access.transaction() as tx:
        site = await service.put_site(tx, access.tenant_id, url, Settings(spread_minutes=0, requests_per_minute=600))
    await site_setup.arrange(access, site)
    return site.site_id


async def _approve(access: Access, site_id: UUID) -> int:
    """Look for products, and watch whatever looks like one; how many are new."""
    async with access.transaction() as tx:
        search_id = await service.search(tx, access.tenant_id, site_id, Search())

    async def ended() -> bool:
        async with access.transaction() as tx:
            searches = await service.list_searches(tx, site_id)
        return any(one.search_id == search_id and one.finished_at for one in searches)

    await _until(ended)
    async with access.transaction() as tx:
        return await service.decide(tx, access.tenant_id, site_id, approve=True, by=access.actor)


async def _crawl(access: Access, site_id: UUID) -> CrawlRun:
    """Check all products once; one that is under way already is the one."""
    async with access.transaction() as tx:
        before = {one.run_id for one in await service.list_runs(tx, site_id) if one.finished_at}
        await service.crawl(tx, site_id)

    async def ended() -> CrawlRun | None:
        async with access.transaction() as tx:
            runs = await service.list_runs(tx, site_id)
        return next((one for one in runs if one.run_id not in before and one.finished_at), None)

    return await _until(ended)


async def _until(look: Callable[[], Awaitable[T | None]]) -> T:
    while True:
        if found := await look():
            return found
        await asyncio.sleep(_POLL_SECONDS)
