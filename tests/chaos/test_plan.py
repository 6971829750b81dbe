"""The schedule of faults: from the seed alone, and with every kind in it."""

import pytest

from tests.chaos.nemesis import Nemesis
from tests.chaos.plan import WEIGHTS, plan


def test_one_seed_is_one_schedule_and_another_is_another() -> None:
    assert plan(7, 600) == plan(7, 600)
    assert plan(7, 600) != plan(8, 600)


@pytest.mark.parametrize("seed", range(5))
def test_two_minutes_have_every_kind_of_fault(seed: int) -> None:
    assert {fault.kind for fault in plan(seed, 120)} == set(WEIGHTS)


def test_the_nemesis_knows_every_kind() -> None:
    assert all(hasattr(Nemesis, "_" + kind.replace(" ", "_").replace("-", "_")) for kind in WEIGHTS)
