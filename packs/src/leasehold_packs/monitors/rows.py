"""Rows as values: JSON is parsed, addresses lose their secrets, amounts become text."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeVar

from leasehold_packs.monitors.extract import amount_text
from leasehold_packs.webfacts.redacted import shown

T = TypeVar("T")
Row = Mapping[str, Any]
#: What may name an address, and so carry a secret.
_ADDRESSES = ("url", "image", "reason", "problem", "guess", "options", "facts")


def value_of(type_: type[T], row: Row, *documents: str, **more: object) -> T:
    """A row as this type; ``documents`` are columns of JSON, ``more`` are fields beside the columns."""
    return type_(**columns_of(row, *documents) | more)


def columns_of(row: Row, *documents: str) -> dict[str, Any]:
    parsed = dict(row) | {name: json.loads(row[name] or "null") for name in documents}
    masked = parsed | {name: shown(parsed[name]) for name in _ADDRESSES if name in parsed}
    currency = row.get("currency")
    return {
        name: price_text(value, currency) if isinstance(value, Decimal) else value for name, value in masked.items()
    }


def standing_of(row: Row, *documents: str) -> dict[str, Any]:
    """With what is true now told apart from what was true when the page was read last, at ``seen_at``.

    While a page is not there, its availability is unknown.
    """
    is_there = row["state"] != "gone" and row["missing_since"] is None
    return columns_of(row, *documents) | {
        "is_there": is_there,
        "is_current": row["result"] == "read",
        "availability": row["availability"] if is_there else None,
        "last_availability": row["availability"],
    }


def price_text(amount: Decimal | None, currency: str | None) -> str | None:
    """An amount as JSON has it: text, so that no reader rounds it, with the decimals of its currency."""
    return None if amount is None else amount_text(amount, currency)
