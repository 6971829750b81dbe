"""Which rung of the ladder says that nothing changed."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest

from leasehold_packs.webfacts.page_change import (
    Reading,
    Rung,
    Snapshot,
    Verdict,
    facts_digest,
    judge,
)

PAGE = b"<p>5.00</p>"


def reads(price: str, text: str = "") -> Any:
    return lambda body: Reading(facts={"price": Decimal(price)}, text=text)


def unread(body: bytes) -> Reading:
    raise AssertionError("read without need")


def judged(before: Snapshot | None, **given: Any) -> Verdict:
    return judge(before, **{"status": 200, "body": PAGE, "read": reads("5.00"), "extractor": "1"} | given)


@pytest.fixture
def before() -> Snapshot:
    return judged(None).snapshot


def test_a_first_look_is_a_change() -> None:
    assert judged(None).rung is Rung.FIRST
    assert judged(None).changed


def test_not_modified_is_believed_without_a_body(before: Snapshot) -> None:
    assert judged(before, status=304, body=b"", read=unread) == Verdict(rung=Rung.NOT_MODIFIED, snapshot=before)


def test_the_same_bytes_are_not_read_again(before: Snapshot) -> None:
    assert judged(before, read=unread).rung is Rung.SAME_BODY


def test_other_bytes_with_the_same_facts_are_no_change(before: Snapshot) -> None:
    verdict = judged(before, body=PAGE + b"<!-- noise -->", read=reads("5.0"))
    assert verdict.rung is Rung.SAME_FACTS
    assert not verdict.changed
    assert verdict.snapshot.body != before.body


def test_one_other_fact_is_a_change_however_like_the_pages_are(before: Snapshot) -> None:
    verdict = judged(before, body=b"<p>5.01</p>", read=reads("5.01"))
    assert verdict.rung is Rung.OTHER_FACTS
    assert verdict.changed


def test_a_new_extractor_reads_the_same_bytes_again(before: Snapshot) -> None:
    assert judged(before, extractor="2", read=reads("4")).rung is Rung.OTHER_FACTS


def test_a_rebuilt_page_is_noted_and_still_judged_by_its_facts() -> None:
    first = judged(None, read=reads("5", " ".join(f"a{n}" for n in range(300)))).snapshot
    verdict = judged(first, body=b"new", read=reads("5", " ".join(f"b{n}" for n in range(300))))
    assert verdict.rung is Rung.SAME_FACTS
    assert verdict.rebuilt


class _Colour(StrEnum):
    RED = "red"


@dataclass
class _Offer:
    price: Decimal
    note: str | None = None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"p": Decimal("10.50")}, {"p": Decimal("10.5")}),
        ({"p": Decimal(100)}, {"p": Decimal("1E2")}),
        ({"p": None}, {}),
        ({"c": _Colour.RED}, {"c": "red"}),
        ({"o": _Offer(price=Decimal(1))}, {"o": {"price": Decimal(1)}}),
        ({"s": {"b", "a"}}, {"s": frozenset(["a", "b"])}),
        ({"t": ("x",)}, {"t": ["x"]}),
        ({"d": date(2026, 1, 2)}, {"d": "2026-01-02"}),
        ({"d": datetime(2026, 1, 2, tzinfo=UTC)}, {"d": "2026-01-02T00:00:00+00:00"}),
    ],
)
def test_one_story_has_one_digest(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert facts_digest(one) == facts_digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"n": 2**53 + 1}, {"n": 2**53 + 2}),  # both the same as a float
        ({"p": Decimal("0.1")}, {"p": Decimal("0.10000000000000001")}),
        ({"a": "1"}, {"a": 1}),
        ({"a": False}, {}),
        ({"t": ["x", "y"]}, {"t": ["y", "x"]}),
    ],
)
def test_two_stories_have_two_digests(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert facts_digest(one) != facts_digest(other)


def test_half_a_character_can_be_digested() -> None:
    assert facts_digest({"name": "\ud83d"})


def test_what_is_no_fact_is_refused() -> None:
    with pytest.raises(TypeError, match="object is no fact"):
        facts_digest({"x": object()})
