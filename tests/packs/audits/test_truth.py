"""Findings of the pack, compared with the kinds of fault that a site has."""

from tests.packs.audits.truth import CHECK_OF, kinds_found

PAGE = "https://www.example.test/page"


def test_a_finding_where_its_kind_is_planted_is_that_kind() -> None:
    found = kinds_found({PAGE: {"canonical_in_body"}}, [("meta_in_body", PAGE)])
    assert found == {("canonical_in_body", PAGE)}


def test_a_finding_where_nothing_is_planted_is_one_too_many_of_its_own_name() -> None:
    assert kinds_found({PAGE: set()}, [("meta_in_body", PAGE)]) == {("meta_in_body", PAGE)}


def test_two_findings_of_one_page_are_two_kinds() -> None:
    truth = {PAGE: {"canonical_in_body", "h1_missing"}}
    found = kinds_found(truth, [("meta_in_body", PAGE), ("h1_missing", PAGE)])
    assert found == {("canonical_in_body", PAGE), ("h1_missing", PAGE)}


def test_most_kinds_have_a_check() -> None:
    assert sum(check is not None for check in CHECK_OF.values()) > len(CHECK_OF) / 2
