"""What stands before the content: how to read and to show it."""

import re
from collections import Counter
from collections.abc import Iterator

from leasehold_packs.audits.checks.evidence import Evidence, some
from leasehold_packs.audits.crawled_page import CrawledPage

#: A browser looks so far for the charset before it guesses.
CHARSET_BYTES = 1024
#: A comment ends at its first end alone: else a row of them could be cut into comments in any number of ways.
_DOCTYPE = re.compile(r"\ufeff?(?:\s|<!--(?:[^-]|-(?!->))*-->|<\?xml[^>]*>)*<!doctype\s+html", re.IGNORECASE)
_CHARSET = re.compile(r"<meta[^>]{1,500}charset", re.IGNORECASE)


def viewport_missing(crawled: CrawledPage) -> Iterator[Evidence]:
    if not crawled.page.viewport:
        yield {}


def charset_missing(crawled: CrawledPage) -> Iterator[Evidence]:
    if not crawled.page.charset and "charset=" not in (crawled.visit.header("content-type") or "").lower():
        yield {}


def charset_late(crawled: CrawledPage) -> Iterator[Evidence]:
    found = _CHARSET.search(crawled.text[: 64 * CHARSET_BYTES])
    if found and (at := len(crawled.text[: found.start()].encode("utf-8", "replace"))) > CHARSET_BYTES:
        yield {"byte": at}


def doctype_missing(crawled: CrawledPage) -> Iterator[Evidence]:
    if not _DOCTYPE.match(crawled.text[:10_000]):
        yield {"begins": crawled.text[:80].strip()}


def meta_in_body(crawled: CrawledPage) -> Iterator[Evidence]:
    yield from some(crawled.page.misplaced)


def duplicate_ids(crawled: CrawledPage) -> Iterator[Evidence]:
    yield from some(name for name, times in Counter(crawled.page.ids).items() if name and times > 1)


CHECKS = (viewport_missing, charset_missing, charset_late, doctype_missing, meta_in_body, duplicate_ids)
