"""One page as a crawl met it: what was asked, what came back, what stands in it."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

from leasehold_packs.webfacts.page import Page, read_page, resolve
from leasehold_packs.webfacts.structured import Structured, read_structured
from leasehold_packs.webfacts.url_key import plain_url

_HTML = ("text/html", "application/xhtml+xml")
_CANONICAL = re.compile(r"<([^>]*)>\s*;[^,]*\brel\s*=\s*\"?canonical\"?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What a fetch brought: an answer, or ``problem`` where there was none. Names of headers are in lower case."""

    url: str
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    hops: tuple[tuple[str, int], ...] = ()  # redirects on the way: URL and status
    final_url: str | None = None
    first_byte_ms: float = 0.0
    size: int = 0
    problem: str | None = None
    is_rendered: bool = False  # by a browser, which then writes UTF-8
    is_cut: bool = False  # at the limit of bytes

    def header(self, name: str) -> str | None:
        return ", ".join(value for given, value in self.headers if given == name) or None

    @property
    def media_type(self) -> str:
        return (self.header("content-type") or "").partition(";")[0].strip().lower()

    @property
    def address(self) -> str:
        """Where the answer came from, redirects followed."""
        return self.final_url or self.url

    @property
    def is_secure(self) -> bool:
        return self.address.startswith("https:")


@dataclass(frozen=True, kw_only=True)
class CrawledPage:
    """A visit, and its page if it is one. What is read out of it is read once, when a check asks."""

    visit: Visit
    text: str = field(default="", repr=False)
    agent: str = ""

    @property
    def is_page(self) -> bool:
        """Whether there is HTML to judge: what a server calls otherwise is left to wrong_media_type."""
        return self.visit.status == 200 and self.visit.media_type in _HTML

    @cached_property
    def page(self) -> Page:
        tags = [value for name, value in self.visit.headers if name == "x-robots-tag"]
        return read_page(self.text, url=self.visit.address, agent=self.agent, x_robots_tag=tags)

    @cached_property
    def canonical_in_header(self) -> str | None:
        found = _CANONICAL.search(self.visit.header("link") or "")
        return resolve(found[1], self.visit.address) if found else None

    @property
    def canonical(self) -> str | None:
        """The address that the page says counts instead of its own; that may be its own."""
        return self.page.canonical or self.canonical_in_header

    @cached_property
    def standing(self) -> str:
        """For which checks it counts: "listed" if search engines list it under its own address, else "indexable" if
        they may read it, else only "all".
        """
        if not self.page.may_be_listed:
            return "all"
        own = plain_url(self.canonical) in (None, plain_url(self.visit.address))
        return "listed" if own else "indexable"

    @cached_property
    def structured(self) -> Structured:
        return read_structured(self.text, url=self.visit.address)

    @cached_property
    def host(self) -> str:
        return urlsplit(self.visit.address).hostname or ""

    def is_internal(self, url: str) -> bool:
        return urlsplit(url).hostname == self.host
