"""Mutants at random: where they are planted, which tests meet them, and what is said of them."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests import mutants
from tests.mutants import KINDS, ROOT, Mutant

PYTHON = """\
'''A docstring, and 7.'''

LIMIT: int = 7


def may(self, n: int) -> bool:
    '''Whether it may, as 1 < 2.'''
    self.asked = True
    self.log(n)
    if n in (1, 2) and self.open:
        return not n
    return f"{n + 1}" == n
"""
SQL = """\
-- 1 = 1 and true
create or replace function leasehold.f(p_n integer) returns integer language plpgsql
as $$
begin
  if p_n < 3 and p_n is not null then  -- or 4
    perform leasehold.g('a = 1');
  end if;
  with gone as (
    delete from leasehold.t where id = p_n returning 1
  )
  insert into leasehold.u select from gone;
  return 5;
end
$$;
"""


def planted(text: str, mutant: Mutant) -> str:
    raw = text.encode()
    assert raw[mutant.start : mutant.end].decode() == mutant.old
    return (raw[: mutant.start] + mutant.new.encode() + raw[mutant.end :]).decode()


def test_each_part_of_python_that_runs_has_its_mutants() -> None:
    found = list(mutants.of_python("src/leasehold/x.py", PYTHON))
    assert Counter(mutant.kind for mutant in found) == {
        "constant": 4, "statement": 2, "operator": 2, "condition": 2,
    }  # fmt: skip
    for mutant in found:
        ast.parse(planted(PYTHON, mutant))
        assert PYTHON.splitlines()[mutant.line - 1].find(mutant.old.splitlines()[0]) >= 0


def test_comments_texts_and_parts_of_statements_in_sql_have_none() -> None:
    found = {(one.kind, one.old.strip(), one.new) for one in mutants.of_sql_file("src/f.sql", SQL)}
    assert found == {
        ("operator", "<", "<="), ("operator", "=", "<>"), ("condition", "and", "or"),
        ("condition", "is not null", "is null"), ("constant", "3", "4"), ("constant", "1", "2"),
        ("constant", "5", "6"), ("statement", "perform leasehold.g('a = 1');", "null;"),
    }  # fmt: skip


def test_a_seed_chooses_the_same_again_with_a_share_of_each_kind_and_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = [path for path in mutants.tracked() if path.startswith("src/leasehold/features/limits/")]
    monkeypatch.setattr(mutants, "tracked", lambda: few)
    chosen = mutants.choose(7, 12)
    assert chosen == mutants.choose(7, 12) != mutants.choose(8, 12)
    shares = Counter((mutant.kind, Path(mutant.path).suffix) for mutant in chosen)
    each = ((".py", 2), (".sql", 1))
    assert shares == {(kind, suffix): n for kind in KINDS for suffix, n in each}
    for mutant in chosen:
        planted((ROOT / mutant.path).read_text(), mutant)


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("src/leasehold/features/blobs/store.py", "tests/features/blobs/test_store.py"),
        ("src/leasehold/engine/sql/maintenance/purge.sql", "tests/engine/test_retention.py"),
        ("src/leasehold/redact/assignments.py", "tests/redact/test_redact.py"),
        ("packs/src/leasehold_packs/audits/pages.py", "tests/packs/audits/test_pages.py"),
        ("src/leasehold/quick_json.py", "tests/test_quick_json.py"),
    ],
)
def test_the_nearest_tests_meet_a_mutant_first(path: str, first: str) -> None:
    assert mutants.tests_of(path)[0] == first


def test_a_mutant_is_caught_by_the_test_that_fails_and_then_its_file_is_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "tests_of", lambda path: ["test_n.py"])
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take most of a start
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = long: never here\n")
    (tmp_path / "n.py").write_text(source := "N = 1\nM = 2\n")
    test = "import n\n\n\ndef test_n() -> None:\n    assert n.N == 1\n"
    (tmp_path / "test_n.py").write_text(test)
    one, two = mutants.of_python("n.py", source)
    found = mutants.meet(tmp_path, one, 60)
    assert (found["outcome"], found["by"]) == ("caught", "test_n.py::test_n")
    assert mutants.meet(tmp_path, two, 60)["outcome"] == "survived"
    assert (tmp_path / "n.py").read_text() == source
