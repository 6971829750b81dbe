"""Schedules: keep them, fire their ticks, and follow what programs declare."""

import logging
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold import json_codec
from leasehold.database.database import Database
from leasehold.engine.tenants import find_tenant
from leasehold.errors import BadInput, Changed, Conflict, LeaseholdError, NotFound, Unreachable
from leasehold.features.schedules.model import Due, ScheduleInfo, Tick
from leasehold.features.schedules.timing import Schedule, Timing
from leasehold.log import emit

_TRIES = 5
_TIMES = {"cron", "every", "at"}
_CHANGEABLE = {one.name for one in fields(Schedule)} - {"name", "tenant"}
_DUE = 1000


class Schedules:
    """The schedules of one tenant: ``client.schedules``."""

    def __init__(self, db: Database, tenant_id: UUID, announce: Callable[[str | None], None]) -> None:
        self._db = db
        self._tenant = tenant_id
        self._announce = announce

    async def put(self, name: str, kind: str, value: Any = None, **given: Any) -> ScheduleInfo:
        """Make a schedule, or let the one of this name be as given.

        One of cron, every, at; zone, starts_at, ends_at, jitter, overlap, catch_up, catch_up_max, tick_as; and options
        of its jobs: queue, priority, max_attempts, retry_base_s, retry_cap_s, timeout_s, version, tags.
        """
        return await self.put_if(lambda _: True, name, kind, value, **given)

    async def put_if(
        self,
        condition: Callable[[ScheduleInfo | None], bool],
        name: str,
        kind: str,
        value: Any = None,
        **given: Any,
    ) -> ScheduleInfo:
        """The same, if the condition holds for the schedule as it stands; else Changed."""
        wanted = Schedule.of(name, kind, value, **given)

        def unless_changed(info: ScheduleInfo | None) -> Schedule:
            if not condition(info):
                raise Changed(f"schedule {name!r} is not what it was", hint="look at it again, and decide anew")
            return wanted

        return await self._put(name, unless_changed)

    async def add(self, name: str, kind: str, value: Any = None, **given: Any) -> ScheduleInfo:
        """Make a schedule; one of this name is a conflict."""
        wanted = Schedule.of(name, kind, value, **given)

        def unless_there(info: ScheduleInfo | None) -> Schedule:
            if info is not None:
                raise Conflict(f"there is a schedule {name!r} already", hint=f"leasehold schedules edit {name}")
            return wanted

        return await self._put(name, unless_there)

    async def edit(self, name: str, **changes: Any) -> ScheduleInfo:
        """Change what is given (None takes it away); cron, every and at replace each other, options all at once."""
        if unknown := sorted(changes.keys() - _CHANGEABLE):
            known = ", ".join(sorted(_CHANGEABLE))
            raise BadInput(f"{unknown[0]!r} of a schedule cannot be edited", hint=f"what can: {known}")
        if changes.keys() & _TIMES:
            changes = dict.fromkeys(_TIMES) | changes

        def changed(info: ScheduleInfo | None) -> Schedule:
            if info is None:
                raise _absent(name)
            return replace(info.schedule, **changes)

        return await self._put(name, changed)

    async def get(self, name: str) -> ScheduleInfo:
        info = await get_schedule(self._db, self._tenant, name)
        if info is None:
            raise _absent(name)
        return info

    async def list(self, *, after: str = "", limit: int = 100) -> list[ScheduleInfo]:
        """By name; the next page begins after the last name of this one."""
        return await list_schedules(self._db, self._tenant, after=after, limit=limit)

    async def ticks(self, name: str, *, limit: int = 100) -> Sequence[Tick]:
        """What became of the newest ticks, newest first."""
        await self.get(name)
        return await list_ticks(self._db, self._tenant, name, limit=limit)

    async def pause(self, name: str) -> ScheduleInfo:
        """It does not tick until it is resumed."""
        return await pause_schedule(self._db, self._tenant, name, paused=True)

    async def resume(self, name: str) -> ScheduleInfo:
        """Let it go on with the next tick from now. One that ticks once, and has not, does so even if it is late."""
        info = await self.get(name)
        waits = info.at is not None and info.last_at is None
        comes = info.next_at if waits else await _next_tick(self._db, info.timing, info.last_at)
        return await pause_schedule(self._db, self._tenant, name, paused=False, next_at=comes)

    async def run(self, name: str) -> UUID:
        """Make a job of it now; its ticks stay as they are."""
        job_id = await run_schedule(self._db, self._tenant, name)
        self._announce(None)
        return job_id

    async def delete(self, name: str) -> None:
        await delete_schedule(self._db, self._tenant, name)

    async def _put(self, name: str, wanted: Callable[[ScheduleInfo | None], Schedule]) -> ScheduleInfo:
        """Write what ``wanted`` makes of the schedule as it stands; again when somebody was quicker."""
        for tries_left in reversed(range(_TRIES)):
            info = await get_schedule(self._db, self._tenant, name)
            schedule = wanted(info)
            comes = await _next_tick(self._db, schedule.timing, info.last_at if info else None)
            if comes is None and (info is None or info.timing != schedule.timing):
                raise BadInput(f"schedule {name!r} would never tick: its time has passed", hint="choose a later one")
            revision = info.revision if info else 0
            try:
                return await put_schedule(self._db, self._tenant, schedule, next_at=comes, revision=revision)
            except Conflict:
                if not tries_left:
                    raise
        raise AssertionError


