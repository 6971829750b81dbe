"""What is JSON that PostgreSQL keeps exactly; ``tests/engine/test_payloads.py`` asks PostgreSQL itself."""

import json
import math
from enum import StrEnum
from typing import Any

import pytest

from leasehold import json_codec
from leasehold.errors import BadInput, TooLarge


def itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def nested(depth: int, core: Any) -> Any:
    for _ in range(depth):
        core = [core]
    return core


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (math.nan, "JSON"),
        ({"a": [math.inf]}, "JSON"),
        (-math.inf, "JSON"),
        ("\ud800", "lone surrogate"),
        ({"\udfff": 1}, "lone surrogate"),
        ("a\0b", "NUL"),
        ({"a\0": 1}, "NUL"),
        ({"a": [{"b": ("\0",)}]}, "NUL"),
        (["\\u0000", "\0"], "NUL"),  # the harmless one does not hide the other
        (itself(), "payload"),
        (nested(100_000, 1), "nested too deeply"),
        ({1, 2}, "set"),
        (b"bytes", "bytes"),
        (object(), "object"),
        ({(1, 2): 3}, "tuple"),
        ({1: "one", "1": "another"}, "payload"),  # as JSON both keys are "1", and PostgreSQL keeps one of them
        ({None: 1, "null": 2}, "payload"),
    ],
)
def test_what_postgresql_would_refuse_or_change_is_refused_here(value: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words) as problem:
        json_codec.encode(value)
    assert "payload" in str(problem.value)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -1.5,
        10**40,
        "",
        "Zażółć 🥚",
        "\\u0000",  # six characters, no NUL
        "\x01\x1f\x7f\u2028",
        [],
        {},
        {"a": [1, {"b": None}]},
        {"": ""},
        nested(100, "deep"),
    ],
)
def test_what_is_json_comes_back_as_it_was(value: Any) -> None:
    assert json_codec.decode(json_codec.encode(value)) == value


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((1, 2), "[1, 2]"),
        ({1: "a"}, '{"1": "a"}'),
        (Colour.RED, '"red"'),
        ({True: 1, None: 2}, '{"true": 1, "null": 2}'),
    ],
)
def test_what_has_one_form_in_json_gets_it(value: Any, text: str) -> None:
    assert json.loads(json_codec.encode(value)) == json.loads(text)


@pytest.mark.parametrize("depth", [100, 300, 600, 900, 5000])
def test_any_depth_is_taken_whole_or_refused(depth: int) -> None:
    for core in ("x", "\\u0000", "\0"):
        try:
            text = json_codec.encode(nested(depth, core))
        except BadInput:
            continue
        assert core != "\0"
        assert text.count("[") == depth
        json_codec.decode(text)


def test_the_limit_is_in_bytes_of_json() -> None:
    fits = "é" * ((json_codec.LIMIT - 2) // 2)
    assert len(json_codec.encode(fits).encode()) == json_codec.LIMIT
    with pytest.raises(TooLarge) as problem:
        json_codec.encode(fits + "e")
    assert str(json_codec.LIMIT) in str(problem.value)
    assert problem.value.hint


def test_the_thing_that_is_wrong_is_named() -> None:
    with pytest.raises(BadInput, match="the result"):
        json_codec.encode(math.nan, what="result")


def test_text_is_not_escaped_without_need() -> None:
    assert "é" in json_codec.encode({"é": "–"})
    assert json.loads(json_codec.encode("\u2028")) == "\u2028"
