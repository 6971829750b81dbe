"""Bodies of the requests of ``/v1/monitors``, and answers that are of HTTP alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from leasehold_packs.monitors.model import Settings
from leasehold_packs.monitors.model_results import OfferChange, Product

Url = Annotated[str, Field(min_length=8, max_length=2000, description="A whole http or https address.")]
Selector = Annotated[str, Field(min_length=1, max_length=500, description="A CSS selector of the price.")]
Tags = Annotated[list[Annotated[str, Field(min_length=1, max_length=50)]], Field(max_length=20)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PreviewRequest(Body):
    url: Url
    selector: Selector | None = None
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] | None = None


class SiteRequest(Body):
    url: Url
    settings: Settings = Field(default_factory=Settings)


class SiteChange(Body):
    settings: Mapping[str, Any] | None = Field(None, description="Only what is to be other than it is.")
    paused: bool | None = None


class Decision(Body):
    candidates: Annotated[list[UUID], Field(max_length=5000)] | None = Field(None, description="All, if left out.")
    least_confidence: float = Field(0.0, ge=0, le=1)
    tags: Tags = Field(default_factory=list)


class ProductRequest(Body):
    url: Url
    tags: Tags = Field(default_factory=list)
    selector: Selector | None = None


class ProductChange(Body):
    tags: Tags | None = None
    paused: bool | None = None


class SelectorRequest(Body):
    selector: Selector | None = Field(description="Null lets the page be read as if nobody had said anything.")


class SelectorTest(Body):
    selector: Selector


class RuleRequest(Body):
    name: str = Field(min_length=1, max_length=200)
    condition: Literal["percent", "absolute", "target", "back_in_stock", "new_low", "undercut"]
    value: Annotated[Decimal, Field(gt=0, max_digits=18, decimal_places=6)] | None = None
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] | None = None
    direction: Literal["both", "down", "up"] = "both"
    site_id: UUID | None = None
    product_id: UUID | None = None
    tag: Annotated[str, Field(max_length=50)] | None = None
    brand: Annotated[str, Field(max_length=200)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequested:
    job_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequested:
    search_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """How many candidates were decided."""

    decided: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductPage:
    """``next`` is what ``after`` is to be for the next page."""

    data: list[Product]
    next: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePage:
    """``next`` is the cursor of the next page."""

    data: list[OfferChange]
    next: str | None
