"""Price text to an amount and a currency.

Text that people read goes through price-parser. Numbers that machines wrote do not: it takes the point in ``2.449``
for a separator of thousands.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

from price_parser import Price

from leasehold_packs.webfacts.currency import EXPONENT, currency_code

MAX_TEXT = 300

_MACHINE = re.compile(r"\d{1,15}(?:\.\d{1,10})?", re.ASCII)
_NUMBER = r"\d[\d.,']*(?: \d{3}(?!\d)[\d.,']*)*"
NUMBERS = re.compile(_NUMBER)
_NOW = re.compile(
    r"\b(?:now|jetzt|ora|ahora|maintenant|agora|teraz|сейчас)\b\D{0,12}(?=[1-9]|0[.,]\d*[1-9])", re.IGNORECASE
)
_COUNT = re.compile(r"\d{1,3} [^\W\d]{3,}(?: [^\W\d]{2,})+ (?=[^\w\s]?\d)")
_DASH = re.compile(r"\s*(?:[-–—~〜]|\b(?:to|bis|à|a|do|до)\b)\s*", re.IGNORECASE)
_LAST_THREE = re.compile(r"([.,])\d{3}\Z")
_SPELLING = str.maketrans({"٫": ".", "٬": ",", "’": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " "})


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """``currency`` is an ISO 4217 code, or None where neither the text nor a hint says."""

    amount: Decimal
    currency: str | None

    def agrees(self, other: "Money") -> bool:
        """The same amount; a currency that is not known contradicts none."""
        known = {self.currency, other.currency} - {None}
        return self.amount == other.amount and len(known) < 2


@dataclass(frozen=True, slots=True, kw_only=True)
class MoneyRange:
    low: Money
    high: Money


def parse_number(value: object, *, currency: str | None = None) -> Money | None:
    """A number as machines write it (``12``, ``"12.50"``), exactly; None for all else."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    text = value.strip() if isinstance(value, str) else format(Decimal(str(value)), "f")
    if not _MACHINE.fullmatch(text):
        return None
    return Money(amount=Decimal(text), currency=currency)


def parse_price(text: str, *, currency: str | None = None) -> Money | None:
    """The price that a reader would see first in a text; ``currency`` is what the surroundings say it is in."""
    text = _spelled(text)
    price = Price.fromstring(_after_count(_after_now(text)), currency_hint=currency)
    if price.amount is None or price.amount_text is None:
        return None
    code = _code(text, price.currency, currency)
    return Money(amount=_with_decimals(price.amount, price.amount_text, code), currency=code)


def parse_range(text: str, *, currency: str | None = None) -> MoneyRange | None:
    """``12 – 15 €`` as two prices in one currency; None for text that is no range."""
    text = _spelled(text)
    numbers = list(NUMBERS.finditer(text))
    if len(numbers) != 2 or not _DASH.search(text[numbers[0].end() : numbers[1].start()]):
        return None
    code = _code(text, Price.fromstring(text).currency, currency)
    low, high = (parse_price(number.group(), currency=code) for number in numbers)
    if low is None or high is None or low.amount >= high.amount:
        return None
    return MoneyRange(low=low, high=high)


def _spelled(text: str) -> str:
    return re.sub(r"\s+", " ", text[:MAX_TEXT].translate(_SPELLING)).strip()


def _after_now(text: str) -> str:
    """``Was $120 Now $60`` is about 60."""
    found = list(_NOW.finditer(text))
    return text[found[-1].start() :] if found else text


def _after_count(text: str) -> str:
    """``3 issues for 14,85 EUR`` is about 14,85."""
    found = _COUNT.match(text)
    return text[found.end() :] if found else text


def _code(text: str, sign: str | None, hint: str | None) -> str | None:
    """price-parser knows many signs but not all; ours are tried on what is left beside the number."""
    beside = NUMBERS.sub("", text, count=1)
    return currency_code(sign, hint=hint) or currency_code(beside, hint=hint) or hint


def _with_decimals(amount: Decimal, text: str, code: str | None) -> Decimal:
    """Where a currency has three decimals, three digits behind the last separator are those."""
    found = _LAST_THREE.search(text)
    if not found or EXPONENT.get(code or "") != 3:
        return amount
    return Price.fromstring(text, decimal_separator=found[1]).amount or amount
