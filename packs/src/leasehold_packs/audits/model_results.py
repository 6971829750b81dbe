"""What audits found, as people and programs get it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar
from uuid import UUID

from typing_extensions import TypedDict

from leasehold_packs.audits.checks.evidence import Evidence
from leasehold_packs.runs.run import Run, RunState

T = TypeVar("T")


class Term(TypedDict):
    """What one check takes from the score."""

    check: str
    weight: int
    affected: int
    pages: int
    taken: float


class CheckChange(TypedDict):
    """How many pages have a fault now, and had it before."""

    new: int
    gone: int


class Changes(TypedDict):
    """What the recipe of today says otherwise of the same pages."""

    score_before: float | None
    checks: dict[str, CheckChange]


class Counts(TypedDict):
    """How many pages of a run were what, and how many have each fault."""

    pages: int
    indexable: int
    failed: int
    unread: int
    blocked: int
    left_out: int
    depth: int | None
    links: int
    checks: dict[str, int]
    forbidden: dict[str, int]  # by the rule of robots.txt


class AuditReport(Counts):
    """Counts and the arithmetic of the score, as the run keeps them."""

    arithmetic: str
    terms: list[Term]
    groups: dict[str, float]
    changed: Changes | None  # of a run over pages that another one kept


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditProgress(Run):
    """How far a run is: what its stream begins and ends with."""

    site_id: UUID
    recipe: int
    pages: int
    score: float | None
    progress: int  # percent
    part: int  # one more each time a stopped run goes on
    reread_of: UUID | None
    settles: bool  # whether findings follow it
    urls: Mapping[str, int]  # how many pages are in each state


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteAudit(AuditProgress):
    """One run, with its report when it has one."""

    options: Mapping[str, object]
    report: AuditReport | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSummary:
    run_id: UUID
    site_id: UUID
    url: str
    state: RunState
    reason: str | None
    pages: int
    score: float | None
    created_at: datetime
    finished_at: datetime | None
    progress: int
    reread_of: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    seq: int
    type: str
    step: str | None
    message: str
    progress: int
    data: Mapping[str, object] | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    site_id: UUID
    url: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSummary:
    """A site with its newest run, its open findings, and its newest scores."""

    site_id: UUID
    url: str
    last_run: UUID | None
    state: RunState | None
    score: float | None
    finished_at: datetime | None
    open: int
    critical: int
    scores: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """What one check found on one page; ``state`` is that of its finding by now."""

    check_id: str
    severity: str
    key: str
    url: str
    state: str | None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSample:
    """The first issues of one check, of so many pages."""

    check_id: str
    severity: str
    pages: int
    accepted: int
    issues: list[Issue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What became of an issue over many runs."""

    finding_id: UUID
    check_id: str
    key: str
    url: str
    severity: str
    state: str
    first_run: UUID
    last_run: UUID
    note: str | None
    accepted_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedFinding:
    finding_id: UUID
    check_id: str
    url: str
    severity: str
    state: str
    note: str | None
    accepted_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSummary:
    key: str
    url: str
    state: str
    status: int | None
    depth: int | None
    source: str
    in_sitemap: bool
    hops: int
    media_type: str | None
    bytes: int | None
    is_cut: bool | None
    ms: int | None
    title: str | None
    words: int | None
    indexable: bool | None
    problem: str | None


class PageAnswer(TypedDict, total=False):
    """How a page was answered; headers without what they are to keep secret."""

    headers: list[list[str]]
    hops: list[list[str | int]]  # addresses and statuses
    final_url: str | None
    is_rendered: bool
    is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PageIssue:
    check_id: str
    severity: str
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLink:
    url: str
    key: str
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideLink:
    """A link to a page of another site, and what came when it was asked for."""

    url: str
    text: str | None
    status: int | None
    problem: str | None
    checked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDetail:
    """All about one page."""

    key: str
    url: str
    depth: int | None
    source: str
    in_sitemap: bool
    state: str
    status: int | None
    hops: int
    media_type: str | None
    body: str | None
    bytes: int | None
    ms: int | None
    title: str | None
    description: str | None
    indexable: bool | None
    words: int | None
    problem: str | None
    lang: str | None
    has_icon: bool | None
    answer: PageAnswer | None
    issues: list[PageIssue]
    links_out: list[PageLink]
    links_in: list[PageLink]
    links_outside: list[OutsideLink]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedIssue:
    check_id: str
    key: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What the later of two runs found and the earlier one did not, and the other way round."""

    score: tuple[float | None, float | None]
    new: list[ComparedIssue]
    fixed: list[ComparedIssue]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """One part of a list; ``next_cursor`` is where the next one begins, None at the end."""

    data: list[T]
    next_cursor: str | None
    has_more: bool
