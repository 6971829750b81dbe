"""A question about postings as the address of a page says it, and the addresses of questions that differ a little."""

from dataclasses import dataclass, fields
from datetime import UTC, datetime, time, timedelta
from typing import Any, cast
from urllib.parse import parse_qs, urlencode
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from leasehold.errors import BadInput
from leasehold_packs.postings.model_postings import SavedQuery
from leasehold_packs.postings.search import MOST_LETTERS, Query

#: Choices that the facets of a page offer, with the words above them.
CHOICES = {"company": "Company", "remote": "Where from", "seniority": "Level", "employment": "Hours"}
_TEXTS = ("q", "place", "salary_min", "currency", "as_of")
_MOST = 500
_LISTS = ("company", "source", "remote", "seniority", "employment", "state")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchForm:
    """A search as the address of a page says it: texts as they were typed, and choices."""

    q: str = ""
    place: str = ""
    salary_min: str = ""
    currency: str = ""
    as_of: str = ""
    mine: bool = False
    exact: bool = False
    company: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    remote: tuple[str, ...] = ()
    seniority: tuple[str, ...] = ()
    employment: tuple[str, ...] = ()
    state: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> "SearchForm":
        """From what stands after the question mark of an address."""
        given = parse_qs(text, max_num_fields=_MOST)

        def first(name: str) -> str:
            return given.get(name, [""])[0].strip()[:MOST_LETTERS]

        def every(name: str) -> tuple[str, ...]:
            return tuple(dict.fromkeys(given.get(name, [])))

        return cls(
            q=first("q"),
            place=first("place"),
            salary_min=first("salary_min"),
            currency=first("currency"),
            as_of=first("as_of"),
            mine="mine" in given,
            exact="exact" in given,
            company=every("company"),
            source=every("source"),
            remote=every("remote"),
            seniority=every("seniority"),
            employment=every("employment"),
            state=every("state"),
        )

    @classmethod
    def saved(cls, query: SavedQuery) -> "SearchForm":
        """From what a saved search looks for."""
        known = {**query}
        texts = [(name, str(known[name])) for name in _TEXTS if name in known]
        choices = [(name, one) for name in _LISTS for one in cast("list[str]", known.get(name, []))]
        return cls.of(urlencode(texts + choices))

    def query(self, zone: ZoneInfo) -> Query:
        """The same as search takes it; what cannot be meant is refused in words. Days are those of ``zone``."""
        try:
            return Query(
                q=self.q or None,
                company=[UUID(one) for one in self.company],
                source=[UUID(one) for one in self.source],
                remote=list(self.remote),  # type: ignore[arg-type]
                seniority=list(self.seniority),  # type: ignore[arg-type]
                employment=list(self.employment),  # type: ignore[arg-type]
                state=list(self.state),  # type: ignore[arg-type]
                place=self.place[:100] or None,
                salary_min=float(self.salary_min) if self.salary_min else None,
                currency=(self.currency.upper() or "USD") if self.salary_min else None,
                as_of=end_of_day(self.as_of, zone) if self.as_of else None,
            )
        except ValidationError as problem:
            wrong = problem.errors()[0]
            raise BadInput(f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}") from None
        except ValueError:
            raise BadInput("this search cannot be read", hint="a salary is a number, a company an id") from None

    def address(self, *, drop: tuple[str, str] | None = None, add: tuple[str, str] | None = None, **other: Any) -> str:
        """The page of the same question with one choice more or less, or with other texts."""
        pairs: list[tuple[str, str]] = []
        for field in fields(self):
            value = other.pop(field.name, getattr(self, field.name))
            values = list(value) if isinstance(value, tuple) else [value]
            if drop and drop[0] == field.name:
                values = [one for one in values if one != drop[1]] if isinstance(value, tuple) else []
            if add and add[0] == field.name:
                values = [*values, add[1]] if isinstance(value, tuple) else [add[1]]
            pairs += [(field.name, "1" if one is True else str(one)) for one in values if one]
        pairs += [(name, str(value)) for name, value in other.items() if value]
        return f"/postings?{urlencode(pairs)}" if pairs else "/postings"

    def to_save(self) -> SavedQuery:
        """As a saved search looks for it: without a moment, and without what does not matter."""
        saved: dict[str, object] = {name: list(getattr(self, name)) for name in _LISTS if getattr(self, name)}
        saved |= {name: getattr(self, name) for name in ("q", "place") if getattr(self, name)}
        if self.salary_min:
            saved |= {"salary_min": float(self.salary_min), "currency": self.currency.upper() or "USD"}
        return cast("SavedQuery", saved)

    def chosen(self, names: dict[str, str]) -> list[tuple[str, str, str]]:
        """Every choice with its words and the address without it; ``names`` are those of companies and sources."""
        found = [
            (name, names.get(value, value.replace("_", " ")), self.address(drop=(name, value)))
            for name in _LISTS
            for value in getattr(self, name)
        ]
        if self.place:
            found.append(("place", self.place, self.address(place="")))
        if self.salary_min:
            words = f"{self.salary_min} {self.currency.upper() or 'USD'} or more"
            found.append(("salary", words, self.address(salary_min="", currency="")))
        if self.as_of:
            found.append(("as_of", f"as of {self.as_of}", self.address(as_of="")))
        return found


def end_of_day(text: str, zone: ZoneInfo) -> datetime:
    """What was open on a day was so at its end; today's end is now."""
    try:
        day = datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007 -- a day, which gets its zone below
    except ValueError:
        raise BadInput(f"{text[:20]!r} is no day", hint="as in 2030-01-31") from None
    end = datetime.combine(day, time.min, zone) + timedelta(days=1)
    return min(end.astimezone(UTC), datetime.now(UTC))
