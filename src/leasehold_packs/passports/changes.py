"""What would be another in a passport: the fields of two versions, compared. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from leasehold_packs.passports.pointers import order


def changed(before: Mapping[str, tuple[str, Any]], after: Mapping[str, tuple[str, Any]]) -> list[dict[str, Any]]:
    """A line for each pointer whose tier or value differs; null where there is no such field."""
    pointers = sorted({*before, *after}, key=order)
    return [
        {"pointer": pointer, "before": _field(before.get(pointer)), "after": _field(after.get(pointer))}
        for pointer in pointers
        if before.get(pointer) != after.get(pointer)
    ]


def by_pointer(tiers: Mapping[str, Iterable[Any]]) -> dict[str, tuple[str, Any]]:
    """The fields as tiers keep them, by pointer: tier and value."""
    return {field[0]: (tier, field[1]) for tier, fields in tiers.items() for field in fields}


def _field(found: tuple[str, Any] | None) -> dict[str, Any] | None:
    return None if found is None else {"tier": found[0], "value": found[1]}
