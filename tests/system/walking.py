"""Which of our files a piece of work passes: calls of Python, counted by file."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

_ROOT = f"{Path(__file__).parents[2]}/"
_SOURCES = (f"{_ROOT}src/", f"{_ROOT}packs/src/")
#: A file with no more calls than this is not on the way: an import, a property, a look at the
#: clock.
FEW = 5


@contextmanager
def calls_by_file() -> Iterator[Counter[str]]:
    """Calls of this thread by file below ``src``. A coroutine that goes on counts as a call."""
    found: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(_SOURCES):
            found[frame.f_code.co_filename.removeprefix(_ROOT)] += 1

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)
