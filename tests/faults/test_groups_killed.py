"""Workers die while they run jobs of groups: limits and order hold all the same."""

from pathlib import Path
from uuid import UUID

import pytest

from tests.cell import Cell
from tests.faults.grouped import attempts_of, drive, violations
from tests.faults.history import Expected, check

pytestmark = pytest.mark.long


@pytest.mark.parametrize("seed", [1])
async def test_limits_and_order_of_groups_hold_whoever_dies(cell: Cell, tmp_path: Path, seed: int) -> None:
    print("seed", seed)
    asked, killed = await drive(cell, count=240, kills=8, seed=seed, marks=tmp_path)
    assert killed >= 4, "some deaths are of one process"
    attempts = await attempts_of(cell)
    assert violations(attempts, asked) == []
    assert {row["outcome"] for row in attempts} == {"succeeded", "errored", "lost"}
    made = [job_id for job_ids in asked.values() for job_id in job_ids]
    await check(cell, Expected(acknowledged=dict.fromkeys(made, cell.tenant_a), own_backoff=False))
    assert await cell.look("select * from leasehold.place") == []


def test_the_checker_sees_what_must_not_be() -> None:
    first, second = UUID(int=1), UUID(int=2)

    def attempt(job_id: UUID, start: str, end: str) -> dict[str, str]:
        return {"job_id": str(job_id), "started_at": start, "finished_at": end}

    asked = {"g0": [first, second]}
    assert violations([attempt(first, "1", "2"), attempt(second, "2", "3")], asked) == []
    assert violations([attempt(first, "1", "3"), attempt(second, "2", "4")], asked) == ["I9 g0: 2 at 2"]
    backwards = violations([attempt(first, "2", "3"), attempt(second, "1", "2")], asked)
    assert backwards == [f"I10 g0: {second} started before {first}"]
    again = [attempt(first, "1", "2"), attempt(second, "2", "3"), attempt(first, "3", "4")]
    assert violations(again, asked) == [], "a second attempt is no first start"
