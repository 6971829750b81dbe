"""What the engine keeps for a site beside its row: the schedule of its crawls, its rate, and the tenant's housekeeping.

Each is put under a name of its own, so that asking twice changes nothing.
"""

from contextlib import suppress
from uuid import UUID

from leasehold import Access
from leasehold.errors import NotFound
from leasehold_packs.monitors.handlers import MAINTENANCE
from leasehold_packs.monitors.model_results import Site
from leasehold_packs.monitors.store import CRAWL, gate_of


async def arrange(access: Access, site: Site) -> None:
    """Bring schedule and rate to what the site's settings say."""
    client, settings = access.client, site.settings
    name = _name(site.site_id)
    # The crawl begins a little after the tick: not all sites of the world at two o'clock sharp.
    await client.schedules.put(
        name,
        "monitors.crawl",
        {"site_id": str(site.site_id), "what": "crawl"},
        cron=settings.cron,
        zone=settings.zone,
        jitter=60,
        queue=CRAWL,
    )
    if site.state == "paused":
        await client.schedules.pause(name)
    else:
        await client.schedules.resume(name)
    await client.gates.set(gate_of(site.site_id), rate=settings.requests_per_minute, per_s=60, burst=1)
    await client.schedules.put("monitors.health", "monitors.health", every=3600, jitter=600, queue=MAINTENANCE)
    await client.schedules.put("monitors.upkeep", "monitors.upkeep", cron="20 0 * * *", jitter=600, queue=MAINTENANCE)


async def clear(access: Access, site_id: UUID) -> None:
    """A site was removed."""
    with suppress(NotFound):
        await access.client.schedules.delete(_name(site_id))
    await access.client.gates.remove(gate_of(site_id))


def _name(site_id: UUID) -> str:
    return f"monitors.site.{site_id}"
