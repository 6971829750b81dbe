"""The files of deploy/, and the programs that judge them."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"


def judged(program: str, *arguments: str | Path) -> str:
    """Run a checker, and fail with its words; what it printed. Some come with the tools for tests, the others with the
    system.
    """
    found = shutil.which(program, path=str(Path(sys.executable).parent)) or shutil.which(program)
    if found is None:
        pytest.skip(f"no {program} here")
    run = subprocess.run([found, *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def documents(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text()))


def alerts() -> list[dict[str, Any]]:
    [document] = documents(DEPLOY / "prometheus" / "alerts.yml")
    return [rule for group in document["groups"] for rule in group["rules"]]


def selectors(expression: str) -> Iterator[tuple[str, set[str]]]:
    """Each metric of ours in an expression, with the labels that it is selected by."""
    for name, inside in re.findall(r"\bleasehold_(\w+)(?:\{([^}]*)\})?", expression):
        yield name, set(re.findall(r"(\w+)\s*[=!]", inside or ""))


def grouped(expression: str) -> set[str]:
    """The labels by which an expression groups or matches."""
    lists = re.findall(r"\b(?:by|on)\s*\(([^)]*)\)", expression)
    return {label.strip() for found in lists for label in found.split(",")}
