"""The rules of the house: each fails on a small tree that breaks it, and the tree itself keeps them."""

import re
from pathlib import Path

import pytest

from tools import check_shape

SHAPE = """
untested_modules = 5
[tested_elsewhere]
routes = "by the document"
[files]
"__init__.py" = "its value"
"sql/*.sql" = "one function each"
"store.py" = "calls them"
"routes.py" = "HTTP"
[kernel]
"engine" = "calls SQL"
[required]
jobs = "tenants see it"
[kernel_sql]
"engine/sql/lead.sql" = ["limits"]
[features.jobs]
page = "docs/jobs.md"
domain = ["syntax"]
[features.limits]
page = "docs/limits.md"
[packs.shop]
page = "docs/shop.md"
domain = ["prices"]
others = ["checks"]
imports = ["runs"]
[pack_libraries]
runs = "what packs share"
[long_files]
"src/leasehold/engine/jobs.py" = 450
[long_sql]
"packs/src/leasehold_packs/shop/store.py" = 1
[long_lines]
"src" = 1
"""
FILES = {
    "tools/shape.toml": SHAPE,
    "CONTRIBUTING.md": "# Contributing\n\n<!-- shape -->\n\n<!-- /shape -->\n",
    "docs/jobs.md": "# Jobs\n",
    "docs/limits.md": "# Limits\n",
    "src/leasehold/__init__.py": '"""A house."""\n',
    "src/leasehold/engine/__init__.py": '"""Calls SQL."""\n',
    "src/leasehold/engine/jobs.py": "#\n" * 420,
    "src/leasehold/engine/text.py": "#" * 120 + "\n",
    "src/leasehold/features/__init__.py": '"""What users name."""\n',
    "src/leasehold/engine/sql/lead.sql": "select leasehold.get_job(), leasehold.limit_queue();\n",
    "src/leasehold/features/jobs/__init__.py": '"""Jobs."""\n\nfeature = Feature(name="jobs", needs=("limits",))\n',
    "src/leasehold/features/jobs/routes_bulk.py": "from leasehold.features.limits import store\n",
    "src/leasehold/features/jobs/sql/get_job.sql": "select 1;\n",
    "src/leasehold/features/limits/sql/limit_queue.sql": "select leasehold.now();\n",
    "src/leasehold/features/jobs/syntax.py": "import re\n",
    "src/leasehold/features/limits/__init__.py": '"""Limits."""\n',
    "src/leasehold/features/limits/store.py": "from leasehold.engine import jobs\n",
    "docs/shop.md": "# Shop\n",
    "packs/src/leasehold_packs/runs/__init__.py": '"""What packs share."""\n',
    "packs/src/leasehold_packs/shop/__init__.py": '"""A shop."""\n',
    "packs/src/leasehold_packs/shop/checks/__init__.py": "",
    "packs/src/leasehold_packs/shop/prices.py": "from leasehold_packs.runs.run import Runs\n",
    "packs/src/leasehold_packs/shop/store.py": (
        'LIST = (\n    "select price"\n    " from leasehold_shop.item"\n    ""\n)\n'
    ),
    "tests/features/jobs/test_routes.py": "",
    "tests/features/limits/test_store.py": "",
}


