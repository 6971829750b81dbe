"""Waiting for a condition, with an end: no test sleeps and hopes."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE_SECONDS = 120.0
_POLL_SECONDS = 0.02


def until(condition: Callable[[], T], *, what: str = "", seconds: float = PATIENCE_SECONDS) -> T:
    """The first true answer of ``condition``; a failure that says what never came."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what or condition}"
        time.sleep(_POLL_SECONDS)
    return found


async def eventually(condition: Callable[[], Awaitable[T]], *, what: str = "", seconds: float = PATIENCE_SECONDS) -> T:
    """The same for a condition that asks the database."""
    deadline = time.monotonic() + seconds
    while not (found := await condition()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what or condition}"
        await asyncio.sleep(_POLL_SECONDS)
    return found
