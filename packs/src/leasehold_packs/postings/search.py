"""Questions about postings: words with filters, put right where a word is written by nobody, page by page."""

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked

from leasehold import Transaction
from leasehold.errors import BadInput
from leasehold_packs.postings.model_postings import Preference
from leasehold_packs.postings.spelling import WORD, nearest
from leasehold_packs.rows.values import adapter

MOST_LETTERS = 500
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_OPERATOR = re.compile(r'"|(?:^|\s)-|\bor\b', re.IGNORECASE)
_SHORTEST = 4
#: Titles that only look like a question: one page of them.
_MOST_ALIKE = 50
#: As many answers are counted; that there are more is said.
MOST_COUNTED = 5_000
Remote = Literal["remote", "hybrid", "onsite"]
State = Literal["open", "suspect", "closed"]
Level = Literal["intern", "junior", "mid", "senior", "lead", "staff", "principal", "manager", "director", "executive"]
Employment = Literal["full_time", "part_time", "contract", "temporary", "internship", "volunteer", "other"]
Text = Annotated[str, Field(max_length=MOST_LETTERS)]
Currency = Annotated[str, Field(pattern="^[A-Z]{3}$")]


@checked(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Query:
    """What is looked for. Lists are alternatives; what is left out does not matter."""

    q: Text | None = None
    company: Annotated[list[UUID], Field(max_length=100)] = Field(default_factory=list)
    source: Annotated[list[UUID], Field(max_length=100)] = Field(default_factory=list)
    remote: list[Remote] = Field(default_factory=list)
    seniority: list[Level] = Field(default_factory=list)
    employment: list[Employment] = Field(default_factory=list)
    state: list[State] = Field(default_factory=list)  # open and suspect, unless it says so
    place: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    salary_min: Annotated[float, Field(ge=0, le=1e12)] | None = None  # by the year
    currency: Currency | None = None
    since: datetime | None = None  # first seen then or later
    as_of: datetime | None = None  # as it was then
    duplicates: bool = False  # of one job on several boards

    def __post_init__(self) -> None:
        if (self.salary_min is None) != (self.currency is None):
            raise BadInput("salary_min and currency belong together", hint="salary_min=100000&currency=USD")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """``corrected`` is the question that was answered instead, or None; ``alike`` are postings whose titles only look
    like the question, because no posting has its words.
    """

    ids: list[UUID]
    next_cursor: str | None
    corrected: str | None
    alike: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The question as SQL takes it; what is None does not matter."""

    q: str | None = None
    company_id: list[UUID] | None = None
    source_id: list[UUID] | None = None
    posting_id: list[UUID] | None = None
    remote: list[Remote] | None = None
    seniority: list[Level] | None = None
    employment: list[Employment] | None = None
    state: list[State] | None = None
    place: str | None = None
    salary_min: float | None = None
    currency: str | None = None
    since: datetime | None = None
    as_of: datetime | None = None
    duplicates: bool | None = None
    title_include: list[str] | None = None  # patterns
    title_exclude: list[str] | None = None

    def as_json(self) -> str:
        return adapter(Question).dump_json(self, exclude_none=True).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetChoice:
    """A further choice, and how many answers it would leave."""

    value: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facets:
    """How many postings answer, at least, and how many of them each further choice would leave."""

    total: int = 0
    at_least: bool = False
    facets: dict[str, list[FacetChoice]] = field(default_factory=dict)


def question_of(query: Query, *, only: list[UUID] | None = None, preference: Preference | None = None) -> Question:
    wanted = preference or Preference()
    companies = wanted.companies if wanted.companies is not None else query.company or None
    return Question(
        q=_UNSTORABLE.sub(" ", query.q)[:MOST_LETTERS] if query.q and query.q.strip() else None,
        company_id=companies,
        source_id=query.source or None,
        posting_id=only,
        remote=query.remote or None,
        seniority=query.seniority or None,
        employment=query.employment or None,
        state=(query.state or ["open", "suspect"]) if query.as_of is None else None,
        place=_UNSTORABLE.sub(" ", query.place) if query.place else None,
        salary_min=query.salary_min,
        currency=query.currency,
        since=query.since,
        as_of=query.as_of,
        duplicates=query.duplicates or None,
        title_include=_patterns(wanted.title_include),
        title_exclude=_patterns(wanted.title_exclude),
    )


def _patterns(words: list[str]) -> list[str] | None:
    """Whole words, whatever letters they have."""
    return [rf"\m{re.escape(word)}\M" for word in words] or None


async def find(
    tx: Transaction, question: Question, *, limit: int = 50, cursor: str | None = None, exact: bool = False
) -> Found:
    """The postings that answer a question. Unless ``exact``, its words are put right, and where there is no answer at
    all, titles that look like it are one.
    """
    corrected = None if exact or question.q is None else await correct(tx, question.q)
    if corrected is not None:
        question = replace(question, q=corrected)
    rows = await tx.fetch(
        "select posting_id, first, first_seen from leasehold_postings.find_postings($1, $2, $3)",
        question.as_json(), limit + 1, json.dumps(_place(cursor)) if cursor else None,
    )  # fmt: skip
    if not rows and not exact and cursor is None and _may_be_alike(question):
        alike = await tx.fetch(
            "select posting_id from leasehold_postings.alike_postings($1, $2)",
            question.as_json(), min(limit, _MOST_ALIKE),
        )  # fmt: skip
        return Found(ids=[row["posting_id"] for row in alike], next_cursor=None, corrected=corrected, alike=bool(alike))
    last = _cursor(rows[limit - 1]) if len(rows) > limit else None
    return Found(ids=[row["posting_id"] for row in rows[:limit]], next_cursor=last, corrected=corrected)


def _may_be_alike(question: Question) -> bool:
    """Words alone: what somebody quotes or leaves out is meant as it is, and the past has no index of titles."""
    q = question.q or ""
    return question.as_of is None and bool(WORD.search(q)) and not _OPERATOR.search(q)


async def count(tx: Transaction, question: Question) -> Facets:
    rows = await tx.fetch(
        "select name, value, n from leasehold_postings.count_postings($1, $2)", question.as_json(), MOST_COUNTED + 1
    )
    total = next((row["n"] for row in rows if row["name"] == "all"), 0)
    found: dict[str, list[FacetChoice]] = {}
    for row in rows:
        if row["name"] != "all" and row["value"] is not None:
            found.setdefault(row["name"], []).append(FacetChoice(value=row["value"], n=row["n"]))
    return Facets(total=min(total, MOST_COUNTED), at_least=total > MOST_COUNTED, facets=found)


async def correct(tx: Transaction, q: str) -> str | None:
    """The question with words that somebody writes instead of those that nobody does; None if there are none."""
    words = {word.lower() for word in WORD.findall(q) if len(word) >= _SHORTEST}
    if not words:
        return None
    unknown = await tx.fetch("select * from leasehold_postings.unknown_words($1)", sorted(words))
    better: dict[str, str] = {}
    for row in unknown:
        like = await tx.fetch("select word, n from leasehold_postings.words_like($1)", row[0])
        if found := nearest(row[0], [(one["word"], one["n"]) for one in like]):
            better[row[0]] = found
    if not better:
        return None
    return WORD.sub(lambda word: better.get(word[0].lower(), word[0]), q)


_CURSOR = TypeAdapter(tuple[int, datetime, UUID])


def _cursor(row: Mapping[str, Any]) -> str:
    place = [row["first"], row["first_seen"].isoformat(), str(row["posting_id"])]
    return urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def _place(cursor: str) -> list[int | str]:
    try:
        raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        first, seen, id_ = _CURSOR.validate_json(raw)
    except (ValueError, ValidationError):
        raise BadInput("the cursor is none of ours", hint="use next_cursor of the page before") from None
    if not -(2**31) <= first < 2**31 or seen.tzinfo is None:
        raise BadInput("the cursor is none of ours", hint="use next_cursor of the page before")
    return [first, seen.isoformat(), str(id_)]
