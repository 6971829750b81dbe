"""Flows before anybody asks the database: what a program writes, and what it comes to."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from leasehold import Leasehold
from leasehold.errors import BadInput
from leasehold.features.flows.model import (
    Flow,
    Piece,
    approval,
    chain,
    chord,
    flow_of,
    group,
    plain_prepare,
    sleep,
    step,
    wait_for,
)


def asked(part: Flow | Piece) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(flow_of(part).asked(plain_prepare))
    return rows


def edges(part: Flow | Piece) -> dict[str, list[str]]:
    """Which step waits for which."""
    rows = asked(part)
    return {row["name"]: [rows[place]["name"] for place in row["after"]] for row in rows}


def work(name: str, **options: Any) -> Piece:
    return step("t.work", name=name, **options)


def test_a_chain_is_one_after_the_other() -> None:
    assert edges(chain(work("a"), work("b"), work("c"))) == {"a": [], "b": ["a"], "c": ["b"]}


def test_a_chord_waits_for_all_of_its_group() -> None:
    assert edges(chord([work("a"), work("b")], work("c"))) == {"a": [], "b": [], "c": ["a", "b"]}


def test_pieces_are_nested_as_one_likes() -> None:
    inner = chain(work("b"), group(work("c"), work("d")))
    assert edges(chain(work("a"), group(inner, work("e")), work("f"))) == {
        "a": [], "b": ["a"], "c": ["b"], "d": ["b"], "e": ["a"], "f": ["c", "d", "e"],
    }  # fmt: skip


def test_an_empty_group_lets_the_next_wait_for_the_one_before() -> None:
    assert edges(chain(work("a"), group(), work("b"))) == {"a": [], "b": ["a"]}
    assert edges(chain(group(), work("b"))) == {"b": []}
    assert edges(group()) == {}


def test_between_two_groups_stands_a_join() -> None:
    wide = chain(group(work("a"), work("b")), group(work("c", on_failure="continue"), work("d")))
    assert edges(wide) == {"a": [], "b": [], "flow.join": ["a", "b"], "c": ["flow.join"], "d": ["flow.join"]}


def test_a_flow_within_a_flow_is_a_part_of_it() -> None:
    inner = Flow("inner")
    first = inner.add("t.work", name="x")
    inner.add("t.work", name="y", after=first)
    inner.add("t.work", name="z", after="x")
    outer = Flow("outer")
    a = outer.add("t.work", name="a")
    ends = outer.include(inner, after=a)
    outer.add("t.work", name="b", after=ends)
    assert edges(outer) == {
        "a": [], "inner.x": ["a"], "inner.y": ["inner.x"], "inner.z": ["inner.x"], "b": ["inner.y", "inner.z"]
    }  # fmt: skip


def test_steps_may_be_named_before_they_are_there() -> None:
    flow = Flow("f")
    flow.add("t.work", name="last", after=["first", "second"])
    flow.add("t.work", name="first")
    flow.add("t.work", name="second", after="first")
    assert [row["name"] for row in asked(flow)] == ["first", "second", "last"]


def test_a_step_without_a_name_has_that_of_its_kind() -> None:
    assert [row["name"] for row in asked(group(step("t.work"), step("t.work"), step("t.other")))] == [
        "t.work", "t.work-2", "t.other",
    ]  # fmt: skip
    rows = json.loads(flow_of(group(step("t.work"), work("x"))).asked(plain_prepare, all_named=False))
    assert [row["name"] for row in rows] == [None, "x"]


def test_circles_unknown_parents_and_doubles_are_refused() -> None:
    circle = Flow("f")
    circle.add("t.work", name="a", after="b")
    circle.add("t.work", name="b", after="a")
    with pytest.raises(BadInput, match="waits for itself: "):
        asked(circle)
    nowhere = Flow("f")
    nowhere.add("t.work", name="a", after="z")
    with pytest.raises(BadInput, match="step a of flow f waits for z, which is no step of it"):
        asked(nowhere)
    other = Flow("g").add("t.work", name="theirs")
    stranger = Flow("f")
    stranger.add("t.work", after=other)
    with pytest.raises(BadInput, match="waits for theirs, which is no step of it"):
        asked(stranger)
    with pytest.raises(BadInput, match="two steps named 'a'"):
        flow_of(group(work("a"), work("a")))
    with pytest.raises(BadInput, match="on_failure 'explode'"):
        Flow("f").add("t.work", on_failure="explode")  # type: ignore[arg-type]


def test_waits_say_what_for_and_how_long() -> None:
    at = datetime(2030, 1, 1, tzinfo=UTC)
    rows = asked(
        chain(
            approval("go?", expires=timedelta(hours=1), default="approve", site=7),
            wait_for("paid", "order-7", timeout=60),
            wait_for("paid"),
            sleep(5),
            sleep(at),
        )
    )
    assert [(row["kind"], row["wait"]) for row in rows] == [
        ("flow.approval", {"seconds": 3600.0, "by_default": "approve"}),
        ("flow.signal", {"signal": "paid", "key": "order-7", "seconds": 60}),
        ("flow.signal", {"signal": "paid"}),
        ("flow.sleep", {"seconds": 5}),
        ("flow.sleep", {"until": at.isoformat()}),
    ]
    assert rows[0]["payload"] == {"message": "go?", "site": 7}
    with pytest.raises(BadInput, match="no time zone"):
        sleep(at.replace(tzinfo=None))


def test_payloads_are_checked_by_their_handlers_and_kept_exactly() -> None:
    app = Leasehold()

    @app.handler("shop.refund", attempts=3)
    async def refund(ctx: object, order: int) -> None: ...

    rows = json.loads(flow_of(refund.step(7, name="r", priority=1)).asked(app.prepare_one))
    assert (rows[0]["payload"], rows[0]["options"]["priority"], rows[0]["name"]) == (7, 1, "r")
    with pytest.raises(BadInput):
        flow_of(refund.step("seven")).asked(app.prepare_one)  # type: ignore[arg-type]
