"""What the page says: titles, descriptions, headings, words."""

from collections.abc import Iterator
from itertools import pairwise

from leasehold_packs.audits.checks.evidence import Evidence, some
from leasehold_packs.audits.crawled_page import CrawledPage
from leasehold_packs.webfacts.language import is_language, recognised, spoken

TITLE = (20, 60)
DESCRIPTION = (80, 160)
FEWEST_WORDS = 200


def title_missing(crawled: CrawledPage) -> Iterator[Evidence]:
    if not crawled.page.title:
        yield {}


def title_short(crawled: CrawledPage) -> Iterator[Evidence]:
    if crawled.page.title and len(crawled.page.title) < TITLE[0]:
        yield {"title": crawled.page.title, "length": len(crawled.page.title)}


def title_long(crawled: CrawledPage) -> Iterator[Evidence]:
    if crawled.page.title and len(crawled.page.title) > TITLE[1]:
        yield {"title": crawled.page.title[:200], "length": len(crawled.page.title)}


def title_multiple(crawled: CrawledPage) -> Iterator[Evidence]:
    if len(crawled.page.titles) > 1:
        yield from some(crawled.page.titles)


def description_missing(crawled: CrawledPage) -> Iterator[Evidence]:
    if not crawled.page.description:
        yield {}


def description_short(crawled: CrawledPage) -> Iterator[Evidence]:
    if crawled.page.description and len(crawled.page.description) < DESCRIPTION[0]:
        yield {"description": crawled.page.description, "length": len(crawled.page.description)}


def description_long(crawled: CrawledPage) -> Iterator[Evidence]:
    if crawled.page.description and len(crawled.page.description) > DESCRIPTION[1]:
        yield {"description": crawled.page.description[:300], "length": len(crawled.page.description)}


def description_multiple(crawled: CrawledPage) -> Iterator[Evidence]:
    if len(crawled.page.descriptions) > 1:
        yield from some(crawled.page.descriptions)


def h1_missing(crawled: CrawledPage) -> Iterator[Evidence]:
    if not any(heading.level == 1 and heading.text for heading in crawled.page.headings):
        yield {}


def h1_multiple(crawled: CrawledPage) -> Iterator[Evidence]:
    first = [heading.text for heading in crawled.page.headings if heading.level == 1]
    if len(first) > 1:
        yield from some(first)


def heading_order(crawled: CrawledPage) -> Iterator[Evidence]:
    """A heading may go up by any number of levels, but down only one by one."""
    skipped = [
        f"h{above.level} {above.text!r} is followed by h{below.level} {below.text!r}"
        for above, below in pairwise(crawled.page.headings)
        if below.level > above.level + 1
    ]
    yield from some(skipped)


def thin(crawled: CrawledPage) -> Iterator[Evidence]:
    if crawled.page.words < FEWEST_WORDS:
        yield {"words": crawled.page.words}


def lang_missing(crawled: CrawledPage) -> Iterator[Evidence]:
    if not crawled.page.lang:
        yield {}


def lang_invalid(crawled: CrawledPage) -> Iterator[Evidence]:
    if crawled.page.lang and not is_language(crawled.page.lang):
        yield {"lang": crawled.page.lang[:100]}


def lang_mismatch(crawled: CrawledPage) -> Iterator[Evidence]:
    """Only where both are known for certain: few words are in no language."""
    said = spoken(crawled.page.lang or "")
    if said and crawled.page.words >= FEWEST_WORDS:
        written = recognised(crawled.page.text)
        if written and written != said:
            yield {"lang": (crawled.page.lang or "")[:100], "recognised": written}


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
