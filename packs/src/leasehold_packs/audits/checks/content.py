"""What the page says: titles, descriptions, headings, words."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from leasehold_packs.audits.checks.evidence import some
from leasehold_packs.audits.crawled_page import Seen
from leasehold_packs.webfacts.language import is_language, recognised, spoken

TITLE = (20, 60)
DESCRIPTION = (80, 160)
FEWEST_WORDS = 200


def title_missing(seen: Seen) -> Iterator[dict[str, Any]]:
    if not seen.page.title:
        yield {}


def title_short(seen: Seen) -> Iterator[dict[str, Any]]:
    if seen.page.title and len(seen.page.title) < TITLE[0]:
        yield {"title": seen.page.title, "length": len(seen.page.title)}


def title_long(seen: Seen) -> Iterator[dict[str, Any]]:
    if seen.page.title and len(seen.page.title) > TITLE[1]:
        yield {"title": seen.page.title[:200], "length": len(seen.page.title)}


def title_multiple(seen: Seen) -> Iterator[dict[str, Any]]:
    if len(seen.page.titles) > 1:
        yield from some(seen.page.titles)


def description_missing(seen: Seen) -> Iterator[dict[str, Any]]:
    if not seen.page.description:
        yield {}


def description_short(seen: Seen) -> Iterator[dict[str, Any]]:
    if seen.page.description and len(seen.page.description) < DESCRIPTION[0]:
        yield {"description": seen.page.description, "length": len(seen.page.description)}


def description_long(seen: Seen) -> Iterator[dict[str, Any]]:
    if seen.page.description and len(seen.page.description) > DESCRIPTION[1]:
        yield {"description": seen.page.description[:300], "length": len(seen.page.description)}


def description_multiple(seen: Seen) -> Iterator[dict[str, Any]]:
    if len(seen.page.descriptions) > 1:
        yield from some(seen.page.descriptions)


def h1_missing(seen: Seen) -> Iterator[dict[str, Any]]:
    if not any(heading.level == 1 and heading.text for heading in seen.page.headings):
        yield {}


def h1_multiple(seen: Seen) -> Iterator[dict[str, Any]]:
    first = [heading.text for heading in seen.page.headings if heading.level == 1]
    if len(first) > 1:
        yield from some(first)


def heading_order(seen: Seen) -> Iterator[dict[str, Any]]:
    """A heading may go up by any number of levels, but down only one by one."""
    skipped = [
        f"h{above.level} {above.text!r} is followed by h{below.level} {below.text!r}"
        for above, below in pairwise(seen.page.headings)
        if below.level > above.level + 1
    ]
    yield from some(skipped)


def thin(seen: Seen) -> Iterator[dict[str, Any]]:
    if seen.page.words < FEWEST_WORDS:
        yield {"words": seen.page.words}


def lang_missing(seen: Seen) -> Iterator[dict[str, Any]]:
    if not seen.page.lang:
        yield {}


def lang_invalid(seen: Seen) -> Iterator[dict[str, Any]]:
    if seen.page.lang and not is_language(seen.page.lang):
        yield {"lang": seen.page.lang[:100]}


def lang_mismatch(seen: Seen) -> Iterator[dict[str, Any]]:
    """Only where both are known for certain: few words are in no language."""
    said = spoken(seen.page.lang or "")
    if said and seen.page.words >= FEWEST_WORDS:
        written = recognised(seen.page.text)
        if written and written != said:
            yield {"lang": (seen.page.lang or "")[:100], "recognised": written}


CHECKS = (
    title_missing,
    title_short,
    title_long,
    title_multiple,
    description_missing,
    description_short,
    description_long,
    description_multiple,
    h1_missing,
    h1_multiple,
    heading_order,
    thin,
    lang_missing,
    lang_invalid,
    lang_mismatch,
)
