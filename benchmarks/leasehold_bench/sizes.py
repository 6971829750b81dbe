"""What scenarios work with, and what they give."""

from dataclasses import dataclass, fields, replace

from leasehold.errors import LeaseholdError
from leasehold_bench.scratch_database import Rows
from leasehold_bench.server import BenchmarkServer

#: By name: a figure, or the figures of a series.
Measures = dict[str, float | list[float]]

#: A slower drain is cut, and its rate taken over what was done.
LIMIT_SECONDS = 120.0
#: What a worker is given to come to rest.
IDLE_SECONDS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Numbers of jobs."""

    enqueue: int = 1_500
    bulk: int = 20_000
    drain: int = 60_000
    probes: int = 200
    backlog: int = 1_000_000
    snapshot: int = 220_000
    window: int = 20_000
    concurrent: int = 8_000
    small: int = 99 * 6
    flood: int = 10_000
    great_flood: int = 1_000_000
    history: int = 10_000_000
    endpoints: int = 1_000
    events: int = 120
    fetch: int = 5_000

    @classmethod
    def chosen(cls, *, quick: bool, scale: float) -> "Sizes":
        sizes = replace(cls(), backlog=100_000, great_flood=100_000, history=1_000_000) if quick else cls()
        return cls(**{f.name: max(2, round(getattr(sizes, f.name) * scale)) for f in fields(cls)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where to measure, how much, and how often."""

    server: BenchmarkServer
    sizes: Sizes
    repetitions: int


def expect(found: Rows, wanted: Rows) -> None:
    """A run whose rows are not those of its jobs is void."""
    if found != wanted:
        raise LeaseholdError(f"there are {_listed(found)}, not {_listed(wanted)}")


def _listed(rows: Rows) -> str:
    return f"{rows.job} jobs, {rows.attempt} attempts, {rows.outcome} outcomes"
