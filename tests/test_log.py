import json
import logging
from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

import pytest

from leasehold import log


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    logger = logging.getLogger("leasehold")
    before = (logger.handlers, logger.level, logger.propagate)
    yield
    logger.handlers, logger.propagate = before[0], before[2]
    logger.setLevel(before[1])


def test_a_text_line_is_time_level_event_and_fields(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(json_lines=False)
    log.emit("job claimed", job_id=UUID(int=7), wait_ms=1.5)
    log.emit("beat failed", level=logging.WARNING)
    out, err = capsys.readouterr()
    assert out == ""
    first, second = err.splitlines()
    at, level, rest = first.split(maxsplit=2)
    assert (len(at), level) == (8, "info")
    assert rest == f"job claimed job_id={UUID(int=7)} wait_ms=1.5"
    assert second.split(maxsplit=1)[1] == "warning beat failed"


def test_a_json_line_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(json_lines=True)
    log.emit("job claimed", job_id=UUID(int=7), problem=ValueError("two\nlines"), wait_ms=1.5)
    [line] = capsys.readouterr().err.splitlines()
    said = json.loads(line)
    at = datetime.fromisoformat(said.pop("timestamp"))
    assert at.utcoffset() is not None
    assert said == {
        "level": "info",
        "message": "job claimed",
        "job_id": str(UUID(int=7)),
        "problem": "two\nlines",
        "wait_ms": 1.5,
    }


def test_a_text_line_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """What a customer sends can be in a field: it must not look like a line of ours."""
    log.configure(json_lines=False)
    log.emit("maintenance failed", problem="no\n12:00:00 info    all is well")
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_below_the_level_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(json_lines=False, level="warning")
    log.emit("job claimed")
    assert capsys.readouterr().err == ""


def test_configured_twice_a_line_still_comes_once(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(json_lines=True)
    log.configure(json_lines=False)
    log.emit("job claimed")
    assert capsys.readouterr().err.count("job claimed") == 1
