"""What errors, pages and answers tell people to type is there to be typed."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from tests.docs.test_code_blocks import parse

ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / "src", ROOT / "packs" / "src"]
#: A command as far as it can be told from the sentence around it.
_COMMAND = re.compile(r"\bleasehold ([a-z][^\n\"'`<>;(…\\]*)")


def texts(file: Path) -> Iterator[str]:
    """What a file has to say to people: the strings of modules and of SQL, and the lines of anything else."""
    if file.suffix != ".py":
        for line in file.read_text().splitlines():
            yield from re.findall("'([^']*)'", line) if file.suffix == ".sql" else [line]
        return
    nodes = list(ast.walk(ast.parse(file.read_text())))
    explained = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # by and for programmers
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in explained | parts:
            yield node.value


def named(text: str) -> list[str]:
    return [found.partition(" | ")[0].rstrip() for found in _COMMAND.findall(text)]


COMMANDS = sorted(
    {
        (str(file.relative_to(source)), command)
        for source in SOURCES
        for suffix in ("py", "sql", "html", "js")
        for file in source.rglob(f"*.{suffix}")
        for text in texts(file)
        for command in named(text)
    }
)


def is_known(command: str) -> bool:
    """Whether its verbs and options exist; its arguments may be left out, or stand for others."""
    try:
        parse(shlex.split(command))
    except typer.Exit:
        pass
    except Exception as problem:  # whatever the library of the command line calls it
        return not re.search("no such", str(problem), re.IGNORECASE)
    return True


@pytest.mark.parametrize(("file", "command"), COMMANDS, ids=[": ".join(one) for one in COMMANDS])
def test_a_command_that_somebody_is_told_to_use_exists(file: str, command: str) -> None:
    assert is_known(command)


def test_hints_of_all_parts_are_looked_at() -> None:
    where = [file for file, _ in COMMANDS]
    for part in ("engine", "sql", "cli", "features", "postings", "monitors", "audits", "passports"):
        assert any(f"/{part}/" in f"/{file}" for file in where), part


@pytest.mark.parametrize("command", ["kinds pause", "jobs lost 17", "gates list --rate-of X"])
def test_a_hint_that_leads_nowhere_would_be_found(command: str) -> None:
    assert named(f"there is no way, or `leasehold {command}`") == [command]
    assert not is_known(command)
