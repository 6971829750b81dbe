"""JSON straight from pydantic says the same as the long way, or leaves it to the long way."""

import json
import math
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, TypeAdapter, computed_field, field_serializer

from leasehold import json_codec
from leasehold.program.app import Leasehold
from leasehold.program.context import Context
from leasehold.quick_json import QuickJson


class Line(BaseModel):
    name: str
    price: float
    pieces: int = 1


class Order(BaseModel):
    order_id: UUID
    at: datetime
    lines: list[Line]
    urgent: bool | None = None


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Serialised(BaseModel):
    number: int = 1

    @field_serializer("number")
    def as_object(self, _: int) -> dict[Any, int]:
        return {1: 1, "1": 2}


class Computed(BaseModel):
    @computed_field
    def both(self) -> dict[Any, int]:
        return {1: 1, "1": 2}


class Anything(BaseModel):
    value: Any = None


LINE = QuickJson(TypeAdapter(Line))


@pytest.mark.parametrize("plain", [Line, list[Line], int, str, float | None])
def test_models_of_texts_numbers_and_times_are_plain(plain: Any) -> None:
    assert QuickJson.of(TypeAdapter(plain))


@pytest.mark.parametrize("other", [Open, Serialised, Computed, Anything, dict[str, int], dict[Any, Any], bytes, Any])
def test_types_that_may_hold_anything_are_not_plain(other: Any) -> None:
    assert not QuickJson.of(TypeAdapter(other))


@given(st.builds(Line, name=st.text(), price=st.floats(), pieces=st.integers()))
def test_the_short_way_gives_what_the_long_way_gives_or_leaves_it_to_it(line: Line) -> None:
    quick = LINE.text(line)
    if quick is None:
        assert not math.isfinite(line.price) or any(
            word in line.model_dump_json() for word in ("null", "NaN", "Inf", "\\u0")
        )
    else:
        assert json.loads(quick) == json.loads(json_codec.encode(line.model_dump(mode="json")))


@given(st.lists(st.builds(Line, name=st.text(), price=st.floats(), pieces=st.integers()), max_size=5))
def test_many_at_once_are_what_each_is_alone_or_none_is(lines: list[Line]) -> None:
    alone = [LINE.text(line) for line in lines]
    assert LINE.texts(lines) == (None if None in alone else alone)


def test_one_that_takes_the_long_way_does_not_change_the_others() -> None:
    app = Leasehold()

    @app.handler("t.line")
    async def line(ctx: Context, line: Line | None) -> None: ...

    plain = Line(name="a", price=1.5)
    other = Line(name="null", price=1.0)
    assert [
        json.loads(text) for text in app.prepare("t.line", [plain, None, other, {"name": "b", "price": 1}], {})[0]
    ] == [
        {"name": "a", "price": 1.5, "pieces": 1},
        {},
        {"name": "null", "price": 1.0, "pieces": 1},
        {"name": "b", "price": 1.0, "pieces": 1},
    ]


def test_a_model_with_times_and_ids_is_the_same_both_ways() -> None:
    order = Order(order_id=uuid4(), at=datetime.now(UTC), lines=[Line(name="é", price=1.5)], urgent=True)
    quick = QuickJson(TypeAdapter(Order)).text(order)
    assert quick is not None
    assert json.loads(quick) == order.model_dump(mode="json")


def test_a_field_that_was_given_another_type_later_takes_the_long_way() -> None:
    line = Line(name="a", price=1.0)
    line.pieces = {1: "a", "1": "b"}  # type: ignore[assignment]
    assert LINE.text(line) is None


def test_a_lone_surrogate_and_a_payload_too_large_take_the_long_way() -> None:
    assert LINE.text(Line.model_construct(name="\ud800", price=1.0, pieces=1)) is None
    assert LINE.text(Line(name="x" * json_codec.LIMIT, price=1.0)) is None
