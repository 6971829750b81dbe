"""One number for a run, with its arithmetic shown.

score = 100 − the sum over groups of min(cap, the sum over checks of weight × share of pages that have it)

A site that a crawler may not read at all has at most 30, whatever else is right.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from leasehold_packs.audits.recipe import checks

#: No group takes more than this: a site without one kind of care is not therefore worthless.
GROUP_CAP = 40.0
UNREADABLE_CAP = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """What one check takes."""

    check: str
    group: str
    weight: int
    affected: int
    pages: int

    @property
    def taken(self) -> float:
        return self.weight * min(self.affected / self.pages, 1.0) if self.pages else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    value: float
    terms: tuple[Term, ...]
    groups: Mapping[str, float]
    is_readable: bool

    def arithmetic(self) -> str:
        """The sum as a person would write it."""
        parts = " ".join(f"− {taken:.2f} ({group})" for group, taken in self.groups.items())
        capped = "" if self.is_readable else f", at most {UNREADABLE_CAP:.0f} because no page may be indexed"
        return f"100 {parts} = {self.value:.2f}{capped}".replace("  ", " ")


def score(affected: Mapping[str, int], *, pages: int, indexable: int) -> Score:
    """``affected``: how many pages have each check. Findings about the site as a whole count as one page of one."""
    terms = tuple(_terms(affected, max(pages, 1)))
    groups: dict[str, float] = {}
    for term in terms:
        groups[term.group] = min(GROUP_CAP, groups.get(term.group, 0.0) + term.taken)
    value = max(0.0, 100.0 - sum(groups.values()))
    is_readable = indexable > 0
    return Score(
        value=round(value if is_readable else min(value, UNREADABLE_CAP), 2),
        terms=terms,
        groups=groups,
        is_readable=is_readable,
    )


def _terms(affected: Mapping[str, int], pages: int) -> Iterable[Term]:
    for check in checks().values():
        if n := affected.get(check.id):
            whole = check.scope == "site"
            yield Term(
                check=check.id,
                group=check.group,
                weight=check.severity.weight,
                affected=1 if whole else n,
                pages=1 if whole else pages,
            )
