"""The fenced blocks of the documentation, as they stand on their pages."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(r"^```(\w*)\s*$")
_COMMENT = re.compile(r"^<!-- (.+) -->\s*$")
_FILE = re.compile(r"^# (\w+\.py)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block. ``note`` is the HTML comment right before it."""

    page: Path
    line: int  # of its first line of text, from 1
    language: str
    text: str
    note: str

    @property
    def file(self) -> str | None:
        """The block's first line may say which file it is: ``# shop.py``."""
        found = _FILE.match(self.text.partition("\n")[0])
        return found[1] if found else None

    def __str__(self) -> str:
        page = self.page.relative_to(ROOT) if self.page.is_relative_to(ROOT) else self.page.name
        return f"{page}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    return list(_blocks(page))


def _blocks(page: Path) -> Iterator[Block]:
    note, language, start = "", None, 0
    lines = page.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        fence = _FENCE.match(line)
        if language is not None:
            if fence:
                yield Block(
                    page=page, line=start, language=language, text="\n".join(lines[start - 1 : number - 1]), note=note
                )
                note, language = "", None
        elif fence:
            language, start = fence[1], number + 1
        elif line:
            comment = _COMMENT.match(line)
            note = comment[1] if comment else ""


def commands(block: Block) -> Iterator[list[str]]:
    """The arguments of every ``leasehold …`` that a block of shell shows."""
    for line in block.text.splitlines():
        if block.language == "console" and not line.startswith("$ "):
            continue  # what a command printed
        words = shlex.split(line.removeprefix("$ "), comments=True)
        for command in _split(words):
            while command and re.match(r"\w+=", command[0]):
                command = command[1:]  # a variable for this command
            if command[:3] == ["python", "-m", "leasehold"]:
                command = command[2:]
            if command[:1] == ["leasehold"]:
                yield command[1:]


def _split(words: list[str]) -> Iterator[list[str]]:
    command: list[str] = []
    for word in words:
        if word in ("|", "&&", "||", ";", "&", ">"):
            yield command
            command = []
        else:
            command.append(word)
    yield command
