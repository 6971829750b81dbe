"""The language of rules: types before data, and an end to everything."""

import contextlib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.passports.errors import Code, PassportError
from leasehold_packs.passports.expressions import Type, inputs_of, type_of, value_of

INPUTS = {
    "n": Type.NUMBER,
    "m": Type.NUMBER,
    "t": Type.TEXT,
    "b": Type.BOOLEAN,
    "ns": Type.NUMBERS,
    "ts": Type.TEXTS,
    "gone": Type.NUMBER,
}
VALUES = {
    "n": Decimal("7.5"),
    "m": Decimal(3),
    "t": "Ni",
    "b": True,
    "ns": (Decimal(1), Decimal(2)),
    "ts": ("a",),
    "gone": None,
}
N, M, GONE = {"input": "n"}, {"input": "m"}, {"input": "gone"}


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        (7, Decimal(7)),
        ("text", "text"),
        (False, False),
        ({"number": "0.5"}, Decimal("0.5")),
        ({"+": [N, M, 1]}, Decimal("11.5")),
        ({"-": [N, M]}, Decimal("4.5")),
        ({"*": [N, M]}, Decimal("22.5")),
        ({"/": [N, M]}, Decimal("2.5")),
        ({"round": [{"/": [1, 3]}, 4]}, Decimal("0.3333")),
        ({"round": [{"number": "0.125"}, 2]}, Decimal("0.12")),
        ({"min": [N, M]}, Decimal(3)),
        ({"max": [{"input": "ns"}]}, Decimal(2)),
        ({"sum": [{"input": "ns"}]}, Decimal(3)),
        ({"count": [{"input": "ts"}]}, Decimal(1)),
        ({"<": [M, N]}, True),
        ({">=": [M, N]}, False),
        ({"=": [{"input": "t"}, "Ni"]}, True),
        ({"!=": [{"input": "b"}, True]}, False),
        ({"in": [{"input": "t"}, "Co", "Ni"]}, True),
        ({"and": [True, {"input": "b"}]}, True),
        ({"or": [False, False]}, False),
        ({"not": [{"input": "b"}]}, False),
        ({"if": [{"input": "b"}, N, M]}, Decimal("7.5")),
        ({"join": [{"input": "t"}, "-", {"text": [N]}]}, "Ni-7.5"),
        ({"length": ["größe"]}, Decimal(5)),
        ({"has": "n"}, True),
        ({"has": "gone"}, False),
        ({"+": [N, GONE]}, None),
        ({"first": [GONE, N]}, Decimal("7.5")),
        ({"if": [{"has": "gone"}, {"/": [1, 0]}, 1]}, Decimal(1)),
    ],
    ids=str,
)
def test_expressions_mean_what_they_say(expression: Any, result: Any) -> None:
    type_of(expression, INPUTS)

    assert value_of(expression, VALUES) == result


@pytest.mark.parametrize(
    "expression",
    [
        {"+": [N, "1"]},
        {"+": []},
        {"-": [N]},
        {"=": [N, "7"]},
        {"=": [{"input": "ns"}, {"input": "ns"}]},
        {"if": [N, 1, 2]},
        {"if": [True, 1, "2"]},
        {"in": [N]},
        {"sum": [N]},
        {"input": "unknown"},
        {"input": ["n"]},
        {"has": 7},
        {"eval": ["1"]},
        {"+": N},
        {"+": [1], "-": [1, 2]},
        {},
        [],
        None,
        1.5,
        Decimal("1.5"),
        {"number": "1,5"},
        {"number": 5},
    ],
    ids=str,
)
def test_wrong_types_are_found_without_data(expression: Any) -> None:
    with pytest.raises(PassportError) as refused:
        type_of(expression, INPUTS)

    assert refused.value.code in (Code.RULE_TYPE_ERROR, Code.VALIDATION_ERROR)


@pytest.mark.parametrize(
    "expression",
    [
        {"/": [N, 0]},
        {"/": [0, 0]},
        {"round": [N, 99]},
        {"round": [N, {"number": "0.5"}]},
        {"*": [{"number": "1e400"}] * 20},
    ],
    ids=["by zero", "zero by zero", "too many places", "half a place", "too large"],
)
def test_what_cannot_be_calculated_is_an_error_of_the_data(expression: Any) -> None:
    type_of(expression, INPUTS)

    with pytest.raises(PassportError) as refused:
        value_of(expression, VALUES)

    assert refused.value.code == Code.VALIDATION_ERROR


def test_deep_and_wide_expressions_are_refused() -> None:
    deep: Any = True
    for _ in range(40):
        deep = {"not": [deep]}

    for expression in (deep, {"+": [1] * 2_000}):
        with pytest.raises(PassportError, match="at most"):
            type_of(expression, INPUTS)


def test_the_inputs_of_an_expression_are_known() -> None:
    assert inputs_of({"if": [{"has": "gone"}, {"+": [N, 1]}, "input"]}) == {"gone", "n"}


LEAVES = (
    st.sampled_from([{"input": name} for name in INPUTS])
    | st.sampled_from([{"has": "gone"}, {"number": "0.5"}, 0, 1, -7, "x", True])
)  # fmt: skip
WORDS = [
    "+",
    "*",
    "-",
    "/",
    "round",
    "min",
    "max",
    "sum",
    "count",
    "length",
    "text",
    "join",
    "<",
    "<=",
    ">",
    ">=",
    "=",
    "!=",
    "in",
    "and",
    "or",
    "not",
    "if",
    "first",
]
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda word, arguments: {word: arguments}, st.sampled_from(WORDS), st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)
KINDS: dict[Type, type | tuple[type, ...]] = {
    Type.NUMBER: Decimal,
    Type.TEXT: str,
    Type.BOOLEAN: bool,
    Type.NUMBERS: tuple,
    Type.TEXTS: tuple,
}


@settings(deadline=None)
@given(EXPRESSIONS)
def test_what_has_a_type_has_a_value_of_it_or_an_error_of_the_data(expression: Any) -> None:
    with contextlib.suppress(PassportError):
        wanted = type_of(expression, INPUTS)
        try:
            result = value_of(expression, VALUES)
        except PassportError as error:
            result = None
            if error.code != Code.VALIDATION_ERROR:
                raise AssertionError(f"{expression} passed the types and then failed: {error}") from error
        assert result is None or isinstance(result, KINDS[wanted])
