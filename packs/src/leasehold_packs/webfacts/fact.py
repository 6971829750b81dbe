"""A value, and how we came by it."""

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Agree = Callable[[T, T], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Generic[T]):
    """``pointer`` leads to the value: a JSON pointer into the structured data, or a path of elements in the page."""

    value: T
    source: str
    method: str
    confidence: float
    pointer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Two sources that tell two stories about one thing; ``chosen`` is the one higher up the ladder."""

    name: str
    chosen: Fact[Any]
    other: Fact[Any]


def settle(facts: Sequence[Fact[T]], agree: Agree[T] = operator.eq) -> Fact[T] | None:
    """The first of them, surer if another source agrees and less sure if one does not."""
    if not facts:
        return None
    first = facts[0]
    confidence = first.confidence
    for other in _others(facts):
        if agree(first.value, other.value):
            confidence += (1 - confidence) * other.confidence / 2
        else:
            confidence -= confidence * other.confidence / 4
    return replace(first, confidence=round(confidence, 3))


def disagreements(name: str, facts: Sequence[Fact[T]], agree: Agree[T] = operator.eq) -> list[Disagreement]:
    """What the other sources say instead of the first, once per source."""
    return [
        Disagreement(name=name, chosen=facts[0], other=other)
        for other in _others(facts)
        if not agree(facts[0].value, other.value)
    ]


def _others(facts: Sequence[Fact[T]]) -> Iterable[Fact[T]]:
    """The best fact of every source but the first fact's own."""
    seen = {fact.source for fact in facts[:1]}
    for fact in facts:
        if fact.source not in seen:
            seen.add(fact.source)
            yield fact
