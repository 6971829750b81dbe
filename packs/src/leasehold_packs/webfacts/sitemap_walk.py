"""What a site's sitemaps name, for packs that walk sites."""

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from leasehold import Context
from leasehold.errors import FetchError
from leasehold_packs.webfacts.sitemap import Entry, Kind, read_sitemap

_SITEMAP = re.compile(r"^[ \t]*+sitemap[ \t]*+:[ \t]*+(\S+)", re.IGNORECASE | re.MULTILINE)
_MOST_SITEMAPS = 50
#: Answers of a site in trouble: with any other, there is none.
_PASSING = (408, 421, 425, 429)


@dataclass(frozen=True, slots=True)
class Listed:
    """The pages that sitemaps name, and the addresses of those files that could not be read."""

    pages: list[Entry] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


async def sitemap_pages(
    ctx: Context,
    origin: str,
    *,
    agent: str,
    enough: int,
    given: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Listed:
    """Pages of the sitemap that is given, or of those of robots.txt.

    ``headers`` go to the origin alone.
    """
    listed = Listed()
    robots = b"" if given else await _read(ctx, f"{origin}/robots.txt", agent, headers, listed)
    waiting = deque([given] if given else named_in(robots.decode("utf-8", "replace")) or [f"{origin}/sitemap.xml"])
    seen: set[str] = set()
    while waiting and len(seen) < _MOST_SITEMAPS and len(listed.pages) < enough:
        address = waiting.popleft()
        if address in seen:
            continue
        seen.add(address)
        own = headers if address.startswith(f"{origin}/") else None
        body = await _read(ctx, address, agent, own, listed)
        entries, problem = read_sitemap(body, base=address)
        if problem and entries:
            await ctx.log.warning(f"{address}: {problem}")
            listed.unread.append(address)
        waiting += [entry.url for entry in entries if entry.kind is Kind.INDEX]
        listed.pages.extend(entry for entry in entries if entry.kind is Kind.PAGES)
    return listed


def named_in(robots: str) -> list[str]:
    """The sitemaps that a robots.txt names."""
    return _SITEMAP.findall(robots)


async def _read(ctx: Context, url: str, agent: str, headers: Mapping[str, str] | None, listed: Listed) -> bytes:
    try:
        fetched = await ctx.fetch(url, agent=agent, headers=dict(headers or {}))
    except FetchError as problem:
        if problem.transient and ctx.attempt < ctx.max_attempts:
            raise
        listed.unread.append(url)
        return b""
    if fetched.status == 200:
        return fetched.body
    if fetched.status >= 500 or fetched.status in _PASSING:
        listed.unread.append(url)
    return b""
