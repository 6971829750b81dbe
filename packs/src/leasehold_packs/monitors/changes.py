"""What is other than before, and is it too strange to be told at once? Pure: facts are compared, never bytes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, Self

from typing_extensions import TypedDict

from leasehold_packs.monitors.extract import Observed, amount_text
from leasehold_packs.monitors.model import Settings

#: A price so many times the one before, or so small a part of it, was read wrongly.
ABSURD = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An offer as its row has it."""

    price: Decimal | None
    currency: str | None
    availability: str | None
    method: str | None
    stock_method: str | None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        return cls(**{field.name: row[field.name] for field in fields(cls)})


class ChangedValue(TypedDict, total=False):
    """What a change changes: a price, the stock, or whether the product is there."""

    price: str
    currency: str | None
    availability: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """``doubt`` says why it has to be seen a second time."""

    kind: str
    before: ChangedValue
    after: ChangedValue
    percent: Decimal | None = None
    doubt: str | None = None


def compare(before: Known, after: Observed, settings: Settings) -> list[Change]:
    """What a page does not say counts as it was: a price that is not shown has not changed."""
    return [*_money(before, after, settings), *_stock(before, after)]


def is_absurd(before: Known, after: Observed) -> bool:
    """Whether the new price cannot be one of the same product in the same currency."""
    if not (before.price and after.price) or before.currency != after.currency:
        return False
    return not before.price / ABSURD < after.price < before.price * ABSURD


def percent_of(before: Decimal, after: Decimal) -> Decimal:
    return ((after - before) / before * 100).quantize(Decimal("0.0001"))


def priced(price: Decimal, currency: str | None) -> ChangedValue:
    return {"price": amount_text(price, currency), "currency": currency}


def _money(before: Known, after: Observed, settings: Settings) -> Iterator[Change]:
    if before.price is None or after.price is None:
        return
    told = priced(before.price, before.currency), priced(after.price, after.currency)
    if before.currency != after.currency:
        yield Change(kind="currency", before=told[0], after=told[1], doubt="the currency is another one")
    elif before.price != after.price:
        percent = percent_of(before.price, after.price)
        doubt = None
        if abs(percent) > Decimal(str(settings.doubt_percent)):
            doubt = f"the price moved by {percent:+.1f} %"
        elif before.method != after.method:
            doubt = f"the price was read by {after.method}, before by {before.method}"
        yield Change(kind="price", before=told[0], after=told[1], percent=percent, doubt=doubt)


def _stock(before: Known, after: Observed) -> Iterator[Change]:
    if before.availability is None or after.availability is None or before.availability == after.availability:
        return
    weak = (after.stock_method or "").endswith(":price-shown") and before.stock_method != after.stock_method
    yield Change(
        kind="availability",
        before={"availability": before.availability},
        after={"availability": after.availability},
        doubt="nothing on the page speaks of stock any more" if weak else None,
    )
