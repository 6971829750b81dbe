"""What those learn of an image who do not see it, and what a browser knows before it has it."""

from collections.abc import Iterator
from typing import Any

from leasehold_packs.audits.checks.evidence import some
from leasehold_packs.audits.crawled_page import Seen

LONGEST_ALT = 100


def image_alt_missing(seen: Seen) -> Iterator[dict[str, Any]]:
    yield from some(image.src for image in seen.page.images_without_alt)


def image_alt_long(seen: Seen) -> Iterator[dict[str, Any]]:
    yield from some(image.src for image in seen.page.images if len(image.alt or "") > LONGEST_ALT)


def image_unsized(seen: Seen) -> Iterator[dict[str, Any]]:
    yield from some(image.src for image in seen.page.images if not image.sized)


CHECKS = (image_alt_missing, image_alt_long, image_unsized)
