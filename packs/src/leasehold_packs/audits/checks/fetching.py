"""How the page was answered."""

import re
from collections.abc import Iterator
from typing import Any

from leasehold_packs.audits.checks.evidence import some
from leasehold_packs.audits.crawled_page import Seen

SLOW_MS = 800
LARGE_BYTES = 2_000_000
_MARKUP = re.compile(r"\s*(?:<!doctype html|<html)", re.IGNORECASE)


#: Answers that are about us and the moment, not about the page.
PASSING = (408, 421, 425, 429)


def status_client_error(seen: Seen) -> Iterator[dict[str, Any]]:
    if 400 <= (seen.visit.status or 0) < 500 and seen.visit.status not in PASSING:
        yield {"status": seen.visit.status}


def status_server_error(seen: Seen) -> Iterator[dict[str, Any]]:
    if (seen.visit.status or 0) >= 500:
        yield {"status": seen.visit.status}


def fetch_failed(seen: Seen) -> Iterator[dict[str, Any]]:
    if seen.visit.status is None and not _loops(seen):
        yield {"problem": seen.visit.problem}


def redirect_loop(seen: Seen) -> Iterator[dict[str, Any]]:
    if _loops(seen):
        yield {"hops": [url for url, _ in seen.visit.hops] or [seen.visit.url]}


def redirect_chain(seen: Seen) -> Iterator[dict[str, Any]]:
    if len(seen.visit.hops) > 1 and not _loops(seen):
        yield {"hops": [url for url, _ in seen.visit.hops], "to": seen.visit.address}


def slow_first_byte(seen: Seen) -> Iterator[dict[str, Any]]:
    if seen.visit.first_byte_ms > SLOW_MS:
        yield {"ms": round(seen.visit.first_byte_ms)}


def large_body(seen: Seen) -> Iterator[dict[str, Any]]:
    if seen.visit.size > LARGE_BYTES:
        yield {"bytes": seen.visit.size}


def page_cut(seen: Seen) -> Iterator[dict[str, Any]]:
    if seen.visit.is_cut:
        packed = seen.visit.header("content-encoding")
        announced = "" if packed else seen.visit.header("content-length") or ""
        whole = int(announced) if announced.isdecimal() and len(announced) < 16 else None
        yield {"read": seen.visit.size} | ({"bytes": whole} if whole else {})


def insecure_scheme(seen: Seen) -> Iterator[dict[str, Any]]:
    if seen.visit.status == 200 and not seen.visit.is_secure:
        yield {"url": seen.visit.address}


def mixed_content(seen: Seen) -> Iterator[dict[str, Any]]:
    if seen.is_page and seen.visit.is_secure:
        yield from some(url for url in seen.page.resources if url.startswith("http:"))


def wrong_media_type(seen: Seen) -> Iterator[dict[str, Any]]:
    if seen.visit.status == 200 and not seen.is_page and _MARKUP.match(seen.text[:1000]):
        yield {"media_type": seen.visit.media_type or None}


def _loops(seen: Seen) -> bool:
    urls = [url for url, _ in seen.visit.hops]
    # A fetch that runs in a circle ends as an error, and an error has no hops.
    return len(urls) > len(set(urls)) or (seen.visit.problem or "").endswith("redirects in a circle")


CHECKS = (
    status_client_error,
    status_server_error,
    fetch_failed,
    redirect_loop,
    redirect_chain,
    slow_first_byte,
    large_body,
    page_cut,
    insecure_scheme,
    mixed_content,
    wrong_media_type,
)
