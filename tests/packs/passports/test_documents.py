"""Documents as they come: encodings, doubled names, sheets with holes."""

import codecs
import contextlib
import io
import zipfile
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.passports.documents import XLSX, json_facts, read_json, sheet_facts, sheet_rows
from leasehold_packs.passports.errors import Code, PassportError
from leasehold_packs.passports.spreadsheet_cells import cell_name

ENCODINGS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("marked", [True, False], ids=["with a mark", "without a mark"])
def test_json_is_read_in_every_unicode_encoding(encoding: str, marked: bool) -> None:
    raw = (ENCODINGS[encoding] if marked else b"") + '{"größe": "😀"}'.encode(encoding)

    reading = json_facts(raw)

    assert reading.encoding == encoding
    assert [(fact.pointer, fact.value) for fact in reading.facts] == [("/größe", "😀")]


@settings(deadline=None)
@given(st.sampled_from(sorted(ENCODINGS)), st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20))
def test_a_text_comes_out_as_it_went_in(encoding: str, text: str) -> None:
    raw = ENCODINGS[encoding] + f'["{text.replace(chr(92), "").replace(chr(34), "")}"]'.encode(encoding)

    assert read_json(raw) == [text.replace("\\", "").replace('"', "")]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b'{"a": 1, "a": 2}', "there twice"),
        (b'{"x": {"a": 1, "\\u0061": 2}}', "there twice"),
        (b"[NaN]", "NaN is no number"),
        (b"[-Infinity]", "-Infinity is no number"),
        (b'{"a": 1,}', "no JSON"),
        (b"", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b'"\xff"', "no utf-8"),
        (b"\xff\xfe{", "no utf-16-le"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[" * 80 + b"]" * 80, "levels"),
        (b"[1e999]", "too large"),
        (b"[" + b"9" * 500 + b"]", "no number"),
    ],
)
def test_what_is_no_proper_json_is_refused_for_good(raw: bytes, words: str) -> None:
    with pytest.raises(PassportError, match=words) as refused:
        json_facts(raw)

    assert refused.value.code == Code.VALIDATION_ERROR


def test_a_document_above_the_limit_is_too_large() -> None:
    with pytest.raises(PassportError, match="bytes") as refused:
        json_facts(b'"0123456789"', limit=10)

    assert refused.value.code == Code.PAYLOAD_TOO_LARGE


def test_more_values_than_allowed_are_too_large() -> None:
    with pytest.raises(PassportError) as refused:
        json_facts(b"[" + b"1," * 100_000 + b"1]")

    assert refused.value.code == Code.PAYLOAD_TOO_LARGE


def test_each_leaf_is_a_fact_with_its_place() -> None:
    reading = json_facts(b'{"a": [1, {"b/c": 2.50}], "e": [], "n": null}', under="/labels")

    assert [(fact.pointer, fact.value, fact.source.ref) for fact in reading.facts] == [
        ("/labels/a/0", 1, "/a/0"),
        ("/labels/a/1/b~1c", Decimal("2.50"), "/a/1/b~1c"),
        ("/labels/e", [], "/e"),
        ("/labels/n", None, "/n"),
    ]
    assert {fact.source.document for fact in reading.facts} == {reading.sha256}


def test_values_that_cannot_be_kept_are_reported_and_the_others_read() -> None:
    reading = json_facts(b'{"a": "x\\u0000", "b": "\\ud800", "c": {"0": 1}, "d": "fine", "e\\u0007": 1}')

    assert [fact.pointer for fact in reading.facts] == ["/d"]
    assert [error.at for error in reading.errors] == ["/a", "/b", "/c/0", "/e\u0007"]


@pytest.mark.parametrize("delimiter", list(",;\t|"))
def test_the_delimiter_of_a_sheet_is_found(delimiter: str) -> None:
    lines = [["serial", "mass [kg]"], ["A1", '"1,5;x|y"'], ["A2", "2"]]
    raw = "\r\n".join(delimiter.join(line) for line in lines).encode()

    sheet = sheet_rows(raw)

    assert [(fact.pointer, fact.value, fact.unit) for fact in sheet.rows[0].facts] == [
        ("/serial", "A1", None),
        ("/mass", "1,5;x|y", "kg"),
    ]
    assert [fact.source.ref for fact in sheet.rows[1].facts] == ["A3", "B3"]


