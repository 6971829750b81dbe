"""What a source is asked for, and the rows of this pack as values."""

import os
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked
from typing_extensions import TypedDict

from leasehold.errors import BadSetting
from leasehold_packs.postings import normalize
from leasehold_packs.postings.posting import Posting, PublishedSalary
from leasehold_packs.runs.run import RunState

Word = Annotated[str, Field(min_length=1, max_length=100)]
Words = Annotated[list[Word], Field(max_length=50)]
#: Seconds between two requests to one host, in the environment of servers and workers alike.
GAP = "LEASEHOLD_POSTINGS_GAP_SECONDS"
#: What may become of a posting in a run.
Kind = Literal["opened", "changed", "touched", "suspect", "closed", "reopened", "reposted"]
SourceRunState = Literal["running", "succeeded", "held", "failed", "canceled"]
ItemState = Literal["pending", "ready", "skipped", "error"]
#: The steps of a run, as their lines are tagged.
Part = Literal["list", "detail", "settle", "finish"]
Level = Literal["info", "warning"]
#: How many postings became what, by the names of ``COUNTED``.
Counts = dict[str, int]
KINDS: tuple[Kind, ...] = ("opened", "changed", "touched", "suspect", "closed", "reopened", "reposted")
#: All that is counted, in the order in which it is told.
COUNTED = ("listed", "skipped", "failed", "same", *KINDS, "held")


@checked(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Options:
    """Filters choose what is taken in; a posting that is known is followed to its end. Words, not patterns."""

    title_include: Words = Field(default_factory=list)  # one of them is in the title
    title_exclude: Words = Field(default_factory=list)  # none of them is
    locations: Words = Field(default_factory=list)  # one of them is in a place
    remote: Annotated[list[Literal["remote", "hybrid", "onsite"]], Field(max_length=3)] = Field(default_factory=list)
    detail_hours: Annotated[float, Field(ge=0, le=8760)] = 24  # texts that are older are read again
    guard_share: Annotated[float, Field(gt=0, le=1)] = 0.3  # if more than this share of a board
    guard_count: Annotated[int, Field(ge=0, le=100_000)] = 5  # and more than so many vanish at once, a person decides

    def wants(self, posting: Posting) -> bool:
        place = " | ".join(posting.locations)
        remote = normalize.remote_of(posting.remote, place, posting.title)
        return (
            (not self.title_include or _has(posting.title, self.title_include))
            and not _has(posting.title, self.title_exclude)
            # Boards that tell places in the detail alone cannot be filtered by them in the list.
            and (not self.locations or not place or _has(place, self.locations))
            and (not self.remote or remote is None or remote in self.remote)
        )


def gap_seconds() -> float:
    """How long a host is left alone between two requests."""
    text = os.environ.get(GAP, "2")
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.001 <= seconds <= 3600:
        raise BadSetting(f"{GAP}={text[:50]} is no number of seconds", hint="0.001 to 3600; 2 if it is not set")
    return seconds


def _has(text: str, words: list[str]) -> bool:
    return any(re.search(rf"(?i)(?<!\w){re.escape(word)}(?!\w)", text) for word in words)


# -- sources --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSource:
    """A board by its address, or by its name and slug; ``base`` is for boards on hosts of their own."""

    url: str | None = None
    board: str | None = None
    slug: str | None = None
    base: str | None = None
    company: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Closings that wait for a person: how many postings are missing, of how many, since which run."""

    run_id: UUID
    missing: int
    known: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A board that is followed, with its health."""

    source_id: UUID
    company_id: UUID
    company: str
    board: str
    slug: str
    base: str
    host: str
    url: str
    options: Options
    enabled: bool
    health: Literal["new", "good", "suspicious", "failing"]
    problem: str | None
    failures: int
    held: Held | None
    last_ok_at: datetime | None
    created_at: datetime
    open: int
    last_run: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """The circuit breaker of a host."""

    state: str
    next_at: datetime | None
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDetails(Source):
    breaker: Breaker


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingsDecided:
    """How many of the postings that were missing are closed now."""

    source_id: UUID
    closed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """How a company hires. A ghost is open for more than 90 days, or was posted again at least twice."""

    company_id: UUID
    name: str
    open: int
    opened_30_days: int
    closed_30_days: int
    ghosts: int


class PreviewedPosting(TypedDict):
    title: str
    locations: list[str]
    remote: str | None
    seniority: str | None
    salary: PublishedSalary | None
    url: str


class DetectedBoard(TypedDict):
    """The board that an address belongs to, and its first postings."""

    supported: Literal[True]
    board: str
    slug: str
    base: str
    company: str
    listed: int
    more: bool
    postings: list[PreviewedPosting]


class UnsupportedBoard(TypedDict):
    """A board that is known and not read."""

    supported: Literal[False]
    board: str
    hint: str


# -- runs -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequested:
    run_id: UUID
    sources: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRun:
    """What a run found at one source."""

    run_id: UUID
    state: SourceRunState
    pages: int
    complete: bool
    counts: Counts
    problem: str | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSource:
    """A source of a run. ``rung`` says whether its list is the same as the one before."""

    source_id: UUID
    company: str
    board: str
    state: SourceRunState
    pages: int
    complete: bool
    rung: str | None
    counts: Counts
    problem: str | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    run_id: UUID
    asked_by: str
    details: Literal["due", "all"]
    flow_id: UUID | None
    state: RunState
    reason: str | None
    seq: int
    created_at: datetime
    finished_at: datetime | None
    counts: Counts
    sources: list[RunSource]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    run_id: UUID
    asked_by: str
    state: RunState
    reason: str | None
    created_at: datetime
    finished_at: datetime | None
    sources: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStopped:
    run_id: UUID
    state: Literal["canceled"] = "canceled"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    state: RunState
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedSource:
    source_id: UUID
    state: SourceRunState
    pages: int
    counts: Counts
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedItem:
    source_id: UUID
    external_id: str
    title: str
    state: ItemState
    outcome: str | None
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChanges:
    """A run, and what of it has changed after a number; ``seq`` is the number to go on from."""

    state: RunState
    reason: str | None
    seq: int
    sources: list[ChangedSource]
    items: list[ChangedItem]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """What a step of a run had to say."""

    log_id: int
    source: str
    source_id: UUID | None
    level: Level
    message: str
    at: datetime
