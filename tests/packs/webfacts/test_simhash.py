"""A hint of likeness."""

from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.webfacts.simhash import distance, signed, simhash

TEXT = " ".join(f"word{number} is in the text" for number in range(200))


def test_a_short_text_has_no_hash() -> None:
    assert simhash("in stock " * 10) is None


def test_the_hash_of_a_text_never_changes() -> None:
    """It is stored; another value would make every page look rebuilt."""
    assert simhash(TEXT) == simhash(TEXT.upper()) == 0x36F9BFD6DAD8A7BF


def test_a_changed_price_is_not_seen() -> None:
    """Why it is no reason to skip anything."""
    before, after = simhash(TEXT + " costs 10 euros"), simhash(TEXT + " costs 99 euros")
    assert before is not None
    assert after is not None
    assert distance(before, after) <= 3


def test_other_texts_are_far() -> None:
    one, other = simhash(TEXT), simhash(" ".join(f"noch{number} ein anderer satz" for number in range(200)))
    assert one is not None
    assert other is not None
    assert distance(one, other) > 16


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_signed_values_fit_a_bigint_and_are_as_far_apart(one: int, other: int) -> None:
    assert -(2**63) <= signed(one) < 2**63
    assert distance(signed(one), signed(other)) == distance(one, other) == distance(signed(one), other)
