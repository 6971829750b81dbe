"""What the page says to machines."""

from collections.abc import Iterator

from leasehold_packs.audits.checks.evidence import Evidence, some
from leasehold_packs.audits.crawled_page import CrawledPage
from leasehold_packs.webfacts.structured import Json, values

_PRICES = ("price", "lowPrice", "minPrice")

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


def json_ld_invalid(crawled: CrawledPage) -> Iterator[Evidence]:
    others = (error for error in crawled.structured.errors if not error.startswith("json-ld:"))
    yield from some([*crawled.structured.invalid, *others])


def structured_incomplete(crawled: CrawledPage) -> Iterator[Evidence]:
    yield from some(_gaps(crawled))


def _gaps(crawled: CrawledPage) -> Iterator[str]:
    for node in crawled.structured.nodes():
        for type_ in sorted(node.types & REQUIRED.keys()):
            missing = [one for one in REQUIRED[type_] if not any(node.properties.get(name) for name in one)]
            if missing:
                yield f"{type_} at {node.pointer} has no {', '.join(' or '.join(one) for one in missing)}"
        if "product" in node.types:
            unpriced = sum(not _is_priced(offer) for offer in values(node.properties, "offers"))
            if unpriced:
                yield f"{unpriced} offers of the product at {node.pointer} have no price"


def _is_priced(offer: Json) -> bool:
    """By itself, by a specification, or by the offers in it. What only names an offer elsewhere is not known."""
    if not isinstance(offer, dict) or ("@id" in offer and offer.keys() <= {"@id", "@type"}):
        return True
    if any(_is_given(offer.get(name)) for name in _PRICES):
        return True
    inner = [*values(offer, "priceSpecification"), *values(offer, "offers")]
    return bool(inner) and all(_is_priced(one) for one in inner)


def _is_given(value: Json) -> bool:
    """A price of nothing is one."""
    return value not in (None, "", [], {})


CHECKS = (json_ld_invalid, structured_incomplete)
