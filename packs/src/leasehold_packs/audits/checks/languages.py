"""What the page says of its translations. Whether they say so too is a relation between pages."""

import re
from collections.abc import Iterator
from typing import Any

from leasehold_packs.audits.checks.evidence import some
from leasehold_packs.audits.crawled_page import Seen
from leasehold_packs.webfacts.language import is_language

_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)


def hreflang_invalid(seen: Seen) -> Iterator[dict[str, Any]]:
    named = (one.hreflang for one in seen.page.alternates)
    yield from some(name for name in named if name.lower() != "x-default" and not is_language(name))


def hreflang_relative(seen: Seen) -> Iterator[dict[str, Any]]:
    yield from some(one.href for one in seen.page.alternates if not _ABSOLUTE.match(one.href))


def hreflang_no_self(seen: Seen) -> Iterator[dict[str, Any]]:
    own = {seen.visit.address, seen.page.canonical}
    if seen.page.alternates and not any(one.url in own for one in seen.page.alternates):
        yield {"alternates": len(seen.page.alternates)}


def hreflang_no_default(seen: Seen) -> Iterator[dict[str, Any]]:
    names = {one.hreflang.lower() for one in seen.page.alternates}
    if names and "x-default" not in names:
        yield {"languages": sorted(names)[:20]}


CHECKS = (hreflang_invalid, hreflang_relative, hreflang_no_self, hreflang_no_default)
