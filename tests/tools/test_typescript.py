"""The types of the TypeScript SDK are what the committed OpenAPI document says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tools import typescript

DOCUMENT: dict[str, Any] = json.loads(typescript.DOCUMENT.read_text())
LOCK = typescript.ROOT / "sdk" / "typescript" / "package-lock.json"


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The document with one member more, and nothing made from it yet."""
    document = json.loads(typescript.DOCUMENT.read_text())
    document["components"]["schemas"]["JobMade"]["properties"]["lucky"] = {"type": "boolean"}
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    (tmp_path / "generated.ts").write_text(typescript.MADE.read_text())
    monkeypatch.setattr(typescript, "ROOT", tmp_path)
    monkeypatch.setattr(typescript, "DOCUMENT", tmp_path / "openapi.json")
    monkeypatch.setattr(typescript, "MADE", tmp_path / "generated.ts")
    return tmp_path / "generated.ts"


def test_the_committed_types_are_those_of_the_committed_document() -> None:
    assert typescript.main(["--check"]) == 0, "run `python -m tools.typescript`"


def test_a_changed_document_fails_the_check_until_the_types_are_made_again(
    changed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typescript.main(["--check"]) == 1
    assert "run `python -m tools.typescript`" in capsys.readouterr().out
    assert typescript.main([]) == 0
    assert typescript.main(["--check"]) == 0
    assert "lucky?: boolean;" in changed.read_text()


def test_make_check_looks_at_the_types() -> None:
    makefile = (typescript.ROOT / "Makefile").read_text()
    check = re.search(r"^check:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert check
    assert "python -m tools.typescript --check" in check[1]


def test_every_operation_that_answers_with_json_is_there() -> None:
    made = typescript.text(DOCUMENT)
    names = {one["operationId"] for item in DOCUMENT["paths"].values() for one in item.values()}
    without = {name for name in names if f'  "{name}": {{"method"' not in made}
    assert without == {"health.metrics", "reports.content", "reports.file"}


def test_a_moment_may_be_a_date_in_a_request_and_is_text_in_an_answer() -> None:
    made = typescript.text(DOCUMENT)
    assert "  run_at?: Moment | null;" in declared(made, "JobRequest")
    assert "  run_at: string;" in declared(made, "Job")


def declared(made: str, name: str) -> list[str]:
    """The lines of an interface."""
    lines = made.splitlines()
    start = lines.index(f"export interface {name} {{")
    return lines[start : lines.index("}", start)]


def test_what_may_be_sent_twice_is_marked() -> None:
    marks = dict(re.findall(r'^  "([\w.]+)": {.*?"repeat": (\w+), "once"', typescript.text(DOCUMENT), re.MULTILINE))
    assert [marks[name] for name in ("jobs.create", "jobs.get", "workers.finish")] == ["true"] * 3
    assert [marks[name] for name in ("keys.create", "tickets.create")] == ["false"] * 2


def test_a_schema_that_the_program_cannot_read_is_an_error_and_not_a_guess() -> None:
    document = json.loads(typescript.DOCUMENT.read_text())
    document["components"]["schemas"]["JobMade"]["properties"]["job"] = {"oneOf": [{"type": "null"}]}
    with pytest.raises(ValueError, match="does not read"):
        typescript.text(document)


def test_the_lock_of_the_sdk_pins_by_hash_and_names_no_host() -> None:
    lock = json.loads(LOCK.read_text())
    packages = [one for path, one in lock["packages"].items() if path]
    assert packages
    assert all(one["integrity"].startswith("sha512-") and "resolved" not in one for one in packages)
    assert [*lock["packages"][""]["dependencies"]] == ["@types/node"], "of the platform alone"