@pytest.mark.parametrize(
    ("raw", "encoding"),
    [
        ("größe;x\n1;2\n".encode(), "utf-8"),
        ("größe;x\n1;2\n".encode("cp1252"), "cp1252"),
        (codecs.BOM_UTF16_LE + "größe;x\n1;2\n".encode("utf-16-le"), "utf-16-le"),
    ],
)
def test_sheets_are_read_in_the_encodings_that_spreadsheets_save(raw: bytes, encoding: str) -> None:
    sheet = sheet_rows(raw)

    assert sheet.encoding == encoding
    assert sheet.rows[0].facts[0].pointer == "/größe"


def test_bad_cells_are_named_and_the_others_read() -> None:
    sheet = sheet_rows(b"a,,a,b\n1,2,3,4\n1,2\n\n,,,\x07\n5,6,7,8\n")

    assert [(row.number, [fact.value for fact in row.facts]) for row in sheet.rows] == [
        (2, ["1", "4"]),
        (5, []),
        (6, ["5", "8"]),
    ]
    assert [error.at for error in sheet.errors] == ["B1", "C1", "B3", "D5"]


@pytest.mark.parametrize(
    ("header", "pointer", "unit"),
    [
        ("mass", "/mass", None),
        ("mass [kg]", "/mass", "kg"),
        ("mass[ kg ]", "/mass", "kg"),
        ("mass []", "/mass", None),
        ("mass [kg] net", "/mass [kg] net", None),
        ("/a/0/b [%]", "/a/0/b", "%"),
        ("a/b", "/a~1b", None),
        (f"a{' ' * 60_000}b", f"/a{' ' * 60_000}b", None),
    ],
    ids=["plain", "unit", "close", "no unit", "not at the end", "pointer", "slash", "long"],
)
def test_a_column_is_named_by_its_header(header: str, pointer: str, unit: str | None) -> None:
    (fact,) = sheet_rows(f"{header}\n1\n".encode()).rows[0].facts

    assert (fact.pointer, fact.unit) == (pointer, unit)


def test_a_sheet_of_facts_has_pointers_values_and_units() -> None:
    reading = sheet_facts(b"pointer;value;unit\n/mass;430;kg\nmass;1;\n/note;;\n", under="/general")

    assert [(fact.pointer, fact.value, fact.unit, fact.source.ref) for fact in reading.facts] == [
        ("/general/mass", "430", "kg", "B2")
    ]
    assert [error.at for error in reading.errors] == ["A3"]


@pytest.mark.parametrize("raw", [b"a,b\n1,2\n", b""])
def test_a_sheet_of_facts_without_its_columns_is_refused(raw: bytes) -> None:
    with pytest.raises(PassportError, match="pointer and value"):
        sheet_facts(raw)


def test_an_open_quote_is_no_csv() -> None:
    with pytest.raises(PassportError, match="no CSV"):
        sheet_rows(b'a,b\n"1,2\n')


@pytest.mark.parametrize(("place", "name"), [(0, "A7"), (25, "Z7"), (26, "AA7"), (701, "ZZ7"), (702, "AAA7")])
def test_cells_are_named_as_a_spreadsheet_names_them(place: int, name: str) -> None:
    assert cell_name(7, place) == name


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_by_our_own_error(raw: bytes) -> None:
    for read in (json_facts, sheet_rows, sheet_facts):
        with contextlib.suppress(PassportError):
            read(raw)


# -- XLSX -----------------------------------------------------------------------------------------------------------


