"""Lines as they come, in the bytes of a format, piece by piece: a long report is never whole in memory."""

import io
import json
import zipfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from leasehold.csv_lines import csv_line

_CHUNK = 64 * 1024

Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """What stands above the lines. ``facts`` say of what they are; ``chart`` is an SVG."""

    title: str
    columns: tuple[str, ...]
    facts: Mapping[str, str]
    chart: str | None = None


async def pieces(format_: str, heading: Heading, lines: AsyncIterator[Line]) -> AsyncIterator[bytes]:
    """The whole report in this format."""
    made = {"json": _json, "csv": _csv, "html": _html}.get(format_)
    if made is None:
        yield await _workbook(heading, lines)
        return
    held: list[str] = []
    size = 0
    async for text in made(heading, lines):
        held.append(text)
        size += len(text)
        if size > _CHUNK:
            yield "".join(held).encode("utf-8", "replace")
            held, size = [], 0
    yield "".join(held).encode("utf-8", "replace")


async def _json(heading: Heading, lines: AsyncIterator[Line]) -> AsyncIterator[str]:
    head = {"title": heading.title, **heading.facts, "columns": heading.columns}
    yield json.dumps(head, ensure_ascii=False)[:-1] + ', "lines": ['
    between = "\n"
    async for line in lines:
        yield between + json.dumps({name: line.get(name) for name in heading.columns}, ensure_ascii=False)
        between = ",\n"
    yield "\n]}\n"


async def _csv(heading: Heading, lines: AsyncIterator[Line]) -> AsyncIterator[str]:
    yield csv_line(heading.columns)
    async for line in lines:
        yield csv_line(_text(line.get(name)) for name in heading.columns)


_STYLE = """
:root{color-scheme:light}body{font:14px/1.45 system-ui,sans-serif;color:#222;background:#fff;margin:2rem auto;max-width:72rem;padding:0 1rem}
h1{font-size:1.5rem;margin:0 0 .25rem}dl{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;margin:0 0 1rem;color:#555}dt{font-weight:600}
dd{margin:0}dl div{display:flex;gap:.4rem}svg{width:100%;height:auto;margin:0 0 1rem}
table{border-collapse:collapse;width:100%;font-size:.85rem}th,td{text-align:left;vertical-align:top;padding:.3rem .5rem;border-bottom:1px solid #ddd;overflow-wrap:anywhere}
th{border-bottom:2px solid #444}td.n{text-align:right;font-variant-numeric:tabular-nums}
@media print{body{margin:0;max-width:none;font-size:10pt}thead{display:table-header-group}tr{break-inside:avoid}svg{break-inside:avoid}@page{margin:15mm}}
""".strip()  # noqa: E501


async def _html(heading: Heading, lines: AsyncIterator[Line]) -> AsyncIterator[str]:
    pairs = [(escape(name.replace("_", " ")), escape(value)) for name, value in heading.facts.items()]
    facts = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in pairs)
    columns = "".join(f'<th scope="col">{escape(name)}</th>' for name in heading.columns)
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(heading.title)}</title><style>{_STYLE}</style></head>\n<body><h1>{escape(heading.title)}</h1>"
        f"<dl>{facts}</dl>{heading.chart or ''}<table><thead><tr>{columns}</tr></thead><tbody>\n"
    )
    n = 0
    async for line in lines:
        n += 1
        yield "<tr>" + "".join(_cell(line.get(name)) for name in heading.columns) + "</tr>\n"
    yield f"</tbody></table><p>{n} lines</p></body></html>\n"


def _cell(value: Any) -> str:
    kind = ' class="n"' if isinstance(value, int | float) and not isinstance(value, bool) else ""
    return f"<td{kind}>{escape(_text(value))}</td>"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
#: The parts of a workbook that are the same for every one.
_PARTS = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" Type="{_OFFICE}/officeDocument"'
        ' Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_SHEET}" xmlns:r="{_OFFICE}"><sheets>'
        '<sheet name="Report" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" Type="{_OFFICE}/worksheet"'
        ' Target="worksheets/sheet1.xml"/></Relationships>'
    ),
}


async def _workbook(heading: Heading, lines: AsyncIterator[Line]) -> bytes:
    """An XLSX with one sheet. Texts are texts: nothing of them is a formula."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in _PARTS.items():
            archive.writestr(name, _XML + text)
        with archive.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write(f'{_XML}<worksheet xmlns="{_SHEET}"><sheetData>'.encode())
            sheet.write(_row([*heading.columns]))
            async for line in lines:
                sheet.write(_row([line.get(name) for name in heading.columns]))
            sheet.write(b"</sheetData></worksheet>")
    return held.getvalue()


def _row(values: list[Any]) -> bytes:
    return f"<row>{''.join(map(_sheet_cell, values))}</row>".encode("utf-8", "replace")


def _sheet_cell(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        text = escape("".join(char for char in _text(value)[:32_000] if char >= " " or char in "\t\n"))
        return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
    return f"<c><v>{value}</v></c>"
