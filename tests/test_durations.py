"""Durations: one way to write them in Python, on the command line and over HTTP."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from typer import BadParameter
from typer.main import get_command

from leasehold import Retry, Snooze, approval, sleep, wait_for
from leasehold.cli import app as program
from leasehold.durations import seconds_of
from leasehold.errors import BadInput
from leasehold.http.types import EnqueueOptions
from leasehold.job_options import DURATIONS, LONG, plain
from leasehold.program.app import Leasehold

DOCUMENT = json.loads((Path(__file__).parents[1] / "docs" / "reference" / "openapi.json").read_text())
#: Requests that ask for a duration in a unit of its own, which its name says.
BY_UNIT = re.compile(r"(^|_)(days|hours)$")


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (5, 5),
        (0.25, 0.25),
        (timedelta(minutes=2), 120),
        ("250ms", 0.25),
        ("10s", 10),
        ("10m", 600),
        ("1.5h", 5400),
        ("1h30m", 5400),
        ("2d", 172_800),
        ("1w", 604_800),
    ],
)
def test_a_duration_is_seconds_a_timedelta_or_a_text_with_units(given: Any, seconds: float) -> None:
    assert seconds_of(given, "timeout") == seconds


@pytest.mark.parametrize(
    "given",
    [
        "",
        "10",
        "1.5",
        "m",
        "10 m",
        "10M",
        "10m ",
        "-1m",
        "1e3s",
        "ten minutes",
        "١m",
        "1m" * 40,
        True,
        None,
        [1],
        float("nan"),
    ],
)
def test_what_is_no_duration_is_refused_by_name(given: Any) -> None:
    with pytest.raises(BadInput) as refused:
        seconds_of(given, "timeout")
    assert str(refused.value) == f"timeout={given!r} is not a duration"
    assert "10m" in (refused.value.hint or "")


@pytest.mark.parametrize("name", sorted(DURATIONS))
def test_every_duration_of_the_table_is_taken_as_a_text_by_python_and_http(name: str) -> None:
    short = {long: short for short, long in LONG.items()}.get(name, name)
    assert plain({short: "1m"}) == {name: 60}
    assert getattr(EnqueueOptions.model_validate({name: "1m"}), name) == 60
    for wrong in ("60", "soon"):
        with pytest.raises(BadInput, match=f"{short}='{wrong}' is not a duration"):
            plain({short: wrong})
        with pytest.raises(ValidationError, match="is not a duration"):
            EnqueueOptions.model_validate({name: wrong})


def requested(schema: Any) -> set[str]:
    """The schemas that a request may hold, by what refers to them."""
    if isinstance(schema, list):
        return set().union(*map(requested, schema))
    if not isinstance(schema, dict):
        return set()
    found = set().union(*map(requested, schema.values()))
    if name := str(schema.get("$ref", "")).rpartition("/")[2]:
        found |= {name} | requested(DOCUMENT["components"]["schemas"][name])
    return found


BODIES = [op["requestBody"] for path in DOCUMENT["paths"].values() for op in path.values() if "requestBody" in op]
ASKED = [
    (schema, name, member)
    for schema in sorted(requested(BODIES))
    for name, member in DOCUMENT["components"]["schemas"][schema].get("properties", {}).items()
    if name.endswith("_s") or name == "seconds"
]


@pytest.mark.parametrize(("schema", "name", "member"), ASKED, ids=[f"{schema}.{name}" for schema, name, _ in ASKED])
def test_every_duration_of_a_request_is_a_number_or_a_text(schema: str, name: str, member: Any) -> None:
    assert '"examples": ["10m"]' in json.dumps(member), f"{schema}.{name} takes numbers alone"


def test_a_text_beyond_the_bounds_is_refused_with_the_bounds() -> None:
    adapter = TypeAdapter(EnqueueOptions)
    with pytest.raises(ValidationError, match=r"'9w' is not a duration from 0.1 to 604800 seconds"):
        adapter.validate_python({"timeout_s": "9w"})


def test_flows_outcomes_and_schedules_take_texts() -> None:
    assert dict(sleep("10m").wait or {}) == {"seconds": 600}
    assert dict(wait_for("paid", timeout="1h").wait or {})["seconds"] == 3600
    assert dict(approval("go?", expires="1d").wait or {})["seconds"] == 86_400
    assert Leasehold().flow("f", deadline="2h").options == {"deadline_s": 7200}
    assert (Retry("busy", after="30s").after, Snooze("later", after="1m").after) == (30, 60)
    assert Leasehold().schedule("s", "t.work", every="1h", jitter="5m").definition()["every_s"] == 3600


def options(command: Any, path: str = "leasehold") -> Iterator[tuple[str, Any]]:
    """Every option of every command, with what one types to reach it."""
    for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
        yield from options(command.get_command(None, name), f"{path} {name}")
    for one in command.params:
        if one.param_type_name == "option":
            yield f"{path} {one.opts[0]}", one


OF_COMMANDS = dict(options(get_command(program)))


def parser_of(option: Any) -> Any:
    return option.type_descriptor.parameter_info.parser


def test_every_duration_of_a_command_takes_a_text_with_a_unit() -> None:
    named = {name for name, one in OF_COMMANDS.items() if one.metavar == "DURATION"}
    in_seconds = {
        name
        for name, one in OF_COMMANDS.items()
        if "second" in (one.help or "").lower() and one.type_descriptor.annotation in (int, float)
    }
    assert in_seconds <= named
    assert {"leasehold run --timeout", "leasehold schedules add --every"} <= named


@pytest.mark.parametrize("name", [name for name, one in OF_COMMANDS.items() if one.metavar == "DURATION"])
def test_a_duration_of_a_command_is_a_number_of_seconds_or_a_text(name: str) -> None:
    parse = parser_of(OF_COMMANDS[name])
    assert (parse("90"), parse("10m")) == (90, 600)
    with pytest.raises(BadParameter, match="'soon' is not a duration"):
        parse("soon")