@pytest.fixture
def house(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    for name, text in FILES.items():
        plant(tmp_path, name, text)
    assert check_shape.main(["--write"], tmp_path) == 0
    capsys.readouterr()
    return tmp_path


def plant(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def change(root: Path, old: str, new: str) -> None:
    path = root / "tools" / "shape.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_this_repository_is_in_shape(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_shape.main([]) == 0, capsys.readouterr().out


def test_make_check_looks_at_the_shape() -> None:
    makefile = (check_shape.ROOT / "Makefile").read_text()
    check = re.search(r"^check:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert check
    assert "python -m tools.check_shape" in check[1]


BREAKS = {
    "a file with a name of its own": (
        "src/leasehold/features/jobs/helpers.py",
        "",
        "features/jobs/helpers.py: no file name of a feature",
    ),
    "a folder with a name of its own": (
        "src/leasehold/features/jobs/parts/one.py",
        "",
        "features/jobs/parts/one.py: no file name of a feature",
    ),
    "a feature that is not listed": (
        "src/leasehold/features/notes/__init__.py",
        '"""Notes."""\n',
        "features/notes: not in tools/shape.toml",
    ),
    "a module beside the features": (
        "src/leasehold/features/shared.py",
        "",
        "features/shared.py: not a feature",
    ),
    "a package that is not listed": (
        "src/leasehold/extras/__init__.py",
        '"""More."""\n',
        "src/leasehold/extras: not in tools/shape.toml",
    ),
    "a docstring of two sentences": (
        "src/leasehold/engine/__init__.py",
        '"""Calls SQL. Does more."""\n',
        "src/leasehold/engine/__init__.py: its docstring is not one sentence",
    ),
    "no docstring": (
        "src/leasehold/features/jobs/__init__.py",
        "",
        "src/leasehold/features/jobs/__init__.py: its docstring is not one sentence",
    ),
    "another feature inside a function": (
        "src/leasehold/features/limits/routes.py",
        "def late():\n    import leasehold.features.jobs.store\n",
        "features/limits/routes.py: uses the feature jobs; name it in needs",
    ),
    "a function of another feature": (
        "src/leasehold/features/limits/sql/list_limits.sql",
        "-- As leasehold.limit_queue does.\nselect leasehold.get_job();\n",
        "features/limits/list_limits.sql: uses the feature jobs; name it in needs",
    ),
    "a function of the kernel that names a feature": (
        "src/leasehold/engine/sql/claim.sql",
        "select leasehold.limit_queue();\n",
        "engine/sql/claim.sql: uses the feature limits",
    ),
    "a long file": (
        "src/leasehold/features/jobs/routes.py",
        "#\n" * 401,
        "src/leasehold/features/jobs/routes.py: 401 lines, at most 400",
    ),
    "a listed long file that grows": (
        "src/leasehold/engine/jobs.py",
        "#\n" * 451,
        "src/leasehold/engine/jobs.py: 451 lines, at most 450",
    ),
    "one more long line": (
        "src/leasehold/features/jobs/sql/get_job.sql",
        "-" * 101 + "\n",
        "src: 2 lines above 100 columns, at most 1",
    ),
    "a module without a test file of its name": (
        "src/leasehold/features/limits/handlers.py",
        "",
        "6 modules have no test file of their name, at most 5; `python -m tools.check_shape --untested` lists them",
    ),
    "a pack that is not listed": (
        "packs/src/leasehold_packs/notes/__init__.py",
        '"""Notes."""\n',
        "leasehold_packs/notes: not in tools/shape.toml",
    ),
    "a file of a pack with a name of its own": (
        "packs/src/leasehold_packs/shop/helpers.py",
        "",
        "leasehold_packs/shop/helpers.py: no file name of a feature",
    ),
    "a library that imports a pack": (
        "packs/src/leasehold_packs/runs/run.py",
        "from leasehold_packs.shop import store\n",
        "leasehold_packs/runs/run.py: imports shop",
    ),
    "a long statement": (
        "packs/src/leasehold_packs/shop/routes.py",
        'f"""\nselect {1}\nfrom leasehold_shop.item\n"""\n',
        "packs/src/leasehold_packs/shop/routes.py: 1 statements of more than 2 lines, at most 0",
    ),
    "a section that was edited by hand": (
        "CONTRIBUTING.md",
        "<!-- shape -->\nanything\n<!-- /shape -->\n",
        "CONTRIBUTING.md: run `python -m tools.check_shape --write`",
    ),
}


@pytest.mark.parametrize("what", BREAKS)
def test_what_breaks_a_rule_fails(what: str, house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, text, problem = BREAKS[what]
    plant(house, name, text)
    assert check_shape.main([], house) == 1
    assert problem in capsys.readouterr().out.splitlines()


NO_LONGER = {
    "a name of a feature in the kernel": (
        "src/leasehold/engine/sql/lead.sql",
        "select leasehold.get_job();\n",
        "engine/sql/lead.sql: no longer uses limits; change tools/shape.toml",
    ),
    "an import": (
        "src/leasehold/features/jobs/routes_bulk.py",
        "",
        "features/jobs: no longer needs limits",
    ),
    "a long file": (
        "src/leasehold/engine/jobs.py",
        "#\n" * 400,
        "src/leasehold/engine/jobs.py: below 400 lines now; remove it from tools/shape.toml",
    ),
    "an import of a pack": (
        "packs/src/leasehold_packs/shop/prices.py",
        "",
        "leasehold_packs/shop: no longer imports runs; see tools/shape.toml",
    ),
    "a long statement": (
        "packs/src/leasehold_packs/shop/store.py",
        'LIST = "select price"\n',
        "packs/src/leasehold_packs/shop/store.py: has no long statement now; remove it from tools/shape.toml",
    ),
    "a count of modules without a test file": (
        "tests/engine/test_jobs_claim.py",
        "",
        "4 modules have no test file of their name; change untested_modules",
    ),
    "a count of long lines": (
        "src/leasehold/engine/text.py",
        "#\n",
        "src: 0 lines above 100 columns, written are 1; run `python -m tools.check_shape --write`",
    ),
}


@pytest.mark.parametrize("what", NO_LONGER)
def test_an_exception_that_is_not_needed_fails(what: str, house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, text, problem = NO_LONGER[what]
    plant(house, name, text)
    assert check_shape.main([], house) == 1
    assert problem in capsys.readouterr().out.splitlines()


GONE = {
    "src/leasehold/features/jobs/syntax.py": "has no syntax.py; remove it from tools/shape.toml",
    "docs/jobs.md": "its page docs/jobs.md does not exist",
    "tests/features/jobs/test_routes.py": "no tests in tests/features/jobs",
}


@pytest.mark.parametrize("name", GONE)
def test_what_is_listed_must_be_there(name: str, house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (house / name).unlink()
    assert check_shape.main([], house) == 1
    assert f"features/jobs: {GONE[name]}" in capsys.readouterr().out.splitlines()


def test_a_pack_has_what_is_listed(house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (house / "packs/src/leasehold_packs/shop/checks/__init__.py").unlink()
    (house / "packs/src/leasehold_packs/shop/checks").rmdir()
    (house / "docs/shop.md").unlink()
    assert check_shape.main([], house) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "leasehold_packs/shop: has no checks; remove it from tools/shape.toml" in lines
    assert "leasehold_packs/shop: its page docs/shop.md does not exist" in lines


def test_a_feature_without_a_folder_fails(house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(house, "[long_files]", '[features.notes]\npage = "docs/jobs.md"\n[long_files]')
    assert check_shape.main([], house) == 1
    assert "features/notes: only in tools/shape.toml" in capsys.readouterr().out.splitlines()


def test_the_table_says_where_a_line_belongs(house: Path) -> None:
    text = (house / "CONTRIBUTING.md").read_text()
    assert "(src/leasehold/features/jobs)" in text
    assert "| `store.py` | calls them |" in text
    assert "| `engine` | calls SQL |" in text


def test_a_count_is_lowered_and_never_raised(house: Path) -> None:
    plant(house, "src/leasehold/engine/text.py", "#\n")
    check_shape.main(["--write"], house)
    assert '"src" = 0\n' in (house / "tools" / "shape.toml").read_text()
    plant(house, "src/leasehold/engine/text.py", "#" * 120 + "\n")
    assert check_shape.main(["--write"], house) == 1


def test_modules_without_a_test_file_of_their_name_are_listed(house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("routes_keys.py", "store.py"):
        plant(house, f"src/leasehold/features/jobs/{name}", "")
    check_shape.main(["--untested"], house)
    lines = capsys.readouterr().out.splitlines()
    assert "src/leasehold/features/jobs/store.py" in lines
    assert "src/leasehold/features/jobs/routes_keys.py" not in lines, "tested elsewhere"
