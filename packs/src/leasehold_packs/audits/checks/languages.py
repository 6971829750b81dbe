"""What the page says of its translations. Whether they say so too is a relation between pages."""

import re
from collections.abc import Iterator

from leasehold_packs.audits.checks.evidence import Evidence, some
from leasehold_packs.audits.crawled_page import CrawledPage
from leasehold_packs.webfacts.language import is_language

_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)


def hreflang_invalid(crawled: CrawledPage) -> Iterator[Evidence]:
    named = (one.hreflang for one in crawled.page.alternates)
    yield from some(name for name in named if name.lower() != "x-default" and not is_language(name))


def hreflang_relative(crawled: CrawledPage) -> Iterator[Evidence]:
    yield from some(one.href for one in crawled.page.alternates if not _ABSOLUTE.match(one.href))


def hreflang_no_self(crawled: CrawledPage) -> Iterator[Evidence]:
    own = {crawled.visit.address, crawled.page.canonical}
    if crawled.page.alternates and not any(one.url in own for one in crawled.page.alternates):
        yield {"alternates": len(crawled.page.alternates)}


def hreflang_no_default(crawled: CrawledPage) -> Iterator[Evidence]:
    names = {one.hreflang.lower() for one in crawled.page.alternates}
    if names and "x-default" not in names:
        yield {"languages": sorted(names)[:20]}


CHECKS = (hreflang_invalid, hreflang_relative, hreflang_no_self, hreflang_no_default)
