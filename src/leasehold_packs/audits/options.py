"""What an audit is asked to do, and when two requests are the same."""

import re
from fnmatch import translate
from functools import cache
from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import urlsplit

import rfc8785
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from leasehold_packs.audits.recipe import VERSION

Pattern = Annotated[str, Field(min_length=1, max_length=200)]


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Options:
    """The limits of a crawl. Patterns are of whole paths, with ``*`` and ``?``; a page must fit one of ``include``."""

    max_pages: Annotated[int, Field(ge=1, le=100_000)] = 1000
    max_depth: Annotated[int, Field(ge=0, le=100)] = 20
    max_minutes: Annotated[int, Field(ge=1, le=10_080)] = 240
    max_megabytes: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    max_external: Annotated[int, Field(ge=0, le=100_000)] = 0  # pages of other sites that are asked for: is it there?
    include: Annotated[list[Pattern], Field(max_length=50)] = Field(default_factory=list)
    exclude: Annotated[list[Pattern], Field(max_length=50)] = Field(default_factory=list)
    subdomains: bool = False
    sitemaps: bool = True
    only: Annotated[list[str], Field(max_length=1000)] = Field(
        default_factory=list
    )  # just these, and no links of theirs
    sitemap: Annotated[str, Field(min_length=8, max_length=2000)] | None = None  # the same for what this one names
    secret: Annotated[str, Field(min_length=1, max_length=200)] | None = (
        None  # the name of a secret user:password, for staging sites
    )

    @property
    def is_listed(self) -> bool:
        """Whether pages were named, and their links are not followed."""
        return bool(self.only or self.sitemap)

    def spent(self, *, seconds: float, size: int) -> str | None:
        """Which limit a run has reached, in words."""
        if seconds > self.max_minutes * 60:
            return f"the {self.max_minutes} minutes of the audit are over"
        if self.max_megabytes and size > self.max_megabytes * 1_000_000:
            return f"the {self.max_megabytes} megabytes of the audit are used up"
        return None

    def covers(self, url: str, root: str) -> bool:
        """Whether a page belongs to the audit."""
        path = urlsplit(url).path or "/"
        return (
            self.is_inside(url, root)
            and (not self.include or any(_pattern(one).match(path) for one in self.include))
            and not any(_pattern(one).match(path) for one in self.exclude)
        )

    def is_inside(self, url: str, root: str) -> bool:
        """Whether a page belongs to the site, whatever the patterns say."""
        here, there = urlsplit(root), urlsplit(url)
        return there.scheme in ("http", "https") and (
            there.netloc == here.netloc or (self.subdomains and (there.hostname or "").endswith(f".{here.hostname}"))
        )


def fingerprint(url_key: str, options: dict[str, Any]) -> str:
    """The same for the same site, options and recipe, however they were written."""
    return sha256(rfc8785.dumps({"url": url_key, "options": options, "recipe": VERSION})).hexdigest()


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))
