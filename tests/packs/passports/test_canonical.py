"""One spelling for a JSON value, and the vectors of RFC 8785's author."""

import json
from decimal import Decimal
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.passports.canonical import canonical, digest
from leasehold_packs.passports.documents import read_json
from leasehold_packs.passports.errors import Code, PassportError
from tests.corpora.data import CORPORA, needs_corpora

VECTORS = ("arrays", "french", "structures", "unicode", "values", "weird")


@needs_corpora
@pytest.mark.parametrize("name", VECTORS)
def test_the_vectors_of_rfc_8785_come_out_byte_for_byte(name: str) -> None:
    folder = CORPORA / "jcs-rfc8785"
    value = json.loads((folder / "input" / f"{name}.json").read_bytes())

    assert canonical(value) == (folder / "output" / f"{name}.json").read_bytes()
    assert canonical(value) == bytes.fromhex((folder / "outhex" / f"{name}.txt").read_text())


@needs_corpora
@pytest.mark.parametrize("name", [name for name in VECTORS if name != "values"])
def test_our_own_reader_leads_to_the_same_bytes(name: str) -> None:
    folder = CORPORA / "jcs-rfc8785"

    assert (
        canonical(read_json((folder / "input" / f"{name}.json").read_bytes()))
        == (folder / "output" / f"{name}.json").read_bytes()
    )


@needs_corpora
def test_a_number_that_a_double_would_round_is_refused_where_others_round_it() -> None:
    """The vector ``values`` has 333333333.33333329, which is no double."""
    value = read_json((CORPORA / "jcs-rfc8785" / "input" / "values.json").read_bytes())

    with pytest.raises(PassportError, match="no number that every reader can hold"):
        canonical(value)


@pytest.mark.parametrize("value", [2**53, -(2**53), 2**63, Decimal("0.1234567890123456789"), Decimal("1e400")])
def test_numbers_that_not_every_reader_holds_are_refused(value: Any) -> None:
    with pytest.raises(PassportError) as refused:
        canonical({"n": value})

    assert refused.value.code == Code.VALIDATION_ERROR
    assert not refused.value.retryable


@pytest.mark.parametrize("value", [float("nan"), float("inf"), Decimal("NaN"), "\ud800", {1: 2}, object()])
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(PassportError):
        canonical([value])


def test_the_largest_integers_and_exact_decimals_are_kept() -> None:
    assert canonical([2**53 - 1, 1 - 2**53, Decimal("0.1"), Decimal("1.50")]) == (
        b"[9007199254740991,-9007199254740991,0.1,1.5]"
    )


def test_the_order_of_names_does_not_change_a_digest() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(deadline=None)
@given(_JSON)
def test_the_quick_way_writes_what_the_library_does(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


def test_names_beyond_the_surrogates_are_sorted_as_utf_16_has_them() -> None:
    value: Any = {"\ufb33": 1, "\U0001f600": 2, "a": {"\ue000": 3, "\U00010000": 4}}

    assert canonical(value) == rfc8785.dumps(value)
    assert list(json.loads(canonical(value))) == ["a", "\U0001f600", "\ufb33"]
