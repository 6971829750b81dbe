"""What an audit is asked to do, and when two requests are the same."""

import re
from collections.abc import Mapping
from fnmatch import translate
from functools import cache, lru_cache
from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import urlsplit

import ada_url
import rfc8785
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from leasehold_packs.audits.recipe import VERSION

_ORIGIN = re.compile(r"https?://[^/?#]*", re.IGNORECASE)
Pattern = Annotated[str, Field(min_length=1, max_length=200)]


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Options:
    """The limits of a crawl. Patterns are of whole paths, with ``*`` and ``?``; a page must fit one of ``include``."""

    max_pages: Annotated[int, Field(ge=1, le=100_000)] = 1000
    max_depth: Annotated[int, Field(ge=0, le=100)] = 20
    max_minutes: Annotated[int, Field(ge=1, le=10_080)] = 240
    max_megabytes: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    max_external: Annotated[int, Field(ge=0, le=100_000)] = 0  # pages of other sites that are asked for: is it there?
    max_images: Annotated[int, Field(ge=0, le=100_000)] = 0  # images that are asked for: how large are they?
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
    render: bool = False  # let a browser run the scripts of pages

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
        here, there = _place(root), _place(url)
        return (
            there is not None
            and here is not None
            and (there == here or (self.subdomains and there[0].endswith(f".{here[0]}")))
        )


def fingerprint(url_key: str, options: Mapping[str, Any]) -> str:
    """The same for the same site, options and recipe, however they were written."""
    return sha256(rfc8785.dumps({"url": url_key, "options": dict(options), "recipe": VERSION})).hexdigest()


def _place(url: str) -> tuple[str, str] | None:
    """The host and the port, in one spelling; None for what is no http(s) URL."""
    origin = _ORIGIN.match(url)
    return _place_of(origin[0]) if origin else None


@lru_cache(maxsize=1000)
def _place_of(origin: str) -> tuple[str, str] | None:
    try:
        parsed = ada_url.URL(origin)
    except ValueError:
        return None
    return parsed.hostname, parsed.port


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))
