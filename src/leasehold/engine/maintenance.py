"""Upkeep: what the engine needs done now and then, by any worker."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from leasehold.database.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorMove:
    """What the leader saw on one walk over a lane."""

    lane: int
    snapshot: str
    floor: int
    moved: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DueWork:
    """What the leader saw: what is due, in how many seconds something else is, and whose turn is next where."""

    leads: bool
    due: frozenset[str] = frozenset()
    next_s: float | None = None
    turns: frozenset[tuple[str, int]] = frozenset()
    is_behind: bool = False


async def lead(db: Database, worker: UUID, seconds: float) -> DueWork:
    """Take or keep the lead for so many seconds, and look what there is to do."""
    row = (await db.call("lead", worker, seconds))[0]
    if not row["leads"]:
        return DueWork(leads=False)
    turns = frozenset(zip(row["queues"], row["passes"], strict=True))
    return DueWork(leads=True, due=frozenset(row["due"]), next_s=row["next_s"], turns=turns, is_behind=row["is_behind"])


async def list_lanes(db: Database) -> list[int]:
    return [row[0] for row in await db.call("list_lanes")]


async def advance_lane_floor(
    db: Database, lanes: Sequence[int], start: Sequence[int], publish: Sequence[int | None]
) -> list[FloorMove]:
    return [FloorMove(**row) for row in await db.call_long("advance_lane_floor", lanes, start, publish)]


async def advance_token_floor(db: Database, publish: int | None) -> tuple[str, int]:
    """The snapshot of the walk over the leases, and the token floor that it allows."""
    row = (await db.call_long("advance_token_floor", publish))[0]
    return row["snapshot"], row["floor"]


async def dispatch_due_jobs(db: Database, limit: int = 1000) -> int:
    return int(await db.value("dispatch_due_jobs", limit))


async def ring_gates(db: Database, queues: Sequence[str] | None = None) -> tuple[int, float | None]:
    """For these queues, or all: how many bells were due, and in how many seconds the next is; None when none waits."""
    row = (await db.call("ring_gates", queues))[0]
    return row["rang"], row["next_s"]


async def unpark(db: Database) -> int:
    return int(await db.value("unpark", None))


async def rescue_silent_workers(db: Database) -> int:
    return int(await db.value("rescue_silent_workers"))


async def rescue_orphaned_leases(db: Database, limit: int = 1000) -> int:
    return int(await db.value("rescue_orphaned_leases", limit))


async def refresh_waiting_counts(db: Database) -> int:
    """How many tenants are over their quota."""
    return int(await db.value_long("refresh_waiting_counts"))


async def make_partitions(db: Database, days_ahead: int = 3) -> int:
    return int(await db.value_long("make_partitions", days_ahead))


async def drop_partitions(db: Database, days: int) -> int:
    return int(await db.value_long("drop_partitions", days))


async def purge(db: Database, *, history_days: int, result_days: int, limit: int = 5000) -> int:
    return int(await db.value_long("purge", history_days, result_days, limit))


async def roll_up_job_counts(db: Database) -> int:
    return int(await db.value_long("roll_up_job_counts"))
