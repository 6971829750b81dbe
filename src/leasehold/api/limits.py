"""Request limits, counted in memory: they hold for one process, and start anew with it."""

import time
from collections import OrderedDict
from dataclasses import dataclass

from leasehold.api.problems import Problem

WINDOW_SECONDS = 60
#: Names that are remembered at most; the one not seen for longest is forgotten.
_MOST_NAMES = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What is left of a limit, and when it begins anew."""

    limit: int
    left: int
    resets_in: int

    @property
    def headers(self) -> dict[str, str]:
        return {
            "RateLimit-Policy": f'"default";q={self.limit};w={WINDOW_SECONDS}',
            "RateLimit": f'"default";r={max(0, self.left)};t={self.resets_in}',
        }


class Limiter:
    """So many in a window of one minute, for each name."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._windows: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def take(self, name: str) -> Allowance:
        """Count one; ``left`` is negative when it was too many."""
        began, count = self._window(name)
        self._windows[name] = (began, count + 1)
        self._windows.move_to_end(name)
        if len(self._windows) > _MOST_NAMES:
            self._windows.popitem(last=False)
        return self._allowance(began, count + 1)

    def look(self, name: str) -> Allowance:
        """What is left, without counting."""
        return self._allowance(*self._window(name))

    def _window(self, name: str) -> tuple[float, int]:
        now = time.monotonic()
        began, count = self._windows.get(name, (now, 0))
        return (began, count) if now - began < WINDOW_SECONDS else (now, 0)

    def _allowance(self, began: float, count: int) -> Allowance:
        resets_in = max(1, round(began + WINDOW_SECONDS - time.monotonic()))
        return Allowance(limit=self._limit, left=self._limit - count, resets_in=resets_in)


def refuse_if_spent(allowance: Allowance, *, left: int = 0) -> None:
    if allowance.left < left:
        raise Problem(
            "rate_limited",
            f"more than {allowance.limit} in {WINDOW_SECONDS} seconds",
            hint=f"try again in {allowance.resets_in} seconds",
            retry_after=allowance.resets_in,
        )
