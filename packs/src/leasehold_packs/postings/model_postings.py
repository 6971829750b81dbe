"""Postings, saved searches and the board of a person as values."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from typing_extensions import TypedDict

from leasehold_packs.postings.model import Kind
from leasehold_packs.postings.posting import Facts, FieldChanges, PublishedSalary

Stage = Literal["saved", "applied", "interview", "offer", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PostingSummary:
    posting_id: UUID
    source_id: UUID
    company_id: UUID
    company: str
    state: Literal["open", "suspect", "closed"]
    url: str
    title: str
    locations: list[str]
    remote: str | None
    employment: str | None
    seniority: str | None
    department: str | None
    requisition: str | None
    salary: PublishedSalary | None
    currency: str | None
    yearly_min: float | None
    yearly_max: float | None
    posted_at: datetime | None
    valid_through: str | None
    version: int
    reposts: int
    reopened: int
    repost_of: UUID | None
    cluster_id: UUID
    first_seen: datetime
    last_seen: datetime
    closed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PostingEvent:
    kind: Kind
    diff: FieldChanges
    run_id: UUID
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """The same job on another board."""

    posting_id: UUID
    source_id: UUID
    url: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PostingDetails(PostingSummary):
    """All about one posting: its text, what became of it, and where else it is listed."""

    description: str
    events: list[PostingEvent] = field(default_factory=list)
    also: list[Duplicate] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What a posting was, and when."""

    n: int
    facts: Facts
    minor: bool
    valid_from: datetime
    valid_to: datetime | None
    run_id: UUID


#: ``from`` is a word of Python.
VersionDifference = TypedDict("VersionDifference", {"from": int, "to": int, "fields": FieldChanges, "minor": bool})


@dataclass(frozen=True, slots=True, kw_only=True)
class HiringWeek:
    week: str
    opened: int
    closed: int
    changed: int
    open: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ghost:
    """An open posting that may be there for show alone.

    ``signals``: ``old`` (open for more than 90 days), ``reposted`` (at least twice), ``reopened``, ``expired`` (open
    beyond the day that it names itself), ``unchanged`` (old, and not a word of it was ever changed).
    """

    posting_id: UUID
    company: str
    title: str
    url: str
    place: str
    open_days: int
    reposts: int
    reopened: int
    valid_through: str | None
    signals: list[str]


# -- what belongs to one person -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """What a person wants to see: all companies and titles, until somebody says otherwise."""

    companies: list[UUID] | None = None
    title_include: list[str] = field(default_factory=list)
    title_exclude: list[str] = field(default_factory=list)


class SavedQuery(TypedDict, total=False):
    """What a saved search looks for: the fields of ``search.Query`` that it has."""

    q: str
    company: list[str]
    source: list[str]
    remote: list[str]
    seniority: list[str]
    employment: list[str]
    state: list[str]
    place: str
    salary_min: float
    currency: str
    since: str
    as_of: str
    duplicates: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSearch:
    """A question that is asked again after each run, and how many postings it has found."""

    search_id: UUID
    name: str
    query: SavedQuery
    created_at: datetime
    matches: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A posting that a saved search has found."""

    posting_id: UUID
    kind: Kind
    at: datetime
    title: str
    url: str
    place: str
    company: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReached:
    stage: Stage
    since: datetime
    days: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """A posting on the board of a person, with the time in each stage."""

    application_id: UUID
    posting_id: UUID
    title: str
    url: str
    posting_state: str
    company: str
    stage: Stage
    note: str | None
    due: str | None
    created_at: datetime
    stages: list[StageReached]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanySuccess:
    """How many applications at a company went how far."""

    company: str
    saved: int
    applied: int
    interviews: int
    offers: int
    rejected: int
