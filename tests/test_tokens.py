from hypothesis import given
from hypothesis import strategies as st

from leasehold import tokens as keys
from leasehold.tokens import Peppers, pepper_id

OLD, NEW = "the first pepper, thirty-two characters", "the second pepper, thirty-two characters"


def test_a_key_comes_apart_as_it_was_made() -> None:
    made = keys.make("live")
    assert keys.parse(made.text) == made
    assert len(made.text) == len("lh_live_") + 22 + 1 + 43 + 6
    assert made.text not in repr(made)


@given(st.integers(0, 79), st.integers(0, 7))
def test_a_key_with_one_bit_changed_is_none(place: int, bit: int) -> None:
    text = KEY.text
    changed = text[:place] + chr(ord(text[place]) ^ (1 << bit)) + text[place + 1 :]
    assert keys.parse(changed) is None


@given(st.integers(0, 79), st.text(max_size=3))
def test_a_key_with_something_cut_or_added_is_none(end: int, more: str) -> None:
    assert keys.parse(KEY.text[:end] + more) is None
    if more:
        assert keys.parse(KEY.text + more) is None


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert keys.parse(text) is None


def test_a_key_fits_its_own_digest_under_its_own_pepper_only() -> None:
    old, both = Peppers([OLD]), Peppers([NEW, OLD])
    digest = old.digest(KEY, old.newest)
    assert old.newest == pepper_id(OLD)
    assert both.newest == pepper_id(NEW)
    assert both.fits(KEY, digest, pepper_id(OLD)), "the old pepper is still known"
    assert not Peppers([NEW]).fits(KEY, digest, pepper_id(OLD))
    assert not old.fits(keys.make("live"), digest, old.newest)
    assert OLD not in repr(old)


KEY = keys.make("live")
