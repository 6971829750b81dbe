"""What stands before the content: how to read and to show it."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from leasehold_packs.audits.checks.evidence import some
from leasehold_packs.audits.crawled_page import Seen

#: A browser looks so far for the charset before it guesses.
CHARSET_BYTES = 1024
#: A comment ends at its first end alone: else a row of them could be cut into comments in any number of ways.
_DOCTYPE = re.compile(r"\ufeff?(?:\s|<!--(?:[^-]|-(?!->))*-->|<\?xml[^>]*>)*<!doctype\s+html", re.IGNORECASE)
_CHARSET = re.compile(r"<meta[^>]{1,500}charset", re.IGNORECASE)


def viewport_missing(seen: Seen) -> Iterator[dict[str, Any]]:
    if not seen.page.viewport:
        yield {}


def charset_missing(seen: Seen) -> Iterator[dict[str, Any]]:
    if not seen.page.charset and "charset=" not in (seen.visit.header("content-type") or "").lower():
        yield {}


def charset_late(seen: Seen) -> Iterator[dict[str, Any]]:
    found = _CHARSET.search(seen.text[: 64 * CHARSET_BYTES])
    if found and (at := len(seen.text[: found.start()].encode("utf-8", "replace"))) > CHARSET_BYTES:
        yield {"byte": at}


def doctype_missing(seen: Seen) -> Iterator[dict[str, Any]]:
    if not _DOCTYPE.match(seen.text[:10_000]):
        yield {"begins": seen.text[:80].strip()}


def meta_in_body(seen: Seen) -> Iterator[dict[str, Any]]:
    yield from some(seen.page.misplaced)


def duplicate_ids(seen: Seen) -> Iterator[dict[str, Any]]:
    yield from some(name for name, times in Counter(seen.page.ids).items() if name and times > 1)


CHECKS = (viewport_missing, charset_missing, charset_late, doctype_missing, meta_in_body, duplicate_ids)