# -- one function for each of SQL's ---------------------------------------------------------------------------------


async def put_schedule(
    db: Database, tenant: UUID, schedule: Schedule, *, next_at: datetime | None, revision: int | None = None
) -> ScheduleInfo:
    definition = json_codec.encode(schedule.definition(), what="schedule")
    rows = await db.call("put_schedule", schedule.name, definition, next_at, revision, tenant=tenant)
    return ScheduleInfo.from_row(rows[0])


async def sync_schedule(db: Database, tenant: UUID, schedule: Schedule, *, next_at: datetime | None) -> str:
    """``made``, ``same``, ``changed``, ``kept`` (people edited it) or ``taken`` (people made it)."""
    definition = json_codec.encode(schedule.definition(), what="schedule")
    return str(await db.value("sync_schedule", schedule.name, definition, next_at, tenant=tenant))


async def get_schedule(db: Database, tenant: UUID, name: str) -> ScheduleInfo | None:
    rows = await db.call("get_schedule", name, tenant=tenant)
    return ScheduleInfo.from_row(rows[0]) if rows else None


async def list_schedules(db: Database, tenant: UUID, *, after: str = "", limit: int = 100) -> list[ScheduleInfo]:
    return [ScheduleInfo.from_row(row) for row in await db.call("list_schedules", after, limit, tenant=tenant)]


async def list_ticks(db: Database, tenant: UUID, name: str, *, limit: int = 100) -> list[Tick]:
    return [Tick(**row) for row in await db.call("list_ticks", name, limit, tenant=tenant)]


async def pause_schedule(
    db: Database, tenant: UUID, name: str, *, paused: bool, next_at: datetime | None = None
) -> ScheduleInfo:
    return ScheduleInfo.from_row((await db.call("pause_schedule", name, paused, next_at, tenant=tenant))[0])


async def run_schedule(db: Database, tenant: UUID, name: str) -> UUID:
    job_id: UUID = await db.value("run_schedule", name, tenant=tenant)
    return job_id


async def delete_schedule(db: Database, tenant: UUID, name: str) -> None:
    await db.call("delete_schedule", name, tenant=tenant)


async def due_schedules(db: Database, limit: int = _DUE) -> list[Due]:
    """Of all tenants, the longest due first."""
    return [Due.from_row(row) for row in await db.call("due_schedules", limit)]


async def fire_schedule(db: Database, due: Due) -> int:
    """How many jobs were made: none when somebody else was quicker, or the schedule was changed."""
    ticks, comes = due.ticks()
    rows = await db.call("fire_schedule", due.schedule_id, due.revision, ticks, comes, tenant=due.tenant_id)
    for row in rows:
        if row["outcome"] != "fired":
            emit(
                f"tick {row['outcome']}",
                level=logging.WARNING if row["outcome"] == "refused" else logging.INFO,
                schedule=due.name,
                tenant_id=due.tenant_id,
                tick=row["tick_at"],
                detail=row["detail"],
            )
    return sum(row["outcome"] == "fired" for row in rows)


# -- what workers do ------------------------------------------------------------------------------------------------


async def fire_due(db: Database) -> int:
    """Fire every tick that has come; how many jobs that made. Any number of workers may do it at once."""
    found = await due_schedules(db)
    random.shuffle(found)  # so that workers get into each other's way less
    made = 0
    for due in found:
        try:
            made += await fire_schedule(db, due)
        except Unreachable:
            raise
        except LeaseholdError as problem:  # a zone that this machine does not know: others may
            where = {"schedule": due.name, "tenant_id": due.tenant_id}
            emit("schedule not fired", level=logging.WARNING, problem=problem, **where)
    return made


async def sync(db: Database, declared: Iterable[Schedule], *, tenant: str | None) -> None:
    """Bring what code declares into the database, and leave what people made of it."""
    for schedule in declared:
        try:
            said = await sync_one(db, schedule, schedule.tenant or tenant)
        except Unreachable:
            raise
        except LeaseholdError as problem:
            emit("schedule not declared", level=logging.ERROR, schedule=schedule.name, problem=problem)
        else:
            level = {"same": logging.DEBUG, "kept": logging.WARNING, "taken": logging.WARNING}.get(said, logging.INFO)
            emit(f"schedule {said}", level=level, schedule=schedule.name)


async def sync_one(db: Database, schedule: Schedule, tenant: str | UUID | None) -> str:
    """As ``sync_schedule``."""
    owner = tenant if isinstance(tenant, UUID) else await find_tenant(db, tenant)
    info = await get_schedule(db, owner, schedule.name)
    comes = await _next_tick(db, schedule.timing, info.last_at if info else None)
    return await sync_schedule(db, owner, schedule, next_at=comes)


async def _next_tick(db: Database, timing: Timing, last_at: datetime | None) -> datetime | None:
    """The first tick from now on by the database's clock, after any that was."""
    now: datetime = await db.value("now")
    return timing.next_after(max(now, last_at) if last_at else now)


def _absent(name: str) -> NotFound:
    return NotFound(f"there is no schedule {name!r}", hint="leasehold schedules list")
