"""One way to buy a product."""

from dataclasses import dataclass

from leasehold_packs.webfacts.availability import Availability
from leasehold_packs.webfacts.money import Money


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A variant, a seller or a condition. ``key`` tells the offers of one page apart.

    ``pointers`` say for each field where it was found.
    """

    key: str
    price: Money | None
    list_price: Money | None
    availability: Availability | None
    sku: str | None
    gtin: str | None
    pointers: dict[str, str]