def workbook(*lines: list[Any], title: str = "Data", more: Mapping[str, bytes] = MappingProxyType({})) -> bytes:
    """As a spreadsheet program saves it; ``more`` replaces or adds members of the zip."""
    made, out = openpyxl.Workbook(), io.BytesIO()
    made.active.title = title
    for line in lines:
        made.active.append(line)
    made.save(out)
    changed = io.BytesIO()
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name not in more:
                new.writestr(name, old.read(name))
        for name, raw in more.items():
            new.writestr(name, raw)
    return changed.getvalue()


SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    '<row r="1"><c r="A1" t="str"><v>pointer</v></c><c r="B1" t="str"><v>value</v></c></row>'
    '<row r="2"><c r="A2" t="str"><v>/kept</v></c><c r="B2"><f>1+1</f><v>2</v></c></row>'
    '<row r="3"><c r="A3" t="str"><v>/lost</v></c><c r="B3"><f>1+1</f></c></row>'
    '<row r="4"><c r="A4" t="str"><v>/wrong</v></c><c r="B4" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>'
    "</sheetData></worksheet>"
)


def test_a_workbook_gives_typed_facts_with_their_cells() -> None:
    raw = workbook(
        ["pointer", "value", "unit"],
        ["/mass", 430.5, "kg"],
        ["/ok", True],
        ["/made", datetime.fromisoformat("2026-03-01")],
        ["/sold", datetime.fromisoformat("2026-03-01T08:30")],
        ["/note", None],
        ["/name", "Größe"],
        ["/mass", 1],
    )

    reading = sheet_facts(raw, media_type=XLSX, under="/general")

    assert [(fact.pointer, fact.value, fact.unit, fact.source.ref) for fact in reading.facts] == [
        ("/general/mass", Decimal("430.5"), "kg", "Data!B2"),
        ("/general/ok", True, None, "Data!B3"),
        ("/general/made", "2026-03-01", None, "Data!B4"),
        ("/general/sold", "2026-03-01T08:30:00", None, "Data!B5"),
        ("/general/name", "Größe", None, "Data!B7"),
    ]
    assert [(error.at, error.message) for error in reading.errors] == [("Data!A8", "is the pointer of an earlier line")]


def test_formulas_count_by_the_value_that_was_kept_and_errors_are_named_by_their_cell() -> None:
    reading = sheet_facts(workbook(more={"xl/worksheets/sheet1.xml": SHEET.encode()}), media_type=XLSX)

    assert [(fact.pointer, fact.value) for fact in reading.facts] == [("/kept", 2)]
    assert [error.at for error in reading.errors] == ["Data!B3", "Data!B4"]
    assert "without a kept value" in reading.errors[0].message
    assert "#DIV/0!" in reading.errors[1].message


def test_lines_of_a_workbook_are_batteries_like_those_of_a_csv() -> None:
    sheet = sheet_rows(workbook(["serial", "mass [kg]"], ["S1", 5], [None, None], ["S2", 6.5]), media_type=XLSX)

    assert [(row.number, [(fact.pointer, fact.value, fact.unit) for fact in row.facts]) for row in sheet.rows] == [
        (2, [("/serial", "S1", None), ("/mass", 5, "kg")]),
        (4, [("/serial", "S2", None), ("/mass", Decimal("6.5"), "kg")]),
    ]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"no zip", Code.VALIDATION_ERROR),
        (workbook(more={"bomb": bytes(65 * 2**20)}), Code.PAYLOAD_TOO_LARGE),
        (workbook(more={"xl/workbook.xml": b'<!DOCTYPE a [<!ENTITY b "c">]><a/>'}), Code.VALIDATION_ERROR),
        (workbook(more={"xl/workbook.xml": b"<a"}), Code.VALIDATION_ERROR),
        (workbook(), Code.VALIDATION_ERROR),
        (workbook(["a"], ["b"]), Code.VALIDATION_ERROR),
    ],
    ids=["no zip", "a bomb", "entities", "damaged", "empty", "no columns that we know"],
)
def test_a_workbook_that_cannot_be_read_is_refused_as_a_whole(raw: bytes, code: Code) -> None:
    with pytest.raises(PassportError) as refused:
        sheet_facts(raw, media_type=XLSX)

    assert refused.value.code == code
