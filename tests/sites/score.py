"""Precision and recall of findings, by kind of fault."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

Places = Collection[tuple[str, str]]  # kind and address


@dataclass(frozen=True)
class Score:
    planted: int
    found: int  # of those that are planted
    wrong: int  # found where nothing is planted

    @property
    def precision(self) -> float | None:
        """None where nothing was found."""
        return self.found / (self.found + self.wrong) if self.found + self.wrong else None

    @property
    def recall(self) -> float | None:
        """None where nothing is planted."""
        return self.found / self.planted if self.planted else None


def score(truth: Mapping[str, Collection[str]], findings: Places) -> dict[str, Score]:
    """Of each kind that is planted or found."""
    planted = {(kind, url) for url, kinds in truth.items() for kind in kinds}
    found = set(findings)
    return {
        kind: Score(
            planted=_of(kind, planted),
            found=_of(kind, planted & found),
            wrong=_of(kind, found - planted),
        )
        for kind in sorted({kind for kind, _ in planted | found})
    }


def _of(kind: str, places: Places) -> int:
    return sum(one == kind for one, _ in places)
