"""What a run was and what it found: one sentence, and a file."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.chaos.invariants import INVARIANTS
from tests.chaos.latency import p99


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    seed: int
    minutes: float
    mutant: str | None
    faults: Mapping[str, int]
    missed: Mapping[str, int]
    deaths: int  # of processes that nobody had killed: of poison, or of too little memory
    jobs: int
    attempts: Mapping[str, int]
    outcomes: Mapping[str, int]
    ops: Mapping[str, int]
    strange: Sequence[str]  # errors of clients that are none of ours
    broken: Mapping[str, Sequence[str]]
    latencies: Mapping[str, Sequence[float]]  # of the bystander's enqueues, during each kind of fault
    unmeasured: int  # enqueues on a machine that was too busy to tell
    drain_seconds: float

    def sentence(self) -> str:
        counts = Counter(self.faults)
        extra = {name: counts.pop(name, 0) for name in ("backends", "connections cut", "connections abandoned")}
        kinds = ", ".join(f"{n} × {kind}" for kind, n in sorted(counts.items()))
        missed = "".join(f", {n} × {kind} not injected" for kind, n in sorted(self.missed.items()))
        broken = f"broken: {', '.join(self.broken)}" if self.broken else "0 invariants broken"
        return (
            f"seed {self.seed}: {counts.total()} faults ({kinds}{missed};"
            f" {extra['connections cut']} connections cut and {extra['connections abandoned']} abandoned,"
            f" {extra['backends']} backends terminated),"
            f" {self.jobs} jobs checked{self._slowness()}, {broken}."
        )

    def _slowness(self) -> str:
        whole = self.latencies.get("any fault", ())
        p99_of = f" {p99(whole):.2f} s at p99" if whole else ""
        left_out = f" and {self.unmeasured} not, on a busy machine" if self.unmeasured else ""
        return f", {len(whole)} enqueues of a bystander measured{p99_of}{left_out}"

    def write(self, folder: Path) -> Path:
        name = f"seed-{self.seed}{f'-{self.mutant}' if self.mutant else ''}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(asdict(self), indent=2) + "\n")
        path = folder / f"{name}.md"
        path.write_text(self._markdown())
        return path

    def _markdown(self) -> str:
        lines = [f"# Chaos, seed {self.seed}", "", self.sentence(), ""]
        if self.mutant:
            lines += [f"The build was changed on purpose: {self.mutant}.", ""]
        lines += ["| | |", "|---|---|", f"| minutes of faults | {self.minutes:g} |"]
        lines += [
            f"| seconds to drain | {self.drain_seconds:.0f} |",
            f"| processes that died by themselves | {self.deaths} |",
        ]
        for title, counts in (("attempts", self.attempts), ("outcomes", self.outcomes), ("operations", self.ops)):
            lines.append(f"| {title} | {', '.join(f'{n} {name}' for name, n in sorted(counts.items()))} |")
        lines += ["", "| a bystander's enqueue during | measured | median | p99 | slowest |", "|---|---|---|---|---|"]
        for when, seconds in self.latencies.items():
            figures = (seconds[len(seconds) // 2], p99(seconds), seconds[-1])
            lines.append(f"| {when} | {len(seconds)} | {' | '.join(f'{one:.3f} s' for one in figures)} |")
        lines += ["", "| invariant | | broken |", "|---|---|---|"]
        for rule in INVARIANTS:
            name = rule.__name__.upper()
            lines.append(f"| {name} | {rule.__doc__} | {len(self.broken.get(name, ()))} |")
        for name, sentences in self.broken.items():
            lines += ["", f"## {name}", "", *(f"- {sentence}" for sentence in sentences[:50])]
        if self.strange:
            lines += ["", "## Errors that are none of ours", "", *(f"- {one}" for one in self.strange[:50])]
        return "\n".join(lines) + "\n"
