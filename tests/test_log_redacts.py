"""No line leaves with a secret in it, and every line names its job."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from leasehold import log
from leasehold.redact import MASK


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    logger = logging.getLogger("leasehold")
    before = (logger.handlers, logger.level, logger.propagate)
    yield
    logger.handlers, logger.propagate = before[0], before[2]
    logger.setLevel(before[1])


def _line(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    line: dict[str, Any] = json.loads(capsys.readouterr().err)
    return line


@pytest.mark.parametrize("json_lines", [True, False])
def test_message_and_fields_are_redacted(json_lines: bool, capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(json_lines=json_lines)
    log.emit(
        "failed: password=hunter2",
        api_key="k3y-hunter2",
        problem=ValueError("token=hunter2xyz9"),
        nested=[{"pwd": "hunter2"}],
    )
    written = capsys.readouterr().err
    assert "hunter2" not in written
    assert MASK in written
    assert written.count("\n") == 1


def test_json_line_has_the_agreed_fields_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(json_lines=True)
    with log.bind(worker_id="w1", trace_id="t1", job_id="j1", kind="shop.refund", tenant_id="a", attempt=2):
        log.emit("job succeeded", duration_ms=1234, extra=None)
    line = _line(capsys)
    assert tuple(line) == log.FIRST
    assert line["timestamp"].endswith("Z")
    assert (line["level"], line["message"], line["attempt"], line["duration_ms"]) == ("info", "job succeeded", 2, 1234)


def test_fields_that_do_not_apply_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(json_lines=True)
    log.emit("worker started", job_id=None)
    assert set(_line(capsys)) == {"timestamp", "level", "message"}


def test_bound_fields_nest_and_end(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(json_lines=True)
    with log.bind(job_id="outer", kind="k"), log.bind(job_id="inner"):
        log.emit("x")
    assert _line(capsys)["job_id"] == "inner"
    log.emit("y")
    assert "job_id" not in _line(capsys)


def test_field_cannot_forge_the_message(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(json_lines=True)
    log.emit("real", message="forged", timestamp="never")
    line = _line(capsys)
    assert line["message"] == "real"
    assert line["timestamp"] != "never"


def test_line_for_people_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(json_lines=False)
    log.emit("job\nfailed", why="two words\nand more", attempt=2)
    written = capsys.readouterr().err
    assert 'job\\nfailed why="two words\\nand more" attempt=2\n' in written


def test_level_that_is_off_costs_no_formatting(capsys: pytest.CaptureFixture[str]) -> None:
    class Loud:
        def __str__(self) -> str:
            raise AssertionError("formatted")

    log.configure(json_lines=True, level="warning")
    log.emit("quiet", value=Loud())
    assert capsys.readouterr().err == ""
