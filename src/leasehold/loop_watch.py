"""Who blocks the event loop of a worker, said while it does.

A handler that sleeps or computes in the loop stops every other attempt of the process, and neither a trace nor an error
tells of it afterwards. So another thread looks whether the loop still turns, and where it stands if it does not.
"""

import asyncio
import logging
import sys
import sysconfig
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from types import FrameType
from typing import Protocol

from leasehold.job import ClaimedJob
from leasehold.log import emit

#: How often to look. Two looks at the same step of the same attempt, and it blocks.
LOOK_SECONDS = 0.5
_HINT = "a handler that is a plain def runs in a thread, and so does what await asyncio.to_thread(…) calls"
_INSTALLED = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


class Attempt(Protocol):
    @property
    def job(self) -> ClaimedJob: ...

    @property
    def task(self) -> "asyncio.Task[None] | None": ...


class LoopWatch:
    """Made in the thread of the loop; ``look`` is called in another one, every ``LOOK_SECONDS``.

    Looks are counted, not seconds: a process that was suspended for an hour has blocked nobody.
    """

    def __init__(self, running: Callable[[], Collection[Attempt]]) -> None:
        self._running = running
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._answered = True
        self._suspect: tuple[object, Attempt | None] | None = None
        self._said = False

    def look(self) -> None:
        if self._answered:
            self._suspect, self._said = None, False
            if self._running():  # an idle worker is not woken for this
                self._answered = False
                with suppress(RuntimeError):  # the loop has ended meanwhile
                    self._loop.call_soon_threadsafe(self._answer)
            return
        task = asyncio.current_task(self._loop)
        found = None if task is None else (task, self._attempt_of(task))
        if found and found == self._suspect and not self._said:
            self._said = True
            self._say(found[1])
        self._suspect = found

    def _answer(self) -> None:
        self._answered = True

    def _attempt_of(self, task: "asyncio.Task[object]") -> Attempt | None:
        """That of the task, or the one whose first step it does, which has no task yet. A task that a handler has made
        is anybody's, unless one attempt runs alone."""
        running = self._running()
        for one in running:
            if one.task is task or one.task is None:
                return one
        return next(iter(running)) if len(running) == 1 else None

    def _say(self, attempt: Attempt | None) -> None:
        job = attempt.job if attempt else None
        emit(
            "handler blocks the event loop",
            level=logging.WARNING,
            kind=job and job.kind,
            job_id=job and job.job_id,
            at=_place(sys._current_frames().get(self._thread)),
            others=len(self._running()) - 1,
            hint=_HINT,
        )


def _place(frame: FrameType | None) -> str | None:
    """The innermost line of the program itself, where there is one: not that of a library that it calls."""
    innermost = frame
    while frame and frame.f_code.co_filename.startswith((*_INSTALLED, "<frozen")):
        frame = frame.f_back
    found = frame or innermost
    return f"{found.f_code.co_filename}:{found.f_lineno} in {found.f_code.co_name}" if found else None
