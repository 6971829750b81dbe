"""Questions that a crawl has beside its pages: is it there, how large is it, and what does the whole site answer?"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict
from urllib.parse import urlsplit

from leasehold import Context, Fetched
from leasehold.errors import FetchDisallowed, FetchError
from leasehold_packs.audits.crawl import AGENT

#: Bytes that are fetched of what is not read.
_BYTES = 10_000
#: An image is large above this.
LARGE_IMAGE = 500_000


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Its status and size, or why there is none; nothing at all if it is not ours to know."""

    status: int | None = None
    problem: str | None = None
    size: int | None = None


class InsecureAnswer(TypedDict):
    url: str
    status: int


class SiteAnswer(TypedDict, total=False):
    """What the site as a whole answers, as its run keeps it."""

    favicon: bool
    asked_insecure: bool
    insecure: InsecureAnswer
    unread_sitemaps: list[str]


async def probe(ctx: Context, url: str, *, since: datetime, is_image: bool = False) -> ProbeResult:
    """Ask politely whether something is there; of an image also how many bytes it has."""
    try:
        with suppress(FetchError):  # some servers answer HEAD with nonsense: then GET says more
            head = await _fetch(ctx, url, since=since, method="HEAD")
            size = _length(head)
            if head.status < 400 and (size is not None or not is_image):
                return ProbeResult(status=head.status, size=size)
        answer = await _fetch(ctx, url, since=since, max_bytes=LARGE_IMAGE + 1 if is_image else _BYTES)
        return ProbeResult(status=answer.status, size=len(answer.body))
    except FetchDisallowed:
        return ProbeResult()
    except FetchError as problem:
        if problem.transient and ctx.attempt < ctx.max_attempts:
            raise
        return ProbeResult(problem=str(problem))


async def probe_site(ctx: Context, root: str, *, since: datetime, headers: dict[str, str]) -> SiteAnswer:
    """Whether it has an icon, and whether it is there without TLS, too. What is not answered is not known."""
    parts = urlsplit(root)
    answer: SiteAnswer = {}
    with suppress(FetchError):
        icon = await _fetch(ctx, f"{parts.scheme}://{parts.netloc}/favicon.ico", since=since, headers=headers)
        answer["favicon"] = icon.status < 400
    if parts.scheme == "https" and parts.port in (None, 443):
        with suppress(FetchError):
            plain = await _fetch(ctx, f"http://{parts.hostname}/", since=since)  # without headers: anybody could read
            answer["asked_insecure"] = True
            if plain.url.startswith("http:") and plain.status < 400:
                answer["insecure"] = {"url": plain.url, "status": plain.status}
    return answer


async def _fetch(
    ctx: Context,
    url: str,
    *,
    since: datetime,
    method: str = "GET",
    max_bytes: int = _BYTES,
    headers: dict[str, str] | None = None,
) -> Fetched:
    return await ctx.fetch(
        url,
        method=method,
        polite=True,
        rules_since=since,
        agent=AGENT,
        headers=headers or {},
        max_bytes=max_bytes,
        truncate=True,
    )


def _length(answer: Fetched) -> int | None:
    given = answer.header("content-length") or ""
    return int(given) if given.isdecimal() and len(given) < 16 else None
