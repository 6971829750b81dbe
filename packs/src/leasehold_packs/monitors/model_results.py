"""What monitors know of shops and products, as people and programs get it. Amounts are text, never floats."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from typing_extensions import TypedDict

from leasehold_packs.monitors.changes import ChangedValue
from leasehold_packs.monitors.extract import ProductFacts
from leasehold_packs.monitors.model import Settings


class SiteTest(TypedDict, total=False):
    """What the test of a site's first page has found."""

    readable: bool
    status: int
    platform: str
    needs_script: bool
    warnings: list[str]


class SiteHealth(TypedDict, total=False):
    """What the checks of the last day say."""

    at: str
    checks: int
    read: int
    blocked: int
    no_price: int
    failed: int
    missing: int
    needs_attention: int
    crawled_at: str | None
    success: float | None
    trouble: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    site_id: UUID
    url: str
    state: str
    settings: Settings
    tested: SiteTest | None
    health: SiteHealth | None
    created_at: datetime
    products: int


class RunCounts(TypedDict):
    planned: int
    results: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRun:
    """A crawl of a site."""

    run_id: UUID
    what: str
    flow_id: UUID | None
    planned: int
    counts: RunCounts | None
    started_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A product with the offer that its page shows.

    ``availability`` is null while the page is not there; ``last_availability`` is what it said at ``seen_at``.
    """

    product_id: UUID
    site_id: UUID
    group_id: UUID | None
    url: str
    state: str
    reason: str | None
    tags: list[str]
    selector: str | None
    name: str | None
    brand: str | None
    image: str | None
    sku: str | None
    gtin: str | None
    mpn: str | None
    platform_id: str | None
    id_method: str | None
    checked_at: datetime | None
    result: str | None
    missing_since: datetime | None
    created_at: datetime
    disagrees: bool | None
    price: str | None
    currency: str | None
    list_price: str | None
    availability: str | None
    last_availability: str | None
    confidence: float | None
    method: str | None
    low: str | None
    high: str | None
    since: datetime | None
    seen_at: datetime | None
    is_there: bool
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    variant: str
    price: str | None
    currency: str | None
    list_price: str | None
    availability: str | None
    since: datetime
    seen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingChange:
    """A change that has to be seen twice."""

    change_id: UUID
    kind: str
    before: ChangedValue
    after: ChangedValue
    doubt: str | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCheck:
    at: datetime
    result: str
    status: int | None
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductDetail(Product):
    """All that is known, with its variants and how the newest page was read."""

    facts: ProductFacts | None
    last_check: LastCheck | None
    variants: list[Variant]
    waiting: list[PendingChange]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What an offer was from this moment on."""

    at: datetime
    price: str | None
    currency: str | None
    list_price: str | None
    availability: str | None
    method: str | None
    confidence: float | None
    body: str | None
    pointer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    day: date
    currency: str
    low: str
    high: str
    opened: str
    closed: str
    changes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    month: date
    currency: str
    low: str
    high: str
    average: str
    changes: int
    days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductSearch:
    """A search for products; ``counts`` are pages by what they were."""

    search_id: UUID
    options: Mapping[str, object]
    flow_id: UUID | None
    counts: Mapping[str, int] | None
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A page that looks like a product; ``guess`` is how it was read."""

    candidate_id: UUID
    url: str
    guess: Mapping[str, object]
    confidence: float
    state: str
    decided_by: str | None
    decided_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalQueue:
    """A site with candidates that wait for approval."""

    site_id: UUID
    url: str
    waiting: int
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferChange:
    change_id: UUID
    product_id: UUID
    site_id: UUID
    url: str
    name: str | None
    variant: str
    kind: str
    before: ChangedValue
    after: ChangedValue
    percent: float | None
    state: str
    doubt: str | None
    told: bool
    body_before: str | None
    body_after: str | None
    at: datetime
    decided_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRule:
    """A rule, and the number of its alerts."""

    rule_id: UUID
    name: str
    condition: str
    value: str | None
    currency: str | None
    direction: str
    site_id: UUID | None
    product_id: UUID | None
    tag: str | None
    brand: str | None
    paused: bool
    created_at: datetime
    alerts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A thing that more than one site sells."""

    group_id: UUID
    match: str
    name: str | None
    products: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupProduct:
    product_id: UUID
    site_id: UUID
    url: str
    name: str | None
    state: str
    result: str | None
    missing_since: datetime | None
    checked_at: datetime | None
    price: str | None
    currency: str | None
    availability: str | None
    last_availability: str | None
    seen_at: datetime | None
    percent_above_cheapest: float | None
    is_there: bool
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupComparison:
    group_id: UUID
    match: str
    name: str | None
    products: list[GroupProduct]
