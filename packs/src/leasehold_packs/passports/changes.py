"""What differs: the fields of two versions of a passport, or the facts of two snapshots. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from typing_extensions import TypedDict

from leasehold_packs.passports.facts import Fact, FactJson
from leasehold_packs.passports.pointers import order


class TierValue(TypedDict):
    tier: str
    value: Any


class FieldChange(TypedDict):
    pointer: str
    before: TierValue | None
    after: TierValue | None


class FactChange(TypedDict):
    """A fact before and after, with where it was read; null where there is none."""

    pointer: str
    before: FactJson | None
    after: FactJson | None


def changed(before: Mapping[str, tuple[str, Any]], after: Mapping[str, tuple[str, Any]]) -> list[FieldChange]:
    """A line for each pointer whose tier or value differs; null where there is no such field."""
    pointers = sorted({*before, *after}, key=order)
    return [
        {"pointer": pointer, "before": _field(before.get(pointer)), "after": _field(after.get(pointer))}
        for pointer in pointers
        if before.get(pointer) != after.get(pointer)
    ]


def facts_changed(before: Iterable[Fact], after: Iterable[Fact]) -> list[FactChange]:
    """A line for each pointer whose value or unit differs; null where there is no such fact.

    The same value from another document is no change: both sources are told where the value is another.
    """
    old, new = ({fact.pointer: fact.as_json() for fact in facts} for facts in (before, after))
    return [
        {"pointer": pointer, "before": old.get(pointer), "after": new.get(pointer)}
        for pointer in sorted({*old, *new}, key=order)
        if _value(old.get(pointer)) != _value(new.get(pointer))
    ]


def _value(fact: FactJson | None) -> tuple[str, str, str | None] | None:
    return None if fact is None else (fact["type"], fact["text"], fact["unit"])


def by_pointer(tiers: Mapping[str, Iterable[Any]]) -> dict[str, tuple[str, Any]]:
    """The fields as tiers keep them, by pointer: tier and value."""
    return {field[0]: (tier, field[1]) for tier, fields in tiers.items() for field in fields}


def _field(found: tuple[str, Any] | None) -> TierValue | None:
    return None if found is None else {"tier": found[0], "value": found[1]}
