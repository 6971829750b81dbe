"""Documents as they come: JSON in any Unicode encoding, CSV with any usual delimiter, XLSX. Out come facts with places.

A document that cannot be read at all is an error; a cell that cannot is reported, and the others are read.
"""

import codecs
import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any, NoReturn

from leasehold_packs.passports import xlsx
from leasehold_packs.passports.errors import Finding, PassportError, invalid, too_large
from leasehold_packs.passports.facts import Fact, Source
from leasehold_packs.passports.pointers import is_index, leaves, token
from leasehold_packs.passports.quantities import number
from leasehold_packs.passports.spreadsheet_cells import cell_name

MAX_BYTES = 16 * 2**20
CSV = "text/csv"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_FACTS = 100_000
MAX_COLUMNS = 1_000
MAX_TEXT = 65_536

# UTF-32 comes first: its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DELIMITERS = ",;\t|"
_SNIFFED_CHARACTERS = 65_536
_SNIFFED_ROWS = 50
# A control character in a text is damage, and PostgreSQL keeps no NUL; half a surrogate pair has no canonical form.
_UNKEPT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a document says: its facts, and the cells that could not be read."""

    sha256: str
    encoding: str
    facts: tuple[Fact, ...]
    errors: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a sheet, which is about one thing."""

    number: int
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    sha256: str
    encoding: str
    rows: tuple[Row, ...]
    errors: tuple[Finding, ...]


# -- JSON -----------------------------------------------------------------------------------------------------------


def json_facts(raw: bytes, *, under: str = "", limit: int = MAX_BYTES) -> Reading:
    """A fact for each leaf. ``under`` is where the document belongs in the passport, such as /labels."""
    document = sha256(raw).hexdigest()
    text, encoding = _json_text(raw, limit)
    tree = _parsed(text)
    numbered = tuple(_named_by_digits(tree, ""))
    facts, errors = [], []
    for pointer, value in _bounded(leaves(tree)):
        wrong = _wrong(pointer, value, numbered)
        if wrong:
            errors.append(Finding(at=pointer, message=wrong))
        else:
            source = Source(document=document, ref=pointer)
            facts.append(Fact(pointer=under + pointer, value=value, source=source))
    return Reading(sha256=document, encoding=encoding, facts=tuple(facts), errors=tuple(errors))


def read_json(raw: bytes, *, limit: int = MAX_BYTES) -> Any:
    """The value, with exact numbers. Refused: names that are there twice, NaN, and what is no JSON."""
    return _parsed(_json_text(raw, limit)[0])


def _json_text(raw: bytes, limit: int) -> tuple[str, str]:
    _check_size(raw, limit)
    return _decoded(raw, _marked(raw) or _by_zeros(raw))


def _by_zeros(raw: bytes) -> str:
    """JSON begins with ASCII, so that zeros among the first bytes tell an encoding without a mark."""
    zeros = "".join("0" if byte == 0 else "x" for byte in raw[:4])
    encodings = {"000x": "utf-32-be", "x000": "utf-32-le", "0x0x": "utf-16-be", "x0x0": "utf-16-le"}
    return encodings.get(zeros, "utf-8")


