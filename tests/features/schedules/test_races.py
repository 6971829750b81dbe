"""Clocks change while three schedulers race, and one of them is stopped: every tick still has one job."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from leasehold.database.database import Database, Role
from leasehold.features.schedules import store as schedules
from leasehold.features.schedules.model import Due
from leasehold.features.schedules.store import fire_due
from leasehold.program.client import Client
from tests.cell import Cell
from tests.features.schedules.steps import made, set_clock

STEP = 300
MINUTE = timedelta(minutes=1)


def minutes(zone: str, begins: datetime, ends: datetime, fits: Callable[[datetime], bool]) -> list[datetime]:
    """The minutes of a stretch of time whose look on the wall's clock fits: the plainest scheduler there is."""
    span = int((ends - begins) / MINUTE)
    return [
        moment
        for moment in (begins + n * MINUTE for n in range(1, span + 1))
        if fits(moment.astimezone(ZoneInfo(zone)))
    ]


@pytest.mark.parametrize(
    ("zone", "day", "nightly_at", "nightly"),
    [
        # clocks go back: the first of two
        ("Europe/Berlin", (2027, 10, 31), "30 2 * * *", "2027-10-31T00:30:00+00:00"),
        ("America/New_York", (2027, 11, 7), "30 1 * * *", "2027-11-07T05:30:00+00:00"),
        # clocks go forward: when the lost hour would have ended
        ("Europe/Berlin", (2027, 3, 28), "30 2 * * *", "2027-03-28T01:00:00+00:00"),
        ("America/New_York", (2027, 3, 14), "30 2 * * *", "2027-03-14T07:00:00+00:00"),
    ],
)
async def test_one_job_per_tick_while_clocks_change_and_one_of_three_schedulers_is_stopped(
    cell: Cell, client: Client, zone: str, day: tuple[int, int, int], nightly_at: str, nightly: str
) -> None:
    begins = datetime(*day, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    ends = begins + timedelta(hours=5)
    await set_clock(cell, begins + timedelta(seconds=5))
    common = {"zone": zone, "overlap": "queue", "catch_up": "all", "tick_as": "tick"}
    await client.schedules.put("nightly", "t.work", cron=nightly_at, **common)
    await client.schedules.put("quarters", "t.work", cron="*/15 * * * *", **common)
    await client.schedules.put("period", "t.work", every=420, **common)
    async with AsyncExitStack() as stack:
        racers = [await stack.enter_async_context(cell.database(Role.WORKER, connections=1)) for _ in range(3)]
        stopped: list[Due] = []
        for step in range(int((ends - begins).total_seconds()) // STEP):
            await cell.pass_time(STEP)
            if step % 12 == 5:  # one has looked what is due, and is stopped for ten minutes before it acts
                stopped = await schedules.due_schedules(racers[2])
            awake = racers[:2] if step % 12 in (5, 6) else racers
            await asyncio.gather(*(fire_due(racer) for racer in awake))
            if step % 12 == 7:
                assert [await schedules.fire_schedule(racers[2], due) for due in stopped] == [0] * len(stopped)
    expected = {
        "nightly": [datetime.fromisoformat(nightly)],
        "quarters": minutes(zone, begins, ends, lambda moment: moment.minute % 15 == 0),
        "period": minutes("UTC", begins, ends, lambda moment: int(moment.timestamp()) % 420 == 0),
    }
    for name, ticks in expected.items():
        found = [datetime.fromisoformat(job.payload["tick"]) for job in await made(client, name)]
        assert found == ticks, name
        remembered = await client.schedules.ticks(name)
        assert [tick.tick_at for tick in reversed(remembered)] == ticks


@pytest.mark.parametrize(
    ("catch_up", "minutes_away", "expected"),
    [
        ("none", 100, ["01:30"]),  # up again five seconds after it
        ("none", 105, []),
        ("one", 105, ["01:30"]),
        ("all", 105, ["00:00", "00:15", "00:30", "00:45", "01:00", "01:15", "01:30"]),
    ],
)
async def test_all_schedulers_stopped_over_the_change_catch_up_as_the_policy_says(
    cell: Cell, client: Client, catch_up: str, minutes_away: int, expected: list[str]
) -> None:
    """Berlin on the last Sunday of October: two o'clock local is 00:00 and 01:00 UTC."""
    await set_clock(cell, datetime(2027, 10, 30, 23, 50, 5, tzinfo=UTC))
    common = {"zone": "Europe/Berlin", "overlap": "queue", "catch_up": catch_up, "tick_as": "tick"}
    await client.schedules.put("quarters", "t.work", cron="*/15 2 * * *", **common)
    await cell.pass_time(minutes_away * 60)
    async with AsyncExitStack() as stack:
        racers = [await stack.enter_async_context(cell.database(Role.WORKER, connections=1)) for _ in range(3)]
        await asyncio.gather(*(fire_due(racer) for racer in racers))
    assert [job.payload["tick"][11:16] for job in await made(client, "quarters")] == expected


async def test_many_schedulers_and_editors_at_once_make_one_job_per_tick(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    """Edits of the payload and pauses come while the ticks are fired; nothing is lost or doubled."""
    await set_clock(cell, datetime(2027, 6, 1, 12, 0, 5, tzinfo=UTC))
    names = [f"s{n}" for n in range(20)]
    for name in names:
        await client.schedules.put(name, "t.work", every=60, overlap="queue", catch_up="all", tick_as="tick")
    async with AsyncExitStack() as stack:
        racers = [await stack.enter_async_context(cell.database(Role.WORKER, connections=1)) for _ in range(5)]
        for n in range(5):
            await cell.pass_time(120)
            edits = [client.schedules.edit(name, payload={"n": n}) for name in names]
            await asyncio.gather(*(fire_due(racer) for racer in racers), *edits)
            await fire_due(racers[0])
    expected = [datetime(2027, 6, 1, 12, n, tzinfo=UTC) for n in range(1, 11)]
    for name in names:
        assert [datetime.fromisoformat(job.payload["tick"]) for job in await made(client, name)] == expected
