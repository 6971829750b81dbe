"""Audits by the clock: one schedule for each site, kept by the engine under the site's own name."""

from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from leasehold import Access
from leasehold.errors import NotFound
from leasehold_packs.audits.model import Options
from leasehold_packs.audits.start_run import QUEUE


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSchedule:
    schedule: str
    cron: str
    zone: str
    next_at: datetime | None


async def put(access: Access, site_id: UUID, options: Options, *, cron: str, zone: str) -> SiteSchedule:
    """Audit the site whenever the cron line says so; asking again changes the schedule that is there.

    The site is named by its id: everybody who may see schedules sees their payloads.
    """
    order = {"site_id": str(site_id), "options": asdict(options)}
    made = await access.client.schedules.put(name_of(site_id), "audits.begin", order, cron=cron, zone=zone, queue=QUEUE)
    return SiteSchedule(schedule=name_of(site_id), cron=cron, zone=zone, next_at=made.next_at)


async def remove(access: Access, site_id: UUID) -> None:
    with suppress(NotFound):
        await access.client.schedules.delete(name_of(site_id))


def name_of(site_id: UUID) -> str:
    return f"audits.site.{site_id}"
