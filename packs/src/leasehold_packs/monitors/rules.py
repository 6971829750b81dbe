"""Which rules a confirmed change fulfils. Pure."""

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from leasehold_packs.monitors.changes import ChangedValue
from leasehold_packs.webfacts.availability import Availability

_SOLD = (Availability.IN_STOCK, Availability.LOW)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    rule_id: UUID
    name: str
    condition: str
    value: Decimal | None
    currency: str | None
    direction: str


def fires(rule: Rule, kind: str, before: ChangedValue, after: ChangedValue, *, low: Decimal | None) -> bool:
    """``low`` is the lowest price that the offer had before, in the same currency."""
    if rule.condition == "back_in_stock":
        return kind == "availability" and after["availability"] in _SOLD and before["availability"] not in _SOLD
    if kind != "price" or rule.currency not in (None, after["currency"]):
        return False
    was, now = Decimal(before["price"]), Decimal(after["price"])
    match rule.condition:
        case "new_low":
            return low is not None and now < low
        case "target":
            return _crossed(rule, was, now)
        case "percent":
            return _moves(rule, was, now) and abs(now - was) * 100 >= (rule.value or 0) * was
        case _:
            return _moves(rule, was, now) and abs(now - was) >= (rule.value or 0)


def _crossed(rule: Rule, was: Decimal, now: Decimal) -> bool:
    """Reached from the other side: a price that stays beyond its target is told once."""
    target = rule.value or Decimal(0)
    falls = now <= target < was and rule.direction != "up"
    return falls or (was < target <= now and rule.direction == "up")


def _moves(rule: Rule, was: Decimal, now: Decimal) -> bool:
    return rule.direction == "both" or (rule.direction == "down") == (now < was)
