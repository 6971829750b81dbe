"""Soft and hard timeouts and the grace of a cancel, for all attempts with one timer.

A worker runs tens of attempts and starts thousands a second, and nearly none comes near its timeout. So there is no
timer for each and nothing to remove when one ends: the one timer is set for the earliest moment that anything is due,
and looks through what runs when it fires.
"""

import asyncio
import time
from collections.abc import Callable, Mapping

from leasehold.worker.execute import Execution, Stop


class Timeouts:
    """Watches ``running``; calls ``soft`` for an attempt whose soft timeout has passed."""

    def __init__(self, running: Mapping[int, Execution], soft: Callable[[Execution], None]) -> None:
        self._running = running
        self._soft = soft
        self._timer: asyncio.TimerHandle | None = None
        self._armed_for = float("inf")

    def watch(self, execution: Execution) -> None:
        """Look at this attempt no later than it is due. Again after its moments have changed."""
        self._arm(execution.due_at)

    def close(self) -> None:
        if self._timer:
            self._timer.cancel()

    def _arm(self, at: float) -> None:
        if at >= self._armed_for:
            return
        if self._timer:
            self._timer.cancel()
        self._armed_for = at
        self._timer = asyncio.get_running_loop().call_later(max(0.0, at - time.monotonic()), self._look)

    def _look(self) -> None:
        self._armed_for = float("inf")
        now = time.monotonic()
        for execution in list(self._running.values()):
            self._act(execution, now)
            if execution.due_at < float("inf"):
                self._arm(execution.due_at)

    def _act(self, execution: Execution, now: float) -> None:
        if execution.stop:
            return
        if execution.soft_at is not None and now >= execution.soft_at:
            execution.soft_at = None
            execution.look_at_moments()
            execution.signals.time_out()
            self._soft(execution)
        if now >= execution.hard_at:
            execution.interrupt(Stop.TIMED_OUT)
        elif execution.cancel_at is not None and now >= execution.cancel_at:
            execution.interrupt(Stop.CANCELED)
