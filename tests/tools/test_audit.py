"""What `make audit` says and how it ends: an audit of nothing is no green check."""

import re
from pathlib import Path

import pytest
from tools.audit import NOT_AUDITED, verdict

GOOD = {"name": "good", "version": "1.0", "vulns": []}
BAD = {"name": "bad", "version": "2.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]}
UNKNOWN = {"name": "unknown", "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize("found", [None, [], [UNKNOWN], [UNKNOWN, UNKNOWN]])
def test_where_nothing_was_audited_it_says_so_and_fails(found: list[dict[str, object]] | None) -> None:
    code, said = verdict(found)
    assert code == NOT_AUDITED
    assert said.startswith("not audited: ")
    assert "0 vulnerabilities" not in said


def test_a_vulnerability_fails_and_what_is_not_known_is_named() -> None:
    assert verdict([GOOD]) == (0, "1 packages audited, 0 vulnerabilities\n")
    code, said = verdict([GOOD, BAD, UNKNOWN])
    assert code == 1
    assert "bad 2.0: PYSEC-1, fixed in 2.1\n2 packages audited, 1 vulnerabilities\n" in said
    assert said.endswith("does not know them: unknown\n")


def test_the_check_is_green_without_the_audit_and_ci_fails_for_a_vulnerability() -> None:
    root = Path(__file__).parents[2]
    [check] = re.findall(r"^check:.*\n((?:\t.*\n)+)", (root / "Makefile").read_text(), re.MULTILINE)
    assert "audit" not in check
    assert f"((code == 0 || code == {NOT_AUDITED})) || exit" in (root / ".ci" / "run").read_text()
