"""What a source says about a product, best first, before the ladder chooses."""

from dataclasses import dataclass, field

from leasehold_packs.webfacts.availability import Availability
from leasehold_packs.webfacts.fact import Fact
from leasehold_packs.webfacts.money import Money


@dataclass(slots=True)
class Candidates:
    price: list[Fact[Money]] = field(default_factory=list)
    list_price: list[Fact[Money]] = field(default_factory=list)
    availability: list[Fact[Availability]] = field(default_factory=list)
    sku: list[Fact[str]] = field(default_factory=list)
    gtin: list[Fact[str]] = field(default_factory=list)
    mpn: list[Fact[str]] = field(default_factory=list)
    brand: list[Fact[str]] = field(default_factory=list)
    name: list[Fact[str]] = field(default_factory=list)
    image: list[Fact[str]] = field(default_factory=list)
