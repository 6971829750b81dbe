"""How a run of the tests divides the folders."""

import tomllib

import pytest

from tests import run

#: 15 % of the 7,876 cases that `make test` had when the list began.
MOST = 1181


@pytest.mark.parametrize("table", ["tests", "long_tests"])
def test_each_file_of_tests_is_run_by_one_process_and_each_folder_has_a_budget(
    table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    budgets = run.read_budgets(table)
    assert "no budget" not in capsys.readouterr().out
    assert all((run.ROOT / "tests" / name).exists() for name in budgets)
    divided = [name for part in run.divide(budgets, run.PARTS) for name in part]
    assert sorted(divided) == sorted(budgets)
    paths = [path for name in divided for path in run.paths_of(name, budgets)]
    chosen = [
        str(file.relative_to(run.ROOT))
        for path in paths
        for file in ([run.ROOT / path] if path.endswith(".py") else (run.ROOT / path).rglob("*.py"))
        if file.name.startswith("test_")
    ]
    there = {str(path.relative_to(run.ROOT)) for path in (run.ROOT / "tests").rglob("test_*.py")}
    if table == "long_tests":
        there = {path for path in there if run.LONG in (run.ROOT / path).read_text()}
    assert len(chosen) == len(set(chosen))
    assert there <= set(chosen)


def test_the_longest_part_goes_first_and_none_holds_more_than_its_share() -> None:
    budgets = {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 2.0}
    assert run.divide(budgets, 2) == [["a", "d", "e"], ["b", "c"]]


def test_a_file_with_a_budget_is_not_run_with_its_folder() -> None:
    budgets = {"tools": 1.0, "tools/test_run.py": 1.0}
    assert run.paths_of("tools/test_run.py", budgets) == ["tests/tools/test_run.py"]
    assert "tests/tools/test_run.py" not in run.paths_of("tools", budgets)
    assert "tests/tools/test_move.py" in run.paths_of("tools", budgets)
    assert run.folder_of("tests/tools/test_run.py::test_x", budgets) == "tools/test_run.py"
    assert run.folder_of("tests/tools/test_move.py::test_x", budgets) == "tools"


def test_what_left_make_test_is_listed_and_is_little() -> None:
    listed = tomllib.loads((run.ROOT / "tests" / "left_out.toml").read_text())["left_out"]
    assert sum(entry["cases"] for entry in listed) <= MOST
    for entry in listed:
        file, _, name = entry["test"].partition("::")
        text = (run.ROOT / file).read_text()
        begin = text.index(f"def {name}(")
        assert run.LONG in text[text.rindex("\n\n\n", 0, begin) - 400 : begin], entry["test"]
        assert entry["reason"]
