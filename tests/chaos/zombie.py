"""A dead worker's words: what it would have written, had it only been frozen. Nothing of it may be accepted."""

import asyncio
from contextlib import suppress

import asyncpg

from leasehold.database.database import Database, Role
from leasehold.engine import jobs
from leasehold.errors import LeaseholdError, LeaseLost
from leasehold.job import AttemptOutcome
from tests.chaos.database import Private
from tests.chaos.oplog import OpLog

_TRIES = 50
_PAUSE_SECONDS = 0.3


async def tokens_of(database: Private, worker: str) -> list[int]:
    """What this worker holds; nothing while the database is away."""
    with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        rows = await database.rows(
            "select l.token from leasehold.lease l join leasehold.worker w on w.worker_id = l.worker_id"
            f" where w.name = '{worker}'"
        )
        return [row["token"] for row in rows]
    return []


async def haunt(database: Private, log: OpLog, tokens: list[int]) -> None:
    """When its leases are taken and others run these jobs, speak and report under the old tokens."""
    told = ", ".join(map(str, tokens)) or "0"
    with suppress(LeaseholdError, OSError):
        async with database.database(Role.WORKER) as db:  # open beforehand: the moment is short
            for _ in range(_TRIES):
                await asyncio.sleep(_PAUSE_SECONDS)
                with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                    await _speak(db, log, await _held_by_others(database, told))


async def _held_by_others(database: Private, told: str) -> list[int]:
    rows = await database.rows(
        "select a.token from leasehold.attempt a join leasehold.lease l on l.job_id = a.job_id"
        f" where a.token in ({told})"
    )
    return [row["token"] for row in rows]


async def _speak(db: Database, log: OpLog, tokens: list[int]) -> None:
    if not tokens:
        return
    op = log.invoke("haunt", tokens=tokens)
    try:
        heard = [token for token in tokens if await _is_heard(db, token)]
        ended = await jobs.finish(db, [AttemptOutcome(token=token, outcome="errored") for token in tokens])
    except LeaseholdError as problem:
        log.failed(op, problem)
    else:
        log.ok(op, accepted=sorted({*heard, *ended}))


async def _is_heard(db: Database, token: int) -> bool:
    try:
        await jobs.append_event(db, token, "progress", message="a zombie's word")
    except LeaseLost:
        return False
    return True
