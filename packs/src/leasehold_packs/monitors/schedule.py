"""When the products of a site are checked: spread over a while, and not in its quiet hours."""

from datetime import datetime, time, timedelta
from hashlib import sha256
from uuid import UUID
from zoneinfo import ZoneInfo

from leasehold_packs.monitors.model import Settings


def moment_of(product: UUID, start: datetime, settings: Settings) -> datetime:
    """When it is this product's turn: the same place in the span each time, so that days are a day apart."""
    place = int.from_bytes(sha256(product.bytes).digest()[:8]) / 2**64
    return after_quiet(start + place * timedelta(minutes=settings.spread_minutes), settings)


def after_quiet(moment: datetime, settings: Settings) -> datetime:
    """The moment, or the end of the quiet hours that it falls into, by the clock of the site's zone."""
    if settings.quiet is None:
        return moment
    begins, ends = (time.fromisoformat(part) for part in settings.quiet.split("-"))
    zone = ZoneInfo(settings.zone)
    local = moment.astimezone(zone)
    now = local.time()
    is_quiet = begins <= now < ends if begins <= ends else now >= begins or now < ends
    if not is_quiet:
        return moment
    day = local.date() + timedelta(days=1 if now >= ends else 0)
    return datetime.combine(day, ends, tzinfo=zone).astimezone(moment.tzinfo)
