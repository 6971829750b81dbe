"""What the page says to machines."""

from collections.abc import Iterator
from typing import Any

from leasehold_packs.audits.checks.examples import some
from leasehold_packs.audits.seen import Seen

#: Properties without which search engines ignore a thing of this type; of a set, one is enough.
REQUIRED: dict[str, tuple[tuple[str, ...], ...]] = {
    "product": (("name",), ("offers", "review", "aggregateRating")),
    "jobposting": (
        ("title",), ("description",), ("datePosted",), ("hiringOrganization",),
        ("jobLocation", "applicantLocationRequirements"),
    ),
    "article": (("headline",),),
    "newsarticle": (("headline",),),
    "blogposting": (("headline",),),
    "event": (("name",), ("startDate",), ("location",)),
    "recipe": (("name",), ("image",)),
    "breadcrumblist": (("itemListElement",),),
}  # fmt: skip


def json_ld_invalid(seen: Seen) -> Iterator[dict[str, Any]]:
    yield from some(seen.structured.errors)


def structured_incomplete(seen: Seen) -> Iterator[dict[str, Any]]:
    yield from some(_gaps(seen))


def _gaps(seen: Seen) -> Iterator[str]:
    for node in seen.structured.nodes():
        for type_ in sorted(node.types & REQUIRED.keys()):
            missing = [one for one in REQUIRED[type_] if not any(node.properties.get(name) for name in one)]
            if missing:
                yield f"{type_} at {node.pointer} has no {', '.join(' or '.join(one) for one in missing)}"


CHECKS = (json_ld_invalid, structured_incomplete)
