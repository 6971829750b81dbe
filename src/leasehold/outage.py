"""A service that goes away and comes back: one log line for each, whoever notices, and pauses that grow meanwhile."""

import random
import threading
import time
from collections.abc import Callable

from leasehold.errors import LeaseholdError, Unreachable

#: Many processes come back from one outage, and should not come at once.
_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 5.0
#: The pause is this share of the outage so far.
_PAUSE_SHARE = 0.5

#: Calls that were sent before the end of an outage may still fail so long after it.
_SETTLED_SECONDS = 0.5


class Outage:
    """What one process knows of one service. Threads may share it."""

    def __init__(self) -> None:
        self.since: float | None = None  # None: it answers, as far as is known
        self._gone: Callable[[LeaseholdError], None] = lambda problem: None
        self._back: Callable[[float], None] = lambda seconds: None
        self._back_at = -_SETTLED_SECONDS
        self._lock = threading.Lock()

    def announce(self, gone: Callable[[LeaseholdError], None], back: Callable[[float], None]) -> None:
        """Call these when it goes away, and when it is back after so many seconds: they write the lines."""
        self._gone, self._back = gone, back

    def begin(self, problem: LeaseholdError, *, waited_s: float = 0.0) -> None:
        """A call has failed, after ``waited_s`` without an answer; one that was sent before the last outage ended
        tells nothing."""
        with self._lock:
            now = time.monotonic()
            if self.since is not None or now - waited_s < self._back_at + _SETTLED_SECONDS:
                return
            self.since = now
        self._gone(problem)

    def end(self) -> None:
        """A call was answered."""
        if self.since is not None and (since := self._forget()) is not None:
            self._back(self._back_at - since)

    def _forget(self) -> float | None:
        """When the outage began; None if another thread has just noticed its end."""
        with self._lock:
            since, self.since, self._back_at = self.since, None, time.monotonic()
            return since

    def covers(self, problem: LeaseholdError, *, waited_s: float = 0.0) -> bool:
        """Whether the line about the outage has said this already; ``waited_s`` as for ``begin``."""
        is_away = self.since is not None or time.monotonic() - waited_s < self._back_at
        return is_away and isinstance(problem, Unreachable)

    def pause_seconds(self) -> float:
        """How long to wait before another try."""
        lasted = 0.0 if self.since is None else time.monotonic() - self.since
        longest = min(_LONGEST_PAUSE_SECONDS, max(_FIRST_PAUSE_SECONDS, _PAUSE_SHARE * lasted))
        return random.uniform(0.1, 1.0) * longest
