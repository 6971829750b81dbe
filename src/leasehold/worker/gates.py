"""Rings the bells of gates on time: a slot of a gate is a moment, and polling would come late for it."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from leasehold.engine import upkeep
from leasehold.engine.database import Database
from leasehold.errors import LeaseholdError
from leasehold.log import emit

#: The claim that answers a bell sets the next one: so soon after a bell we look for it, and then less and less often.
_LOOK_AGAIN_SECONDS = 0.005


async def ring(db: Database, queues: Sequence[str], poll_seconds: float, wake: Callable[[], None]) -> None:
    """For ever: ring what is due, call ``wake``, and sleep until the next is."""
    pause = poll_seconds
    while True:
        next_s = None
        try:
            rang, next_s = await upkeep.ring_gates(db, queues)
            if rang:
                wake()
            pause = _LOOK_AGAIN_SECONDS if rang or next_s is not None else min(2 * pause, poll_seconds)
        except LeaseholdError as problem:
            pause = poll_seconds
            if db.outage.covers(problem):
                pause = max(pause, db.outage.pause_seconds())
            else:
                emit("gates failed", level=logging.WARNING, problem=problem)
        await asyncio.sleep(pause if next_s is None else min(max(next_s, pause), poll_seconds))
