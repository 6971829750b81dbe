"""Whether search engines may list the page, and under which address."""

import re
from collections.abc import Iterator
from typing import Any

from leasehold_packs.audits.checks.evidence import some
from leasehold_packs.audits.crawled_page import Seen

_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)


def noindex(seen: Seen) -> Iterator[dict[str, Any]]:
    if not seen.page.robots.index:
        yield {"directives": sorted(seen.page.robots.directives)}
    elif seen.page.hidden_from:
        yield {"directives": ["noindex"], "for": list(seen.page.hidden_from)}


def canonical_missing(seen: Seen) -> Iterator[dict[str, Any]]:
    if not seen.page.canonicals and not seen.canonical_in_header:
        yield {}


def canonical_relative(seen: Seen) -> Iterator[dict[str, Any]]:
    yield from some(href for href in seen.page.canonicals if not _ABSOLUTE.match(href))


def canonical_multiple(seen: Seen) -> Iterator[dict[str, Any]]:
    if len(set(seen.page.canonicals)) > 1:
        yield from some(seen.page.canonicals)


def canonical_conflict(seen: Seen) -> Iterator[dict[str, Any]]:
    in_header = seen.canonical_in_header
    if in_header and seen.page.canonical and in_header != seen.page.canonical:
        yield {"header": in_header, "page": seen.page.canonical}


CHECKS = (noindex, canonical_missing, canonical_relative, canonical_multiple, canonical_conflict)
