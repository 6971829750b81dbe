"""Time zones by their IANA names."""

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from leasehold.errors import BadInput


def zone_of(name: str) -> ZoneInfo:
    """The IANA time zone of this name."""
    try:
        # Names only: a path that leads out of the zone database is no zone.
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        known = available_timezones()
        hint = "an IANA name such as Europe/Berlin or UTC" if known else "this system has no zones: pip install tzdata"
        raise BadInput(f"there is no time zone {name!r}", hint=hint) from None
