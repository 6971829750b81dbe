"""What those learn of an image who do not see it, and what a browser knows before it has it."""

from collections.abc import Iterator

from leasehold_packs.audits.checks.evidence import Evidence, some
from leasehold_packs.audits.crawled_page import CrawledPage

LONGEST_ALT = 100


def image_alt_missing(crawled: CrawledPage) -> Iterator[Evidence]:
    yield from some(image.src for image in crawled.page.images_without_alt)


def image_alt_long(crawled: CrawledPage) -> Iterator[Evidence]:
    yield from some(image.src for image in crawled.page.images if len(image.alt or "") > LONGEST_ALT)


def image_unsized(crawled: CrawledPage) -> Iterator[Evidence]:
    yield from some(image.src for image in crawled.page.images if not image.sized)


CHECKS = (image_alt_missing, image_alt_long, image_unsized)
