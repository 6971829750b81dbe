"""Workbooks of spreadsheet programs, with ``openpyxl``: the values that the program kept, never formulas run by us.

A workbook is a zip that strangers send: what it unpacks to is bounded before anything of it is read.
"""

import io
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import zip_longest
from typing import Any

from leasehold_packs.passports.errors import Finding, PassportError, invalid, too_large
from leasehold_packs.passports.quantities import number
from leasehold_packs.passports.spreadsheet_cells import cell_name

_MAX_UNPACKED = 64 * 2**20
_MAX_MEMBERS = 1_000
_MAX_SHEETS = 50
_MAX_CELLS = 1_000_000
# Entities are declared there. The text of a cell cannot have these bytes: it would write &lt;
_DECLARATIONS = [b"<!DOCTYPE", "<!DOCTYPE".encode("utf-16-le"), "<!DOCTYPE".encode("utf-16-be")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """One sheet: lines of numbers, booleans and texts as long as the first. What cannot be read is empty, and named."""

    name: str
    lines: list[list[Any]]
    errors: list[Finding]


def grids(raw: bytes) -> list[Grid]:
    """The sheets that have anything on them."""
    _check_unpacked(raw)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that do not matter here
            found = [grid for grid in _read(raw) if grid.lines]
    except PassportError:
        raise
    except Exception as error:  # the library has no error of its own for what is no workbook
        raise invalid(f"no XLSX that we read: {type(error).__name__} {str(error)[:200]}") from None
    if not found:
        raise invalid("the workbook has no sheet with anything on it")
    return found


def _check_unpacked(raw: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = archive.infolist()
            if len(members) > _MAX_MEMBERS or sum(member.file_size for member in members) > _MAX_UNPACKED:
                raise too_large(f"the workbook unpacks to more than {_MAX_UNPACKED} bytes")
            if any(_declares(archive.read(each)) for each in members if each.filename.endswith((".xml", ".rels"))):
                raise invalid("the workbook has declarations that no spreadsheet program writes")
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError):
        raise invalid("no XLSX: this is no zip that can be read") from None


def _declares(member: bytes) -> bool:
    return any(mark in member for mark in _DECLARATIONS)


def _read(raw: bytes) -> Iterator[Grid]:
    from openpyxl import load_workbook

    options = {"read_only": True, "keep_links": False}
    values = load_workbook(io.BytesIO(raw), data_only=True, **options)
    formulas = load_workbook(io.BytesIO(raw), data_only=False, **options)
    if len(values.worksheets) > _MAX_SHEETS:
        raise too_large(f"more than {_MAX_SHEETS} sheets")
    for kept, written in zip(values.worksheets, formulas.worksheets, strict=True):
        kept.reset_dimensions()  # what a file says of its own size is not to be trusted
        written.reset_dimensions()
        yield _grid(kept.title, zip(kept.iter_rows(), written.iter_rows(), strict=True))


def _grid(name: str, rows: Iterator[tuple[Sequence[Any], Sequence[Any]]]) -> Grid:
    errors: list[Finding] = []
    lines: list[list[Any]] = []
    cells_so_far = 0
    for line, (kept, written) in enumerate(rows, start=1):
        cells_so_far += 1 + len(kept)
        if cells_so_far > _MAX_CELLS:
            raise too_large(f"more than {_MAX_CELLS} cells")
        cells: list[Any] = []
        for place, (cell, formula) in enumerate(zip_longest(kept, written)):
            value, wrong = _value(cell, formula)
            cells.append(value)
            if wrong:
                errors.append(Finding(at=cell_name(line, place, sheet=name), message=wrong))
        lines.append(cells)
    return Grid(name=name, lines=_straight(lines), errors=errors)


def _straight(lines: list[list[Any]]) -> list[list[Any]]:
    """Without empty lines at the end, and with empty cells where a line ends before the first does."""
    while lines and all(cell == "" for cell in lines[-1]):
        lines.pop()
    while lines and lines[0] and lines[0][-1] == "":
        lines[0].pop()
    width = len(lines[0]) if lines else 0
    return [_as_wide(line, width) for line in lines]


def _as_wide(line: list[Any], width: int) -> list[Any]:
    while len(line) > width and line[-1] == "":
        line.pop()
    return line + [""] * (width - len(line))


def _value(cell: Any, formula: Any) -> tuple[Any, str | None]:
    value = cell.value if cell is not None else None
    if value is None:
        is_formula = formula is not None and formula.data_type == "f"
        return (
            "",
            "is a formula without a kept value; open and save it in a spreadsheet program" if is_formula else None,
        )
    if cell.data_type == "e":
        return "", f"has the error {value}"
    match value:
        case bool() | str():
            return value, None
        case int() | float():
            return number(repr(value)), None
        case datetime():
            return (value.date() if value.time() == time() else value).isoformat(), None
        case date() | time():
            return value.isoformat(), None
        case timedelta():
            return str(value), None
    return "", f"has a {type(value).__name__}, which is no value of a fact"
