"""Workers die while they run jobs at gates: rates and gaps hold all the same."""

from pathlib import Path

import pytest

from tests.cell import Cell
from tests.faults.gated import drive, starts_of, violations

pytestmark = pytest.mark.long


@pytest.mark.parametrize("seed", [1])
async def test_rates_and_gaps_hold_whoever_dies(cell: Cell, tmp_path: Path, seed: int) -> None:
    print("seed", seed)
    killed = await drive(cell, count=150, kills=4, seed=seed, marks=tmp_path)
    assert killed >= 2, "some deaths are of one process"
    starts = await starts_of(cell)
    assert len(starts) >= 8
    assert violations(starts) == []
    assert await cell.look("select job_id from leasehold.gated union all select job_id from leasehold.place") == []


def test_the_checker_sees_what_must_not_be() -> None:
    assert violations({"a host:two": [0, 0, 0, 16_667, 33_334]}) == []
    assert violations({"a host:two": [0, 0, 0, 16_666]}) == ["I9 a host:two: 1 µs too early at 16666"]
    assert violations({"a host:one": [0, 33_334]}) == []
    assert violations({"both:one": [0, 0, 24_999]}) == ["I9 both:one: 1 µs too early at 24999"]
    assert violations({"b g1": [0, 40_000, 79_999]}) == ["I9 b g1: 1 µs too early at 79999"]
