"""A document as a person sees it, every place by the name that facts have for it: cells, lines of JSON. Pure."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from leasehold_packs.passports.documents import CSV, XLSX, lines_of_sheets, read_json
from leasehold_packs.passports.pointers import token
from leasehold_packs.passports.spreadsheet_cells import cell_name

MAX_LINES = 500
_MAX_COLUMNS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """``ref`` is what a fact that was read here names as its source."""

    ref: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The first lines. A JSON document is a sheet of one column."""

    name: str
    lines: list[list[Place]]
    is_whole: bool


def sheets_of(raw: bytes, media_type: str) -> list[Sheet]:
    if media_type in (CSV, XLSX):
        return [_sheet(name, lines) for name, lines in lines_of_sheets(raw, media_type=media_type)]
    lines = list(islice(_json_lines(read_json(raw), "", 0, ""), MAX_LINES + 1))
    shown = [[Place(ref=ref, text=text)] for ref, text in lines[:MAX_LINES]]
    return [Sheet(name="", lines=shown, is_whole=len(lines) <= MAX_LINES)]


def _sheet(name: str, lines: Iterable[Sequence[Any]]) -> Sheet:
    some = list(islice(lines, MAX_LINES + 1))
    shown = [
        [
            Place(ref=cell_name(number, place, sheet=name), text=str(cell))
            for place, cell in enumerate(line[:_MAX_COLUMNS])
        ]
        for number, line in enumerate(some[:MAX_LINES], start=1)
    ]
    is_whole = len(some) <= MAX_LINES and all(len(line) <= _MAX_COLUMNS for line in some)
    return Sheet(name=name, lines=shown, is_whole=is_whole)


def _json_lines(tree: Any, at: str, depth: int, label: str) -> Iterator[tuple[str, str]]:
    """The pointer and the text of each line. What only closes something is no place of its own, and left out."""
    indent = "\u2003" * depth
    if isinstance(tree, dict | list) and tree:
        yield at, f"{indent}{label}{'{' if isinstance(tree, dict) else '['}"
        members = tree.items() if isinstance(tree, dict) else enumerate(tree)
        for name, child in members:
            below = f"{json.dumps(name, ensure_ascii=False)}: " if isinstance(tree, dict) else ""
            yield from _json_lines(child, f"{at}/{token(str(name))}", depth + 1, below)
    else:
        yield at, f"{indent}{label}{json.dumps(tree, ensure_ascii=False, default=str)}"
