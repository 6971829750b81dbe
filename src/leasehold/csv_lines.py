"""CSV as RFC 4180 has it, with cells that no spreadsheet takes for a formula. Pure."""

import csv
import io
import re
from collections.abc import Iterable

#: Spreadsheets look past blanks, and some take the wide forms of East Asian keyboards for the plain ones.
_FORMULA = re.compile(r"[\s\ufeff\u200b]*[=+\-@＝＋－＠]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def csv_line(values: Iterable[object]) -> str:
    """One line. A text that would be a formula gets an apostrophe before it; None is an empty cell."""
    out = io.StringIO(newline="")
    csv.writer(out).writerow([_cell("" if value is None else str(value)) for value in values])
    return out.getvalue()


def _cell(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
