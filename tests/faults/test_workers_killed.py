"""All workers die at once and come back under their names; clocks of workers are wrong."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs, maintenance
from leasehold.errors import LeaseLost
from leasehold.job import AttemptOutcome
from tests.cell import Cell
from tests.cli.program import Program, started
from tests.faults.history import Expected, check
from tests.faults.sink import drained, effects, more_than
from tests.waiting import eventually
from tests.worker.running import ENVIRONMENT, Shop

pytestmark = pytest.mark.long

APP = "tests.faults.apps:app"
NAMES = ("first", "second")


def start_all(stack: ExitStack, cell: Cell) -> list[Program]:
    environment = cell.environment() | ENVIRONMENT
    return [stack.enter_context(started("worker", APP, "--name", name, env=environment)) for name in NAMES]


async def test_all_workers_are_killed_twice_and_everything_drains_under_the_same_names(
    cell: Cell, shop: Shop, worker_db: Database, tmp_path: Path
) -> None:
    sink = tmp_path / "sink"
    made = await shop.enqueue_many("f.work", [{"sink": str(sink), "seconds": 0.1}] * 120, max_attempts=20)
    zombies: list[int] = []
    with ExitStack() as stack:
        for _ in range(2):
            programs = start_all(stack, cell)
            await eventually(more_than(len(effects(sink)) + 20, lambda: len(effects(sink))), what="work")
            for program in programs:
                program.kill()
            for program in programs:
                program.ended()
            zombies += [row["token"] for row in await cell.look("select token from leasehold.lease")]
        last = start_all(stack, cell)
        await drained(cell)
        assert [program.stopped().code for program in last] == [0, 0]
    # A worker that was killed before it held anything is only silent; it is declared lost when its
    # lease is over.
    await cell.pass_time(10)
    await maintenance.rescue_silent_workers(worker_db)
    assert len(zombies) >= 2
    assert await jobs.finish(worker_db, [AttemptOutcome(token=token, outcome="failed") for token in zombies]) == set()
    for token in zombies:
        with pytest.raises(LeaseLost):
            await jobs.append_event(worker_db, token, "progress", progress=99)
    expected = Expected(acknowledged=dict.fromkeys(made, cell.tenant_a), effects=effects(sink))
    history = await check(cell, expected)
    assert {row["outcome"] for row in history.attempt} == {"lost", "succeeded"}
    assert {row["token"] for row in history.attempt if row["outcome"] == "lost"} >= set(zombies)
    assert all(row["ended_at"] for row in history.worker)


#: Loaded into the process itself: the program ``faketime`` would stand between it and our signals.
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


@pytest.mark.skipif(not FAKETIME, reason="faketime is not installed")
async def test_workers_an_hour_ahead_and_an_hour_behind_work_as_well_as_any(
    cell: Cell, shop: Shop, tmp_path: Path
) -> None:
    sink = tmp_path / "sink"
    value = {"sink": str(sink), "seconds": 0.05, "errors": 1}
    wrong = {"LD_PRELOAD": str(FAKETIME), "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    environment = cell.environment() | ENVIRONMENT | wrong
    with ExitStack() as stack:
        programs = [
            stack.enter_context(
                started("worker", APP, "--name", name, "--slots", "4", env=environment | {"FAKETIME": offset})
            )
            for name, offset in (("ahead", "+3600"), ("behind", "-3600"))
        ]
        for program in programs:
            program.said("worker started")
        made = await shop.enqueue_many("f.work", [value] * 60)
        made += await shop.enqueue_many("f.work", [value] * 5, delay_s=1.5)
        made.append(await shop.enqueue("f.work", value | {"seconds": 3}))  # longer than a lease
        await drained(cell)
        assert [program.stopped().code for program in programs] == [0, 0]
    expected = Expected(
        acknowledged=dict.fromkeys(made, cell.tenant_a), effects=effects(sink), stopped=("ahead", "behind")
    )
    history = await check(cell, expected)
    assert {row["outcome"] for row in history.attempt} == {"errored", "succeeded"}, "nobody lost a lease"
    assert len({row["worker_id"] for row in history.attempt}) == 2, "both of them worked"
