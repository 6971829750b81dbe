"""The score and its arithmetic."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leasehold_packs.audits.recipe import checks
from leasehold_packs.audits.score import GROUP_CAP, UNREADABLE_CAP, score


def test_a_site_without_faults_has_a_hundred() -> None:
    assert score({}, pages=10, indexable=10).value == 100
    assert score({}, pages=10, indexable=10).arithmetic() == "100 = 100.00"


def test_a_fault_takes_its_weight_times_the_share_of_pages() -> None:
    half = score({"title_missing": 5}, pages=10, indexable=10)
    assert half.value == 100 - 15 * 0.5
    assert half.arithmetic() == "100 − 7.50 (content) = 92.50"
    assert [(term.check, term.affected, term.pages) for term in half.terms] == [("title_missing", 5, 10)]


def test_no_group_takes_more_than_its_cap() -> None:
    every = {check.id: 10 for check in checks().values() if check.group == "fetch"}
    assert score(every, pages=10, indexable=10).value == 100 - GROUP_CAP


def test_a_site_that_nobody_may_read_has_little_whatever_else_is_right() -> None:
    closed = score({"noindex": 10}, pages=10, indexable=0)
    assert closed.value == UNREADABLE_CAP
    assert "no page may be indexed" in closed.arithmetic()


@given(st.dictionaries(st.sampled_from(sorted(checks())), st.integers(0, 200)), st.integers(0, 100))
def test_a_score_is_between_nothing_and_a_hundred_and_more_faults_never_raise_it(
    affected: dict[str, int], pages: int
) -> None:
    value = score(affected, pages=pages, indexable=1).value
    assert 0 <= value <= 100
    more = {**affected, "thin": affected.get("thin", 0) + 1}
    assert score(more, pages=pages, indexable=1).value <= value


@pytest.mark.parametrize("pages", [0, 1])
def test_a_site_without_pages_can_be_scored(pages: int) -> None:
    assert score({"fetch_failed": 1}, pages=pages, indexable=0).value == UNREADABLE_CAP
