"""The arithmetic of the judge, on findings that are made up."""

from tests.sites.score import Score, score

TRUTH = {"/a": {"thin"}, "/b": {"thin", "deep"}, "/c": frozenset[str]()}
ALL = [("thin", "/a"), ("thin", "/b"), ("deep", "/b")]


def test_perfect_findings_have_all_precision_and_all_recall() -> None:
    found = score(TRUTH, ALL)
    assert found == {
        "thin": Score(planted=2, found=2, wrong=0),
        "deep": Score(planted=1, found=1, wrong=0),
    }
    assert {(one.precision, one.recall) for one in found.values()} == {(1.0, 1.0)}


def test_a_finding_that_lacks_costs_recall() -> None:
    found = score(TRUTH, ALL[1:])
    assert (found["thin"].precision, found["thin"].recall) == (1.0, 0.5)
    assert (found["deep"].precision, found["deep"].recall) == (1.0, 1.0)


def test_a_finding_too_many_costs_precision_and_one_that_is_there_twice_costs_nothing() -> None:
    found = score(TRUTH, [*ALL, ALL[0], ("thin", "/c"), ("orphan", "/c")])
    assert (found["thin"].precision, found["thin"].recall) == (2 / 3, 1.0)
    assert (found["orphan"].precision, found["orphan"].recall) == (0.0, None)


def test_what_nobody_finds_has_no_precision() -> None:
    assert (score(TRUTH, [])["thin"].precision, score(TRUTH, [])["thin"].recall) == (None, 0.0)
