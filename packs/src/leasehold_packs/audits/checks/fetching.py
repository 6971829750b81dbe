"""How the page was answered."""

import re
from collections.abc import Iterator

from leasehold_packs.audits.checks.evidence import Evidence, some
from leasehold_packs.audits.crawled_page import CrawledPage

SLOW_MS = 800
LARGE_BYTES = 2_000_000
_MARKUP = re.compile(r"\s*(?:<!doctype html|<html)", re.IGNORECASE)


#: Answers that are about us and the moment, not about the page.
PASSING = (408, 421, 425, 429)


def status_client_error(crawled: CrawledPage) -> Iterator[Evidence]:
    if 400 <= (crawled.visit.status or 0) < 500 and crawled.visit.status not in PASSING:
        yield {"status": crawled.visit.status}


def status_server_error(crawled: CrawledPage) -> Iterator[Evidence]:
    if (crawled.visit.status or 0) >= 500:
        yield {"status": crawled.visit.status}


def fetch_failed(crawled: CrawledPage) -> Iterator[Evidence]:
    if crawled.visit.status is None and not _loops(crawled):
        yield {"problem": crawled.visit.problem}


def redirect_loop(crawled: CrawledPage) -> Iterator[Evidence]:
    if _loops(crawled):
        yield {"hops": [url for url, _ in crawled.visit.hops] or [crawled.visit.url]}


def redirect_chain(crawled: CrawledPage) -> Iterator[Evidence]:
    if len(crawled.visit.hops) > 1 and not _loops(crawled):
        yield {"hops": [url for url, _ in crawled.visit.hops], "to": crawled.visit.address}


def slow_first_byte(crawled: CrawledPage) -> Iterator[Evidence]:
    if crawled.visit.first_byte_ms > SLOW_MS:
        yield {"ms": round(crawled.visit.first_byte_ms)}


def large_body(crawled: CrawledPage) -> Iterator[Evidence]:
    if crawled.visit.size > LARGE_BYTES:
        yield {"bytes": crawled.visit.size}


def page_cut(crawled: CrawledPage) -> Iterator[Evidence]:
    if crawled.visit.is_cut:
        packed = crawled.visit.header("content-encoding")
        announced = "" if packed else crawled.visit.header("content-length") or ""
        whole = int(announced) if announced.isdecimal() and len(announced) < 16 else None
        yield {"read": crawled.visit.size} | ({"bytes": whole} if whole else {})


def insecure_scheme(crawled: CrawledPage) -> Iterator[Evidence]:
    if crawled.visit.status == 200 and not crawled.visit.is_secure:
        yield {"url": crawled.visit.address}


def mixed_content(crawled: CrawledPage) -> Iterator[Evidence]:
    if crawled.is_page and crawled.visit.is_secure:
        yield from some(url for url in crawled.page.resources if url.startswith("http:"))


def wrong_media_type(crawled: CrawledPage) -> Iterator[Evidence]:
    if crawled.visit.status == 200 and not crawled.is_page and _MARKUP.match(crawled.text[:1000]):
        yield {"media_type": crawled.visit.media_type or None}


def _loops(crawled: CrawledPage) -> bool:
    urls = [url for url, _ in crawled.visit.hops]
    # A fetch that runs in a circle ends as an error, and an error has no hops.
    return len(urls) > len(set(urls)) or (crawled.visit.problem or "").endswith("redirects in a circle")


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
