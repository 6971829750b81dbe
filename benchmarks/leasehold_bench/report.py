"""What a benchmark found: every repetition, the medians, what is void. The JSON of `bench peers` has this shape too."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from leasehold_bench.sizes import Measures

US = "leasehold"
#: Measure → system → its values, one for each repetition.
Results = dict[str, dict[str, list[Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Filled while the benchmark runs."""

    about: dict[str, Any]  # machine, server, command, sizes
    results: Results = field(default_factory=dict)
    void: list[dict[str, str]] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)  # by scenario

    def add(self, measures: Measures) -> None:
        for name, value in measures.items():
            self.results.setdefault(name, {}).setdefault(US, []).append(_rounded(value))

    def as_json(self) -> dict[str, Any]:
        return {
            **self.about,
            "results": self.results,
            "medians": medians(self.results),
            "void": self.void,
            "notes": self.notes,
        }


def medians(results: Mapping[str, Mapping[str, list[Any]]]) -> dict[str, dict[str, float]]:
    """Of every measure that is a figure, not a series."""
    return {
        measure: {system: _rounded(statistics.median(values)) for system, values in systems.items()}
        for measure, systems in results.items()
        if not any(isinstance(value, list) for values in systems.values() for value in values)
    }


def ratios(middle: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Ours divided by theirs, for rates and times; of a rate more is better, of a time less."""
    return {
        measure: {system: round(systems[US] / value, 2) for system, value in systems.items() if system != US and value}
        for measure, systems in middle.items()
        if US in systems and ("/s" in measure or " ms" in measure)
    }


def table(document: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows for people, of our own JSON or of that of `bench peers`."""
    systems = list(dict.fromkeys(system for of in document["results"].values() for system in of))
    others = [system for system in systems if system != US]
    columns = ["measure", US, *(f"{system} (ratio)" for system in others)]
    rows = [_row(measure, of, others) for measure, of in document["results"].items()]
    voids = [[f"{void['scenario']} void", void["why"]] for void in document.get("void", [])]
    failed = [["failed", words] for words in document.get("failed", [])]
    return columns, sorted(rows, key=lambda row: row[0][0]) + voids + failed


def _row(measure: str, of: Mapping[str, list[Any]], others: list[str]) -> list[str]:
    ratio = ratios(medians({measure: of})).get(measure, {})
    theirs = [_shown(of.get(system)) + (f" ({ratio[system]:g}×)" if system in ratio else "") for system in others]
    return [measure, _shown(of.get(US)), *theirs]


def _shown(values: list[Any] | None) -> str:
    if not values:
        return "-"
    if isinstance(values[-1], list):
        return " ".join(_figure(value) for value in values[-1])
    middle = _figure(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({_figure(min(values))}–{_figure(max(values))})"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _rounded(value: Any) -> Any:
    """Four digits are more than any of this is good for; a whole number stays one."""
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return round(value) if abs(value) >= 1000 else float(f"{value:.4g}")
