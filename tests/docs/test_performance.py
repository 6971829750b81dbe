"""The tables of the page on performance are those of the runs that they name."""

import json
import re

import pytest

from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "explanation" / "performance.md"
#: A comment names the file and what of it the table shows: <!-- ratios of 2026-11-16-peers-4.json
#: -->
TABLES = re.findall(r"<!-- (medians|ratios) of (\S+\.json) -->\n\n((?:\|.*\n)+)", PAGE.read_text())


def test_the_page_has_tables() -> None:
    assert TABLES


@pytest.mark.parametrize(("what", "file", "text"), TABLES, ids=[file for _, file, _ in TABLES])
def test_a_table_is_that_of_its_run(what: str, file: str, text: str) -> None:
    found = json.loads((ROOT / "benchmarks" / "results" / file).read_text())[what]
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines())
    assert rows
    for name, *cells in rows:
        for system, cell in zip(head[1:], cells, strict=True):
            assert float(cell.replace(",", "")) == found[name][system], (name, system)
