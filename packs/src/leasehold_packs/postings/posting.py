"""A posting as a board tells it, and the facts by which one is compared with what it was before."""

from collections import Counter
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import TypeAlias

from leasehold_packs.postings import normalize, pay
from leasehold_packs.postings.html_text import web_address
from leasehold_packs.postings.pay import Salary
from leasehold_packs.webfacts.page_change import facts_digest

#: The version of the rules that make the facts: a posting that is read by other rules has not changed by that.
EXTRACTOR = "1"
#: The share of words from which on another wording is another description.
MATERIAL = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """``description`` is None where a list does not carry it. ``mark`` is what a list says about its last change."""

    external_id: str
    url: str
    title: str
    locations: tuple[str, ...] = ()
    remote: str | None = None
    employment: str | None = None
    level: str | None = None
    department: str | None = None
    requisition: str | None = None
    salary: Salary | None = None
    posted_at: str | None = None
    valid_through: str | None = None
    language: str | None = None
    description: str | None = None
    mark: str | None = None

    def __post_init__(self) -> None:
        """Whoever keeps a board writes the address, and people click on it: it leads to the web, or nowhere."""
        object.__setattr__(self, "url", web_address(self.url))

    def with_detail(self, detail: "Posting") -> "Posting":
        """What the detail says, and what only the list has said."""
        ours = {name: getattr(self, name) for name in self.__slots__}
        theirs = {name: value for name in self.__slots__ if (value := getattr(detail, name)) not in (None, (), "")}
        kept = {"external_id": self.external_id, "url": self.url, "mark": self.mark}
        return replace(self, **ours | theirs | kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSalary:
    """A salary as it was published; amounts are text, to stay exact."""

    min: str | None
    max: str | None
    currency: str | None
    interval: str | None
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts that count, and beside them what was published."""

    title: str
    locations: list[str]
    remote: str | None
    employment: str | None
    employment_text: str | None
    seniority: str | None
    level_text: str | None
    department: str | None
    requisition: str | None
    salary: PublishedSalary | None
    amounts: list[str]
    posted_at: str | None
    valid_through: str | None
    language: str | None
    url: str
    description: str


#: By field: what it was and is, the share of a text that was rewritten, or the posting that this one repeats.
FieldChanges: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What is other than before, by field; ``minor`` if it is a few words of the description alone."""

    fields: FieldChanges
    minor: bool


def facts_of(posting: Posting) -> Facts:
    text = posting.description or ""
    words = _words(text)
    salary = posting.salary or pay.of_text(words)
    return Facts(
        title=posting.title,
        locations=sorted(set(posting.locations)),
        remote=normalize.remote_of(posting.remote, " ".join(posting.locations), posting.title),
        employment=normalize.employment_of(posting.employment),
        employment_text=posting.employment,
        seniority=normalize.seniority_of(posting.title, posting.level),
        level_text=posting.level,
        department=posting.department,
        requisition=posting.requisition,
        salary=_salary(salary),
        amounts=pay.amounts(words),
        posted_at=posting.posted_at,
        valid_through=posting.valid_through,
        language=posting.language,
        url=posting.url,
        description=text,
    )


#: What decides whether a posting has changed. Addresses, dates and marks of boards change without a reader seeing it.
COUNTED = (
    "title",
    "locations",
    "remote",
    "employment",
    "department",
    "salary",
    "amounts",
    "valid_through",
    "description",
)


def digest_of(facts: Facts) -> str:
    """SHA-256 of the canonical JSON (RFC 8785) of the facts that count."""
    counted = {name: _plain(getattr(facts, name)) for name in COUNTED}
    return facts_digest(counted | {"description": _words(facts.description), "extractor": EXTRACTOR})


def compare(before: Facts, after: Facts) -> Difference:
    fields: FieldChanges = {
        name: [_plain(getattr(before, name)), _plain(getattr(after, name))]
        for name in COUNTED
        if name != "description" and getattr(before, name) != getattr(after, name)
    }
    share = _reworded(before.description, after.description)
    if share:
        fields["description"] = {"share": round(share, 4)}
    return Difference(fields=fields, minor=fields.keys() <= {"description"} and share < MATERIAL)


def _plain(value: object) -> object:
    return asdict(value) if isinstance(value, PublishedSalary) else value


def merged(postings: list[Posting]) -> list[Posting]:
    """Each posting once: boards list one for each of its places. In the order of the board."""
    found: dict[str, Posting] = {}
    for one in postings:
        if (known := found.get(one.external_id)) is None:
            found[one.external_id] = one
        else:
            found[one.external_id] = replace(known, locations=tuple(dict.fromkeys(known.locations + one.locations)))
    return list(found.values())


def moment(text: str | None) -> datetime | None:
    """A time that a board wrote, if it has a time zone."""
    try:
        found = datetime.fromisoformat((text or "").replace(" UTC", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo else None


def _salary(salary: Salary | None) -> PublishedSalary | None:
    if salary is None:
        return None
    return PublishedSalary(
        min=_number(salary.low),
        max=_number(salary.high),
        currency=salary.currency,
        interval=salary.interval,
        text=salary.text,
    )


def _number(value: Decimal | None) -> str | None:
    return None if value is None else format(value.normalize(), "f")


def _reworded(before: str, after: str) -> float:
    """The share of words that are in one of the texts and not in the other."""
    if _words(before) == _words(after):
        return 0.0
    old, new = Counter(before.split()), Counter(after.split())
    changed = max((old - new).total(), (new - old).total())
    return max(changed, 1) / max(old.total(), new.total(), 1)


def _words(text: str) -> str:
    return " ".join(text.split())
