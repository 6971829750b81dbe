"""Everything that writes CSV writes cells that no spreadsheet takes for a formula."""

import asyncio
import csv
import io
import zipfile
from collections.abc import AsyncIterator, Callable
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from leasehold.features.reports.formats import Heading, pieces
from leasehold_packs.audits import report as audits
from leasehold_packs.audits.model_results import Issue
from leasehold_packs.monitors import feeds as monitors
from leasehold_packs.monitors.model_results import OfferChange
from leasehold_packs.passports.bundle import Bundle
from leasehold_packs.passports.bundle_archive import INDEX, Archive, Entry
from leasehold_packs.postings import report as postings
from leasehold_packs.postings.model_postings import PostingSummary

ID = UUID(int=1)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def of_report(text: str) -> str:
    async def lines() -> AsyncIterator[dict[str, Any]]:
        yield {"name": text}

    async def whole() -> bytes:
        heading = Heading(title="t", columns=("name",), facts={})
        return b"".join([piece async for piece in pieces("csv", heading, lines())])

    return asyncio.run(whole()).decode()


def of_audits(text: str) -> str:
    issue = Issue(check_id="fetch_failed", severity="error", key="", url=text, state=None, evidence={})
    return audits.as_csv([issue])


def of_postings(text: str) -> str:
    rest: dict[str, Any] = dict.fromkeys(field.name for field in fields(PostingSummary))
    return postings.as_csv([PostingSummary(**rest | {"title": text, "locations": []})])


def of_monitors(text: str) -> str:
    rest: dict[str, Any] = dict.fromkeys(field.name for field in fields(OfferChange))
    return monitors.as_csv([OfferChange(**rest | {"at": NOW, "name": text, "before": {}, "after": {}})])


def of_passports(text: str) -> str:
    archive, out = Archive([]), io.BytesIO()
    entry = Entry(
        passport_id=ID, name=text, gtin=None, serial="", version_id=ID, number=1, state="active", issued_at="2026"
    )
    out.write(archive.add(entry, Bundle(payload=b"", receipt=b"", proof=b"", disclosure=b"", log=b"")))
    out.write(archive.end())
    with zipfile.ZipFile(out) as made:
        return made.read(INDEX).decode()


WRITERS: dict[str, Callable[[str], str]] = {
    "reports": of_report, "audits": of_audits, "postings": of_postings, "monitors": of_monitors,
    "passports": of_passports,
}  # fmt: skip
FORMULAS = [
    "=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "\r\n=1", "＝1+1", "＋1", "－1+1", "＠SUM(1)", " =1+1",
    "\u00a0=1", "\ufeff=1", "\u200b=1", "-1_000", '=HYPERLINK("http://x","y")', "-2+3*cmd|' /C calc'!A0",
]  # fmt: skip
PLAIN = ["", "a=b", "1+1", "a", "'", "a\n=1", "ﬁ"]


def cells(text: str) -> list[str]:
    return [cell for line in csv.reader(io.StringIO(text, newline="")) for cell in line]


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("text", FORMULAS)
def test_a_cell_never_begins_like_a_formula(writer: str, text: str) -> None:
    found = cells(WRITERS[writer](text))
    assert f"'{text}" in found
    assert text not in found


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("text", PLAIN)
def test_other_cells_are_as_they_were(writer: str, text: str) -> None:
    found = cells(WRITERS[writer](text))
    assert text in found
    assert f"'{text}" not in found


@pytest.mark.parametrize("number", ["-5", "+3.25", "-1e-7", "0"])
def test_a_number_stays_one(number: str) -> None:
    assert cells(of_report(number))[1:] == [number]


def test_nothing_else_writes_csv() -> None:
    source = Path(__file__).parents[1] / "src"
    writing = [path.name for path in source.rglob("*.py") if "csv.writer" in path.read_text()]
    assert writing == ["csv_lines.py"]
