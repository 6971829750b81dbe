"""Workers die between every two statements of a handler's transaction, at its commit and after it."""

import os
import random
import sys
from collections import Counter
from pathlib import Path
from uuid import UUID

import pytest

from tests.cell import Cell
from tests.cli.program import started
from tests.faults.apps import POINTS, TABLE
from tests.faults.history import Expected, check
from tests.faults.sink import has_drained
from tests.waiting import eventually
from tests.worker.running import ENVIRONMENT, Shop

pytestmark = pytest.mark.long

JOBS = 210
KILLS = 200
NURSERY = (sys.executable, "-m", "tests.faults.nursery")
SHORT = {"LEASEHOLD_LEASE_SECONDS": "1", "LEASEHOLD_BEAT_SECONDS": "0.3", "LEASEHOLD_SLOTS": "2"}

# One snapshot of the whole: what each job wrote, whom it enqueued, and whether it has ended.
_PARTS = """
select j.job_id,
  (select count(*) from leasehold_test.effect e where e.job_id = j.job_id) as rows,
  (select count(*) from leasehold.job c
    where c.kind = 'f.child' and c.payload ->> 'parent' = j.job_id::text) as children,
  (select count(*) from leasehold.outcome o where o.job_id = j.job_id and o.state = 'succeeded') as succeeded
from leasehold.job j where j.kind = 'f.crash'
"""


@pytest.mark.parametrize("seed", [4])
async def test_rows_children_and_outcome_are_all_there_or_none_is_whenever_the_process_dies(
    cell: Cell, shop: Shop, tmp_path: Path, seed: int
) -> None:
    dice = random.Random(seed)
    await cell.change(TABLE)
    points = [POINTS[n % len(POINTS)] for n in range(JOBS)]
    dice.shuffle(points)
    orders = [{"point": point, "seconds": dice.uniform(0, 0.004), "marks": str(tmp_path)} for point in points]
    made = await shop.enqueue_many("f.crash", orders, max_attempts=100)  # the kind's own come with the first worker
    seen: Counter[tuple[int, int, int]] = Counter()

    async def all_done() -> bool:
        parts = [(row["rows"], row["children"], row["succeeded"]) for row in await cell.look(_PARTS)]
        seen.update(parts)
        assert set(parts) <= {(0, 0, 0), (2, 2, 1)}, "all or none"
        return await has_drained(cell)

    with started("4", env=cell.environment() | ENVIRONMENT | SHORT, command=NURSERY) as nursery:
        await eventually(all_done, what="the end of all jobs", seconds=300)
        killed = nursery.out.count("killed")
        assert nursery.stopped().code == 0
    crashed = {UUID(name) for name in os.listdir(tmp_path)}
    assert len(crashed) >= KILLS
    # One that had committed may die of its neighbour's crash before its own.
    assert {point for job_id, point in zip(made, points, strict=True) if job_id not in crashed} <= {"committed"}
    assert killed >= KILLS * 0.8, "some crashes are of one process"
    assert seen[0, 0, 0] > KILLS, "it was looked at while it happened"

    effects = await cell.look("select job_id, part, count(*) as n from leasehold_test.effect group by 1, 2")
    assert Counter(row["n"] for row in effects) == {1: 2 * JOBS}, "never twice"
    children = [
        UUID(row["job_id"]) for row in await cell.look("select job_id from leasehold.job where kind = 'f.child'")
    ]
    once = [UUID(row["job_id"]) for row in effects if row["part"] == 1]
    expected = Expected(acknowledged=dict.fromkeys(made + children, cell.tenant_a), once=once + children)
    history = await check(cell, expected)
    assert len(children) == 2 * JOBS
    after_commit = {str(job_id) for job_id, point in zip(made, points, strict=True) if point == "committed"}
    last = {row["job_id"]: row["outcome"] for row in sorted(history.attempt, key=lambda row: row["started_seq"])}
    assert {last[job_id] for job_id in after_commit} == {"succeeded"}, "a crash after the commit undoes nothing"
