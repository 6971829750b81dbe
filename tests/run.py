"""``python -m tests.run``: the tests, in processes that each collect a part of the folders.

At any time there are more processes than a machine has cores, as tests wait as long as they compute.
``[tool.leasehold.tests]`` in pyproject.toml gives each folder its budget in seconds of one process,
``[tool.leasehold.long_tests]`` that of its long tests. The budgets divide the folders into parts: one
that takes longer than its budget holds up no other. With paths, ``python -m tests.run tests/http``,
one process runs these.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.reporting import RECORD

ROOT = Path(__file__).parents[1]
PROCESSES = 4
PARTS = 10  # each starts a process and a server, which takes about two seconds of a processor
LONG = "mark.long"
UNKNOWN = 5.0  # seconds of a folder that has no budget
SLOWEST = 20
NO_TESTS = 5  # pytest's exit code when it selected none


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.run")
    parser.add_argument("--long", action="store_true", help="run the tests marked `long`, and no others")
    parser.add_argument("--only", nargs="*", default=[], help="folders, instead of all")
    parser.add_argument("paths", nargs="*", help="folders, files or tests that one process runs")
    chosen = parser.parse_args()
    if chosen.paths:
        return run_some(chosen.paths, with_long=chosen.long)
    table = "long_tests" if chosen.long else "tests"
    marks = "long" if chosen.long else "not long"
    all_budgets = read_budgets(table)
    budgets = {name: all_budgets[name] for name in all_budgets if _is_in(name, chosen.only)}
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="leasehold-tests-") as temporary:
        parts = [
            Part(
                number,
                folders,
                [path for folder in folders for path in paths_of(folder, all_budgets)],
                Path(temporary) / f"{number}.jsonl",
            )
            for number, folders in enumerate(divide(budgets, PARTS), 1)
        ]
        with ThreadPoolExecutor(PROCESSES) as pool:
            list(pool.map(lambda part: part.run(marks), parts))
        lines = [line for part in parts for line in part.record.read_text().splitlines()]
    return summarize(parts, [json.loads(line) for line in lines], budgets, time.monotonic() - began)


def run_some(paths: list[str], *, with_long: bool) -> int:
    """Who names a test wants it, however long it takes."""
    all_of_it = with_long or any("::" in path for path in paths)
    left_out = [] if all_of_it else ["-m", "not long"]
    others = "" if all_of_it else ", but for the long ones (LONG=1 runs these too)"
    print(" ".join(paths) + others, flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "--durations=5", *left_out, *paths]
    code = subprocess.run(command, cwd=ROOT, env=_environment()).returncode
    return 0 if code == NO_TESTS and not all_of_it else code


def _environment() -> dict[str, str]:
    """Processes that tests start shall not compile their modules anew."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def read_budgets(table: str) -> dict[str, float]:
    """Seconds of folders, and of files that are too long for one part with their folder."""
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["leasehold"]
    found = {
        str(path.parent.relative_to(ROOT / "tests"))
        for path in (ROOT / "tests").rglob("test_*.py")
        if table == "tests" or LONG in path.read_text()
    }
    if missing := sorted(found - set(tables[table])):
        print(f"[tool.leasehold.{table}] in pyproject.toml has no budget for {', '.join(missing)}")
    budgets: dict[str, float] = dict.fromkeys(missing, UNKNOWN) | tables[table]
    return budgets


def divide(budgets: dict[str, float], parts: int) -> list[list[str]]:
    """The folders in parts of the same time, the longest first: the largest goes to the shortest."""
    loads, divided = [0.0] * parts, [list[str]() for _ in range(parts)]
    for folder, seconds in sorted(budgets.items(), key=lambda item: -item[1]):
        shortest = loads.index(min(loads))
        loads[shortest] += seconds
        divided[shortest].append(folder)
    order = sorted(range(parts), key=lambda part: -loads[part])
    return [divided[part] for part in order if divided[part]]


