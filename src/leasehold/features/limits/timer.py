"""The leader rings the bells of gates on time: a slot of a gate is a moment, and a look may come late for it."""

import asyncio
import logging

from leasehold.database.database import Database
from leasehold.engine import maintenance
from leasehold.errors import LeaseholdError
from leasehold.log import emit
from leasehold.worker.leader import LOOK_SECONDS, Leadership

#: The claim that answers a bell sets the next one: so soon after a bell we look for it, and then less and less often.
_LOOK_AGAIN_SECONDS = 0.005
_LOOK_LESS_SECONDS = 0.25


async def ring(db: Database, leadership: Leadership) -> None:
    """For ever: ring what is due, see that its workers are told, and sleep until the next is; nothing while none is."""
    looked = asyncio.Event()
    leadership.query_events.append(looked)
    while True:
        looked.clear()
        if leadership.leads and "ring gates" in leadership.due_work.due:
            await _ring(db, leadership)
        await looked.wait()


async def _ring(db: Database, leadership: Leadership) -> None:
    """Until no bell waits, and none has come for a while."""
    pause = _LOOK_AGAIN_SECONDS
    while leadership.leads and pause < _LOOK_LESS_SECONDS:
        next_s = None
        try:
            rang, next_s = await maintenance.ring_gates(db)
            if rang:
                leadership.query_again()
            pause = _LOOK_AGAIN_SECONDS if rang else 2 * pause
        except LeaseholdError as problem:
            if not db.outage.covers(problem):
                emit("gates failed", level=logging.WARNING, problem=problem)
            return
        if next_s is not None and next_s > LOOK_SECONDS:
            return  # the leader's look knows of it
        await asyncio.sleep(pause if next_s is None else max(next_s, _LOOK_AGAIN_SECONDS))
