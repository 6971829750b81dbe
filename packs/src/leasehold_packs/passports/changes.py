"""What differs: the fields of two versions of a passport, or the facts of two snapshots. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from leasehold_packs.passports.facts import Fact
from leasehold_packs.passports.pointers import order


def changed(before: Mapping[str, tuple[str, Any]], after: Mapping[str, tuple[str, Any]]) -> list[dict[str, Any]]:
    """A line for each pointer whose tier or value differs; null where there is no such field."""
    pointers = sorted({*before, *after}, key=order)
    return [
        {"pointer": pointer, "before": _field(before.get(pointer)), "after": _field(after.get(pointer))}
        for pointer in pointers
        if before.get(pointer) != after.get(pointer)
    ]


def facts_changed(before: Iterable[Fact], after: Iterable[Fact]) -> list[dict[str, Any]]:
    """A line for each pointer whose value or unit differs; null where there is no such fact.

    The same value from another document is no change: both sources are told where the value is another.
    """
    old, new = ({fact.pointer: fact.as_json() for fact in facts} for facts in (before, after))
    return [
        {"pointer": pointer, "before": old.get(pointer), "after": new.get(pointer)}
        for pointer in sorted({*old, *new}, key=order)
        if _said(old.get(pointer)) != _said(new.get(pointer))
    ]


def _said(fact: Mapping[str, Any] | None) -> tuple[Any, ...] | None:
    return None if fact is None else tuple(fact[name] for name in ("type", "text", "unit"))


def by_pointer(tiers: Mapping[str, Iterable[Any]]) -> dict[str, tuple[str, Any]]:
    """The fields as tiers keep them, by pointer: tier and value."""
    return {field[0]: (tier, field[1]) for tier, fields in tiers.items() for field in fields}


def _field(found: tuple[str, Any] | None) -> dict[str, Any] | None:
    return None if found is None else {"tier": found[0], "value": found[1]}
