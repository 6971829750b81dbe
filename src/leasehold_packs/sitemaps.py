"""What a site's sitemaps name, for packs that walk sites."""

import re
from collections import deque
from collections.abc import Mapping

from leasehold import Context
from leasehold.errors import FetchError
from leasehold_packs.webfacts.sitemap import Entry, Kind, read_sitemap

_SITEMAP = re.compile(r"^[ \t]*+sitemap[ \t]*+:[ \t]*+(\S+)", re.IGNORECASE | re.MULTILINE)
_MOST_SITEMAPS = 50


async def sitemap_pages(
    ctx: Context,
    origin: str,
    *,
    agent: str,
    enough: int,
    given: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> list[Entry]:
    """Pages of the sitemap that is given, or of those of robots.txt. One that cannot be read is said in the log.

    ``headers`` go to the origin alone.
    """
    robots = "" if given else (await _read(ctx, f"{origin}/robots.txt", agent, headers)).decode("utf-8", "replace")
    waiting = deque([given] if given else named_in(robots) or [f"{origin}/sitemap.xml"])
    pages: list[Entry] = []
    seen: set[str] = set()
    while waiting and len(seen) < _MOST_SITEMAPS and len(pages) < enough:
        address = waiting.popleft()
        if address in seen:
            continue
        seen.add(address)
        entries, problem = read_sitemap(
            await _read(ctx, address, agent, headers if address.startswith(f"{origin}/") else None), base=address
        )
        if problem and entries:
            await ctx.log.warning(f"{address}: {problem}")
        waiting += [entry.url for entry in entries if entry.kind is Kind.INDEX]
        pages += [entry for entry in entries if entry.kind is Kind.PAGES]
    return pages


def named_in(robots: str) -> list[str]:
    """The sitemaps that a robots.txt names."""
    return _SITEMAP.findall(robots)


async def _read(ctx: Context, url: str, agent: str, headers: Mapping[str, str] | None) -> bytes:
    try:
        fetched = await ctx.fetch(url, agent=agent, headers=dict(headers or {}))
    except FetchError as problem:
        if problem.transient and ctx.attempt < ctx.max_attempts:
            raise
        return b""
    return fetched.body if fetched.status == 200 else b""
