"""Soft and hard timeouts and the grace of a cancel, for all attempts with one timer.

A worker runs tens of attempts and starts thousands a second, and nearly none comes near its timeout. So there is no
timer for each and nothing to remove when one ends: the one timer is set for the earliest moment that anything is due,
and looks through what runs when it fires.
"""

import asyncio
import time
from collections.abc import Callable, Mapping

from leasehold.program.running_attempt import RunningAttempt, Stop


class Timeouts:
    """Watches ``running``; calls ``soft`` for an attempt whose soft timeout has passed."""

    def __init__(self, running: Mapping[int, RunningAttempt], soft: Callable[[RunningAttempt], None]) -> None:
        self._running = running
        self._soft = soft
        self._timer: asyncio.TimerHandle | None = None
        self._armed_for = float("inf")

    def watch(self, attempt: RunningAttempt) -> None:
        """Look at this attempt no later than it is due. Again after its moments have changed."""
        self._arm(attempt.due_at)

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
        for attempt in list(self._running.values()):
            self._act(attempt, now)
            if attempt.due_at < float("inf"):
                self._arm(attempt.due_at)

    def _act(self, attempt: RunningAttempt, now: float) -> None:
        if attempt.stop:
            return
        if attempt.soft_at is not None and now >= attempt.soft_at:
            attempt.soft_at = None
            attempt.update_deadline()
            attempt.signals.time_out()
            self._soft(attempt)
        if now >= attempt.hard_at:
            attempt.interrupt(Stop.TIMED_OUT)
        elif attempt.cancel_at is not None and now >= attempt.cancel_at:
            attempt.interrupt(Stop.CANCELED)


async def wait_for(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait until the event is set, or for this long; whether it is set."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return event.is_set()