def paths_of(folder: str, budgets: dict[str, float]) -> list[str]:
    """What pytest is given: the folder, or those of its files that have no budget elsewhere."""
    if not any(_is_in(other, [folder]) and other != folder for other in budgets):
        return [f"tests/{folder}"]
    files = sorted((ROOT / "tests" / folder).glob("test_*.py"))
    names = [str(path.relative_to(ROOT / "tests")) for path in files]
    return [f"tests/{name}" for name in names if name not in budgets]


def _is_in(folder: str, chosen: list[str]) -> bool:
    return not chosen or any(part in (".", folder) or folder.startswith(f"{part}/") for part in chosen)


@dataclass
class Part:
    """One process of pytest, with its part of the folders."""

    number: int
    folders: list[str]
    paths: list[str]
    record: Path
    code: int = 0
    words: list[str] = field(default_factory=list)

    def run(self, marks: str) -> None:
        print(f"process {self.number}: {' '.join(self.folders)}", flush=True)
        began = time.monotonic()
        self.record.touch()
        command = [sys.executable, "-m", "pytest", "-q", "--no-header"]
        command += ["-m", marks, *self.paths]
        with subprocess.Popen(
            command,
            cwd=ROOT,
            env=_environment() | {RECORD: str(self.record)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                self.words.append(line.rstrip())
                if "%]" in line:
                    print(line, end="", flush=True)
        self.code = 0 if process.returncode == NO_TESTS else process.returncode
        print(f"process {self.number} took {time.monotonic() - began:.0f} s", flush=True)


def summarize(parts: list[Part], reports: list[dict[str, Any]], budgets: dict[str, float], took: float) -> int:
    """Failures first, in three lines each; then where the time went, and one closing line."""
    failed = [report for report in reports if report["outcome"] == "failed"]
    ended_badly = [part for part in parts if part.code != 0]
    for part in ended_badly:
        print(f"\n-- process {part.number} --\n" + "\n".join(line for line in part.words if "%]" not in line))
    print()
    for report in failed:
        print("\n".join(report["lines"]))
    show_times(reports, budgets)
    tests = {report["test"]: report["outcome"] for report in reports if report["when"] == "call"}
    passed = list(tests.values()).count("passed")
    broken = {report["test"] for report in failed}
    print(f"\n{len(reports)} phases of {len(tests)} tests in {took:.0f} s")
    print(f"{passed - len(broken & {t for t, o in tests.items() if o == 'passed'})} passed, {len(broken)} failed")
    return 1 if failed or ended_badly or not tests else 0


def show_times(reports: list[dict[str, Any]], budgets: dict[str, float]) -> None:
    """The slowest tests, and each folder beside its budget."""
    tests: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    folders: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for report in reports:
        for sums in (tests[report["test"]], folders[folder_of(report["test"], budgets)]):
            sums[0] += report["seconds"]
            sums[1] += report["cpu_seconds"]
    print(f"the {SLOWEST} slowest: seconds, those of the processor")
    for test, (seconds, cpu) in sorted(tests.items(), key=lambda item: -item[1][0])[:SLOWEST]:
        print(f"  {seconds:6.1f} {cpu:6.1f}  {test}")
    print("by folder: seconds, those of the processor, budget in seconds")
    rows = [(folder, seconds, cpu, budgets.get(folder, 0)) for folder, (seconds, cpu) in folders.items()]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows), sum(budgets.values())))
    for folder, seconds, cpu, budget in sorted(rows, key=lambda row: -row[1]):
        above = "  <- above its budget" if seconds > budget > 0 else ""
        print(f"  {seconds:6.1f} {cpu:6.1f} {budget:6g}  {folder}{above}")


def folder_of(test: str, budgets: dict[str, float]) -> str:
    """The file of the test, or the innermost folder, that has a budget."""
    parts = test.split("::")[0].split("/")[1:]
    inner = ["/".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return next((folder for folder in inner if folder in budgets), ".")


if __name__ == "__main__":
    sys.exit(main())
