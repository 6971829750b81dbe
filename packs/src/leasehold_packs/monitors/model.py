"""What a site is asked to be watched like: its settings, and the limits of a search for products."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated

from pydantic import ConfigDict, Field, field_validator
from pydantic.dataclasses import dataclass

from leasehold import Timing
from leasehold.errors import BadInput

Pattern = Annotated[str, Field(min_length=1, max_length=200)]
_HOURS = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d-(?:[01]\d|2[0-3]):[0-5]\d")


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Settings:
    """How a site is watched. ``quiet`` hours, such as 22:00-06:00, and ``cron`` are those of ``zone``."""

    cron: Annotated[str, Field(max_length=200)] = "0 2 * * *"
    zone: Annotated[str, Field(max_length=100)] = "UTC"
    spread_minutes: Annotated[int, Field(ge=0, le=1440)] = 60
    quiet: str | None = None
    requests_per_minute: Annotated[int, Field(ge=1, le=600)] = 10
    threshold_percent: Annotated[float, Field(ge=0, le=100)] = 1  # smaller changes of a price are kept, not told
    doubt_percent: Annotated[float, Field(gt=0, le=1000)] = 50  # larger ones are told when they were seen twice
    confirm_minutes: Annotated[float, Field(gt=0, le=1440)] = 10
    retention_days: Annotated[int, Field(ge=1, le=3650)] = 90
    feeds: bool = True  # ask the platform for the product in JSON, too, where it has that
    currency: Annotated[str | None, Field(pattern="^[A-Z]{3}$")] = None  # of pages that do not say
    selector: Annotated[str | None, Field(max_length=500)] = None  # of the price, for all products

    @field_validator("cron")
    @classmethod
    def _is_cron(cls, line: str) -> str:
        return _told(lambda: Timing(cron=line).check(datetime.now(UTC)), line)

    @field_validator("zone")
    @classmethod
    def _is_zone(cls, name: str) -> str:
        return _told(lambda: Timing(every_s=1, zone=name).check(datetime.now(UTC)), name)

    @field_validator("quiet")
    @classmethod
    def _is_span(cls, hours: str | None) -> str | None:
        if hours is not None and not _HOURS.fullmatch(hours):
            raise ValueError("quiet hours are written as 22:00-06:00")
        return hours


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Search:
    """The limits of a search. Patterns are of whole paths, with ``*`` and ``?``."""

    max_pages: Annotated[int, Field(ge=1, le=20_000)] = 500
    max_depth: Annotated[int, Field(ge=0, le=10)] = 3
    include: Annotated[list[Pattern], Field(max_length=50)] = Field(default_factory=list)
    exclude: Annotated[list[Pattern], Field(max_length=50)] = Field(default_factory=list)
    sitemaps: bool = True
    seeds: Annotated[list[Annotated[str, Field(max_length=2000)]], Field(max_length=100)] = Field(default_factory=list)


def _told(check: Callable[[], object], value: str) -> str:
    """Pydantic wants a ValueError, people the same words."""
    try:
        check()
    except BadInput as problem:
        raise ValueError(str(problem)) from None
    return value
