"""When a test counts as slow."""

import pytest

from tests.reporting import too_slow


@pytest.mark.parametrize(
    ("seconds", "cpu_seconds", "load", "words"),
    [
        (4.9, 4.9, 0.0, None),
        (30.1, 0.1, 1.0, "took 30.1 s, and may take 30.0 s"),
        (59.9, 0.1, 2.0, None),
        (60.1, 0.1, 2.0, "may take 60.0 s at this load"),
        (60.0, 5.1, 20.0, "used 5.1 s of a processor"),
    ],
)
def test_a_test_has_five_seconds_of_a_processor_and_as_many_by_the_clock_as_the_load_allows(
    seconds: float, cpu_seconds: float, load: float, words: str | None
) -> None:
    found = too_slow(seconds, cpu_seconds, load)
    assert (found is None) if words is None else (found is not None and words in found)
