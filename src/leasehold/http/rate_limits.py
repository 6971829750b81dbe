"""Request limits, counted in memory: they hold for one process, and start anew with it."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from leasehold.http.problems import Problem

WINDOW_SECONDS = 60
#: Names that are remembered at most; the one not seen for longest is forgotten.
_MOST_NAMES = 20_000
#: Credentials of addresses over their limit that are checked at one time: fewer than the database connections.
_CHECKS_AT_ONCE = 2


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


class AddressLimits:
    """Limits of an address, counted for requests that no valid credentials vouch for.

    Many callers share an address, so one that is over its limit is not shut out: its credentials are checked a few at
    a time, valid ones pass, and the others are answered with 429.
    """

    def __init__(self, *, requests: int, refusals: int) -> None:
        self._requests = Limiter(requests)
        self._refusals = Limiter(refusals)
        self._few = asyncio.Semaphore(_CHECKS_AT_ONCE)

    @asynccontextmanager
    async def checking(self, address: str) -> AsyncIterator[None]:
        """Check credentials inside this block."""
        if min(self._requests.look(address).left, self._refusals.look(address).left) > 0:
            yield
            return
        async with self._few:
            yield

    def count_request(self, address: str) -> None:
        """Count a request without credentials, or with some that are over; refuse it if there were too many."""
        refuse_if_spent(self._requests.take(address))

    def count_refusal(self, address: str) -> None:
        """Count credentials that were never valid, or were revoked; refuse them with 429 if there were too many."""
        self.count_request(address)
        refuse_if_spent(self._refusals.take(address))


def refuse_if_spent(allowance: Allowance) -> None:
    if allowance.left < 0:
        raise Problem(
            "rate_limited",
            f"more than {allowance.limit} in {WINDOW_SECONDS} seconds",
            hint=f"try again in {allowance.resets_in} seconds",
            retry_after=allowance.resets_in,
        )
