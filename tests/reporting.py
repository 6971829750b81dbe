"""What a run of tests says: failures in three lines as they happen, slow tests, and a record for ``tests.run``.

A test that takes longer than SLOW_SECONDS and is not marked ``long`` is named at the end: move its clock, share what it
starts, or mark it.
"""

import json
import os
from collections.abc import Generator
from pathlib import Path

import pytest

SLOW_SECONDS = 5.0
#: Where ``tests.run`` wants one line of JSON for each test.
RECORD = "TESTS_RECORD"

_slow: list[tuple[str, float]] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    is_slow = report.when == "call" and report.passed and report.duration > SLOW_SECONDS
    if is_slow and item.get_closest_marker("long") is None:
        _slow.append((report.nodeid, report.duration))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if path := os.environ.get(RECORD):
        line = {"test": report.nodeid, "when": report.when, "outcome": report.outcome, "seconds": report.duration}
        if report.failed:
            line["lines"] = three_lines(report)
        with Path(path).open("a") as record:
            record.write(json.dumps(line) + "\n")
    elif report.failed:
        print("\n" + "\n".join(three_lines(report)), flush=True)


def three_lines(report: pytest.TestReport) -> list[str]:
    """Which test, what was wrong, and where."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None:
        words = str(report.longrepr).strip().splitlines() or ["no words"]
        return [f"FAILED {report.nodeid}", f"  {words[-1]}", f"  in {report.when}"]
    return [f"FAILED {report.nodeid}", f"  {crash.message.splitlines()[0]}", f"  {crash.path}:{crash.lineno}"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for test, seconds in _slow:
        terminalreporter.write_line(f"slow: {test} {seconds:.1f} s")
