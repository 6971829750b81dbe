"""Whether search engines may list the page, and under which address."""

import re
from collections.abc import Iterator

from leasehold_packs.audits.checks.evidence import Evidence, some
from leasehold_packs.audits.crawled_page import CrawledPage

_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)


def noindex(crawled: CrawledPage) -> Iterator[Evidence]:
    if not crawled.page.robots.index:
        yield {"directives": sorted(crawled.page.robots.directives)}
    elif crawled.page.hidden_from:
        yield {"directives": ["noindex"], "for": list(crawled.page.hidden_from)}


def canonical_missing(crawled: CrawledPage) -> Iterator[Evidence]:
    if not crawled.page.canonicals and not crawled.canonical_in_header:
        yield {}


def canonical_relative(crawled: CrawledPage) -> Iterator[Evidence]:
    yield from some(href for href in crawled.page.canonicals if not _ABSOLUTE.match(href))


def canonical_multiple(crawled: CrawledPage) -> Iterator[Evidence]:
    if len(set(crawled.page.canonicals)) > 1:
        yield from some(crawled.page.canonicals)


def canonical_conflict(crawled: CrawledPage) -> Iterator[Evidence]:
    in_header = crawled.canonical_in_header
    if in_header and crawled.page.canonical and in_header != crawled.page.canonical:
        yield {"header": in_header, "page": crawled.page.canonical}


CHECKS = (noindex, canonical_missing, canonical_relative, canonical_multiple, canonical_conflict)
