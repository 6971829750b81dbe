"""A frozen host: every process of a PostgreSQL is stopped. Its kernel goes on taking connections and bytes."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def frozen(postmaster: int) -> Iterator[None]:
    """Nothing of this server runs during the block."""
    _signal(signal.SIGSTOP, postmaster)  # first: it starts no more processes
    for child in _children(postmaster):
        _signal(signal.SIGSTOP, child)
    try:
        yield
    finally:
        for process in (*_children(postmaster), postmaster):
            _signal(signal.SIGCONT, process)


def _children(postmaster: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == postmaster:
                found.append(int(entry.name))
    return found


def _signal(number: int, process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)
