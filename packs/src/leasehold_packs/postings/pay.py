"""Salaries: what a board says in fields, or its text in words, as one range with a currency and an interval.

The text that was read is kept. Amounts of different intervals are compared by the year, of different currencies never.
"""

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from leasehold_packs.webfacts.currency import EXPONENT, currency_code

#: How many of an interval a year has: 40 hours a week, 52 weeks.
A_YEAR_HAS = {"year": 1, "month": 12, "week": 52, "day": 260, "hour": 2080}
_INTERVALS = {
    "year": "year yearly annual annually annum pa p.a yr jahr jährlich an par_an año 1_year per-year-salary",
    "month": "month monthly mo monat monatlich mois mes 1_month per-month-salary",
    "week": "week weekly woche semaine semana 1_week",
    "day": "day daily tag jour día 1_day",
    "hour": "hour hourly hr h stunde stündlich heure hora 1_hour per-hour-wage",
}
_INTERVAL_OF = {word: name for name, words in _INTERVALS.items() for word in words.split()}
_CODES = "|".join(sorted(EXPONENT))
_SIGN = rf"(?:(?:US|CA|AU|NZ|HK|S|C|A|R)?\$|€|£|₹|¥|zł|Kč|kr\b|(?:{_CODES})\b)"
_NUMBER = r"\d{1,3}(?:[,.'’  ]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,]\d{1,2})?(?!\d)"
_AMOUNT = (
    rf"(?:(?P<a{{n}}>(?:{_CODES})\s?)?(?P<b{{n}}>{_SIGN})\s?)?"
    rf"(?P<n{{n}}>{_NUMBER})(?P<k{{n}}>\s?[kK]\b)?(?:\s?(?P<c{{n}}>{_SIGN}))?"
)
_WORD = r"(?:per|a|an|/|pro|par|por)\s?"
_PER = (
    rf"(?:\s*(?:{_WORD}(?P<i{{n}}>[a-zä]+)\b|(?P<j{{n}}>annually|yearly|monthly|hourly|weekly|daily|p\.?a\.?)(?!\w)))?"
)
_BEGIN = r"(?<!\w)(?=[A-Z$€£₹¥zKk\d])"  # most places of a text are no beginning of an amount
_RANGE = re.compile(
    _BEGIN + _AMOUNT.replace("{n}", "1") + _PER.replace("{n}", "1") + r"\s*(?:-|–|—|to|bis|up to|and|à)\s*"
    + _AMOUNT.replace("{n}", "2") + _PER.replace("{n}", "2")
)  # fmt: skip
_SINGLE = re.compile(_BEGIN + _AMOUNT.replace("{n}", "1") + _PER.replace("{n}", "1"))
_ABOUT_PAY = re.compile(r"(?i)salar|pay\b|compensation|wage|rate\b|gehalt|vergütung|remuneration|rémunération|base\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Salary:
    """``low`` and ``high`` are as published; one of them may be missing. ``text`` is what was read."""

    low: Decimal | None
    high: Decimal | None
    currency: str | None
    interval: str | None
    text: str | None = None


def by_year(amount: Decimal | None, interval: str | None) -> Decimal | None:
    """An amount for a year; without an interval nobody can say."""
    times = A_YEAR_HAS.get(interval or "")
    return None if amount is None or times is None else amount * times


def of_fields(low: object, high: object, currency: object, interval: object, text: str | None = None) -> Salary | None:
    """A salary that a board tells in fields; None where there is no amount."""
    least, most = _decimal(low), _decimal(high)
    if least is None and most is None:
        return None
    code = str(currency).strip().upper() if currency else None
    return Salary(
        low=least,
        high=most,
        currency=code if code in EXPONENT else currency_code(str(currency)) if currency else None,
        interval=interval_of(interval),
        text=text,
    )


def interval_of(word: object) -> str | None:
    """``per-year-salary``, ``1 YEAR``, ``hourly``, ``p.a.`` as year, month, week, day or hour."""
    if not isinstance(word, str):
        return None
    plain = word.strip().strip(".").lower().replace(" ", "_")
    return _INTERVAL_OF.get(plain) or next((name for name in A_YEAR_HAS if name in plain), None)


def of_text(text: str) -> Salary | None:
    """The first salary that a text tells: a range with a currency, or an amount beside a word about pay."""
    for found in _RANGE.finditer(text):
        salary = _salary(found, "1", "2")
        if salary is not None:
            return salary
    for found in _SINGLE.finditer(text):
        before = text[max(0, found.start() - 80) : found.start()]
        if _ABOUT_PAY.search(before) and (salary := _salary(found, "1", "1")) is not None and salary.interval:
            return salary
    return None


def amounts(text: str) -> list[str]:
    """Every amount of money that a text names, sorted: a changed one is never a matter of wording."""
    found = (_money(match, "1") for match in _SINGLE.finditer(text))
    return sorted({f"{code} {format(amount.normalize(), 'f')}" for amount, code in found if code})


def _salary(found: re.Match[str], first: str, second: str) -> Salary | None:
    (low, code), (high, other) = _money(found, first), _money(found, second)
    code = code or other
    if code is None or low > high:
        return None
    words = [found[name + n] for name in "ij" for n in (first, second)]
    interval = next((name for word in words if word and (name := interval_of(word))), None)
    if low < 1000 and found["k" + second] and not found["k" + first]:
        low *= 1000
    if interval is None and high >= 10_000:
        interval = "year"
    return Salary(low=low, high=high, currency=code, interval=interval, text=" ".join(found[0].split()))


def _money(found: re.Match[str], n: str) -> tuple[Decimal, str | None]:
    amount = _decimal(_spelled(found["n" + n])) or Decimal(0)
    sign = next((found[name + n] for name in "abc" if found[name + n]), None)
    code = currency_code(sign.strip()) if sign else None
    return amount * (1000 if found["k" + n] else 1), code


def _spelled(number: str) -> str:
    """``1.234,50`` and ``1,234.50`` as machines write them."""
    plain = re.sub(r"['’  ]", "", number)
    tail = re.search(r"[.,](\d{1,2})\Z", plain)
    whole = re.sub(r"[.,]", "", plain[: tail.start()] if tail else plain)
    return f"{whole}.{tail[1]}" if tail else whole


def _decimal(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        return None
    try:
        number = Decimal(str(value).replace(",", "").strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and 0 < number < 10**12 else None
