"""What a run of tests says: failures in three lines as they happen, and a record for ``tests.run``.

A test whose process uses more than SLOW_SECONDS of a processor and that is not marked ``long``
fails: move its clock, share what it starts, or mark it. By the clock it may take WAIT_SECONDS, times the
number of processes that compete for each processor: a disk that is slow for once fails no test.
"""

import json
import os
import resource
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

SLOW_SECONDS = 5.0
WAIT_SECONDS = 30.0
#: Where ``tests.run`` wants one line of JSON for each phase of a test.
RECORD = "TESTS_RECORD"
_TICKS = os.sysconf("SC_CLK_TCK")  # of /proc, in a second
_USED = pytest.StashKey[tuple[float, float]]()  # of processors at the end of the phase before


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    own = time.process_time()
    own_before, others_before = item.config.stash[_USED]
    others = _used_by_others() if report.when == "teardown" else others_before
    item.config.stash[_USED] = own, others
    report.user_properties.append(("cpu_seconds", own - own_before + others - others_before))
    counts = report.when == "call" and report.passed and item.get_closest_marker("long") is None
    if counts and (problem := too_slow(report.duration, own - own_before, _load())):
        report.outcome = "failed"
        report.longrepr = f"{problem}: move its clock, share what it starts, or mark it `long`"
    return report


def too_slow(seconds: float, cpu_seconds: float, load: float) -> str | None:
    """What is wrong with a test that took so long, at so many processes for each processor."""
    limit = WAIT_SECONDS * max(1.0, load)
    if cpu_seconds > SLOW_SECONDS:
        return f"the test used {cpu_seconds:.1f} s of a processor, and may use {SLOW_SECONDS:g} s"
    if seconds > limit:
        return f"the test took {seconds:.1f} s, and may take {limit:.1f} s at this load"
    return None


def _load() -> float:
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def _used_by_others() -> float:
    """By all that was started from here: servers, browsers and programs, ended or not."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + _used_below(os.getpid())


def _used_below(pid: int) -> float:
    """By processes that run, with what those that they started and that have ended have used."""
    used = 0.0
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # one that ended meanwhile
            for child in map(int, thread.read_text().split()):
                ticks = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[11:15]
                used += sum(map(int, ticks)) / _TICKS + _used_below(child)
    return used


def pytest_collection_finish(session: pytest.Session) -> None:
    session.config.stash[_USED] = time.process_time(), _used_by_others()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if path := os.environ.get(RECORD):
        line = {"test": report.nodeid, "when": report.when, "outcome": report.outcome, "seconds": report.duration}
        line |= dict(report.user_properties[-1:])
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