def _parsed(text: str) -> Any:
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_int=number, parse_float=number, parse_constant=_no_number
        )
    except json.JSONDecodeError as error:
        raise invalid(f"no JSON: {error.msg} in line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise invalid("no JSON that we read: it is nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise invalid(f"the name {name[:40]!r} is there twice")
        found[name] = value
    return found


def _no_number(word: str) -> NoReturn:
    raise invalid(f"{word} is no number of JSON")


def _named_by_digits(tree: Any, at: str) -> Iterator[str]:
    """Members of objects that would be elements of lists when facts are put together again."""
    if isinstance(tree, dict):
        yield from (f"{at}/{name}" for name in tree if is_index(name))
    members = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for name, child in members:
        yield from _named_by_digits(child, f"{at}/{token(str(name))}")


def _wrong(pointer: str, value: Any, numbered: tuple[str, ...]) -> str | None:
    if isinstance(value, str) and (wrong := _wrong_text(value)):
        return wrong
    if _UNKEPT.search(pointer):
        return "has a control character in its name"
    if any(pointer == at or pointer.startswith(f"{at}/") for at in numbered):
        return "has a name of digits alone, which cannot be told from a place in a list"
    return None


def _wrong_text(text: str) -> str | None:
    if len(text) > MAX_TEXT:
        return f"has more than {MAX_TEXT} characters"
    if _UNKEPT.search(text):
        return "has a control character, or half a surrogate pair"
    return None


# -- sheets ---------------------------------------------------------------------------------------------------------


def sheet_facts(raw: bytes, *, media_type: str = CSV, under: str = "") -> Reading:
    """A fact for each line, from sheets with the columns ``pointer``, ``value`` and, if you like, ``unit``."""
    tables = [table for table in _tables(raw, media_type) if {"pointer", "value"} <= set(table.header)]
    if not tables:
        raise invalid("the first line does not name the columns pointer and value")
    facts: dict[str, Fact] = {}
    for table in tables:
        _add_facts(table, under, facts)
    errors = [error for table in tables for error in table.errors]
    return Reading(
        sha256=tables[0].sha256, encoding=tables[0].encoding, facts=tuple(facts.values()), errors=tuple(errors)
    )


def _add_facts(table: "Table", under: str, facts: dict[str, Fact]) -> None:
    columns = {name: place for place, name in enumerate(table.header)}
    for line, cells in table.lines():
        by_name = {name: cells[place] for name, place in columns.items()}
        pointer, value = by_name["pointer"], by_name["value"]
        if not isinstance(pointer, str) or not pointer.startswith("/") or _wrong_text(pointer):
            table.wrong(line, columns["pointer"], "is no JSON pointer")
        elif under + pointer in facts:
            table.wrong(line, columns["pointer"], "is the pointer of an earlier line")
        elif value != "" and table.readable(line, columns["value"], value):
            unit = str(by_name.get("unit") or "") or None
            source = table.source(line, columns["value"])
            facts[under + pointer] = Fact(pointer=under + pointer, value=value, unit=unit, source=source)


def sheet_rows(raw: bytes, *, media_type: str = CSV, under: str = "") -> Sheet:
    """The facts of each line of the first sheet, by the names in its first line.

    ``mass [kg]`` has a unit; empty cells are no facts.
    """
    table = _tables(raw, media_type)[0]
    columns = _columns(table, under)
    rows = []
    for line, cells in table.lines():
        facts = tuple(
            Fact(pointer=pointer, value=cells[place], unit=unit, source=table.source(line, place))
            for place, pointer, unit in columns
            if cells[place] != "" and table.readable(line, place, cells[place])
        )
        rows.append(Row(number=line, facts=facts))
    return Sheet(sha256=table.sha256, encoding=table.encoding, rows=tuple(rows), errors=tuple(table.errors))


def lines_of_sheets(raw: bytes, *, media_type: str) -> list[tuple[str, Iterable[Sequence[Any]]]]:
    """The name and the lines of each sheet, as they stand there; a CSV is one without a name."""
    _check_size(raw, MAX_BYTES)
    if media_type != XLSX:
        return [("", _csv_records(_csv_text(raw)[0]))]
    return [(grid.name, grid.lines) for grid in xlsx.grids(raw)]


def _tables(raw: bytes, media_type: str) -> "list[Table]":
    _check_size(raw, MAX_BYTES)
    digest = sha256(raw).hexdigest()
    if media_type != XLSX:
        text, encoding = _csv_text(raw)
        return [Table(_csv_records(text), sha256=digest, encoding=encoding)]
    return [
        Table(grid.lines, sha256=digest, encoding="xlsx", name=grid.name, errors=grid.errors)
        for grid in xlsx.grids(raw)
    ]


def _columns(table: "Table", under: str) -> list[tuple[int, str, str | None]]:
    found: list[tuple[int, str, str | None]] = []
    for place, text in enumerate(table.header):
        name, unit = _name_and_unit(text)
        pointer = under + (name if name.startswith("/") else f"/{token(name)}")
        if not name or _wrong_text(name):
            table.wrong(1, place, "is no name; the column is left out")
        elif any(pointer == other for _, other, _ in found):
            table.wrong(1, place, "is the name of an earlier column; this one is left out")
        else:
            found.append((place, pointer, unit))
    return found


def _name_and_unit(header: str) -> tuple[str, str | None]:
    name, bracket, unit = header.rpartition("[")
    if not bracket or not unit.endswith("]"):
        return header, None
    return name.strip(), unit[:-1].strip() or None


class Table:
    """A sheet that is read line by line, and the errors on the way. Lines are counted as a spreadsheet does."""

    def __init__(
        self,
        lines: Iterable[Sequence[Any]],
        *,
        sha256: str,
        encoding: str,
        name: str = "",
        errors: Sequence[Finding] = (),
    ) -> None:
        self.sha256 = sha256
        self.encoding = encoding
        self.errors = list(errors)
        self._name = name
        self._lines = iter(lines)
        self.header = [str(cell).strip() for cell in next(self._lines, [])]
        if len(self.header) > MAX_COLUMNS:
            raise too_large(f"more than {MAX_COLUMNS} columns")

    def lines(self) -> Iterator[tuple[int, Sequence[Any]]]:
        """Each has as many cells as the first; one with more or fewer is reported and left out."""
        cells_so_far = 0
        for line, cells in enumerate(self._lines, start=2):
            if all(cell == "" for cell in cells):
                continue
            if len(cells) != len(self.header):
                self.wrong(line, len(cells) - 1, f"is the last of {len(cells)} cells, not {len(self.header)}")
                continue
            cells_so_far += len(cells)
            if cells_so_far > MAX_FACTS:
                raise too_large(f"more than {MAX_FACTS} cells")
            yield line, cells

    def readable(self, line: int, place: int, value: Any) -> bool:
        wrong = _wrong_text(value) if isinstance(value, str) else None
        if wrong:
            self.wrong(line, place, wrong)
        return wrong is None

    def wrong(self, line: int, place: int, message: str) -> None:
        self.errors.append(Finding(at=cell_name(line, place, sheet=self._name), message=message))

    def source(self, line: int, place: int) -> Source:
        return Source(document=self.sha256, ref=cell_name(line, place, sheet=self._name))


# -- CSV ------------------------------------------------------------------------------------------------------------


def _csv_records(text: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    except csv.Error as error:
        raise invalid(f"no CSV: {error}") from None


def _csv_text(raw: bytes) -> tuple[str, str]:
    """Windows-1252 is what a spreadsheet saves when it does not save Unicode."""
    marked = _marked(raw)
    if marked:
        return _decoded(raw, marked)
    try:
        return _decoded(raw, "utf-8")
    except PassportError:
        return _decoded(raw, "cp1252")


def _delimiter(text: str) -> str:
    """The one that divides most of the first lines as it divides the very first."""
    start = text[:_SNIFFED_CHARACTERS]
    return max(_DELIMITERS, key=lambda delimiter: _agreement(start, delimiter))


def _agreement(start: str, delimiter: str) -> tuple[int, int]:
    try:
        widths = [len(record) for record in islice(csv.reader(io.StringIO(start), delimiter=delimiter), _SNIFFED_ROWS)]
    except csv.Error:
        return 0, 0
    if not widths or widths[0] < 2:
        return 0, 0
    return widths.count(widths[0]), widths[0]


# -- both -----------------------------------------------------------------------------------------------------------


def _check_size(raw: bytes, limit: int) -> None:
    if len(raw) > limit:
        raise too_large(f"the document has {len(raw)} bytes, and {limit} are allowed")


def _marked(raw: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS if raw.startswith(mark)), None)


def _decoded(raw: bytes, encoding: str) -> tuple[str, str]:
    try:
        return raw.decode(encoding).removeprefix("\ufeff"), encoding
    except UnicodeDecodeError as error:
        raise invalid(f"the document is no {encoding}: byte {error.start}", hint="save it as UTF-8") from None


def _bounded(found: Iterator[tuple[str, Any]]) -> Sequence[tuple[str, Any]]:
    some = list(islice(found, MAX_FACTS + 1))
    if len(some) > MAX_FACTS:
        raise too_large(f"more than {MAX_FACTS} values")
    return some
