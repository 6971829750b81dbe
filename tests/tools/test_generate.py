"""What is made from the table of options is what the table says."""

from pathlib import Path

import pytest

from leasehold.job_options import OPTIONS, read_table
from tools import generate


@pytest.mark.parametrize("path", generate.generated(), ids=lambda path: path.name)
def test_a_file_is_what_the_table_says(path: Path) -> None:
    assert path.read_text() == generate.generated()[path], "run `python -m tools.generate`"


def test_a_line_that_is_added_changes_every_file(monkeypatch: pytest.MonkeyPatch) -> None:
    before = generate.generated()
    names = "name,type,min,max,default,short,kind,step,schedule,people_name,help"
    line = f"{names}\ncolour,text,1,9,blue,yes,yes,yes,yes,,Any."
    monkeypatch.setattr(generate, "OPTIONS", [*OPTIONS, *read_table(line)])
    after = generate.generated()
    assert [path for path, text in after.items() if text == before[path] or "colour" not in text] == []


def test_a_type_that_nothing_knows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "name,type,min,max,default,short,kind,step,schedule,people_name,help\ncolour,shade,,,,,,,,,Any."
    monkeypatch.setattr(generate, "OPTIONS", read_table(line))
    with pytest.raises(AssertionError, match="there is no type shade"):
        generate.generated()
