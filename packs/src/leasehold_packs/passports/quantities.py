"""Numbers that stay exact, and units that differ by powers of ten.

A number of a passport is text in decimal form: no reader on the way rounds it.
"""

import re
from decimal import Context, Decimal, DecimalException, Inexact, InvalidOperation, Overflow

from leasehold_packs.passports.errors import invalid

Number = int | Decimal

#: More than any double needs. A longer number, or one with a larger exponent, is an attempt to make us work.
MAX_DIGITS = 400

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?")
_EXACT = Context(prec=4 * MAX_DIGITS, Emax=9_999, Emin=-9_999, traps=[Inexact, InvalidOperation, Overflow])

#: unit: (what it measures, power of ten)
_UNITS: dict[str, tuple[str, int]] = {
    "g": ("mass", -3),
    "kg": ("mass", 0),
    "t": ("mass", 3),
    "Wh": ("energy", -3),
    "kWh": ("energy", 0),
    "MWh": ("energy", 3),
    "mW": ("power", -3),
    "W": ("power", 0),
    "kW": ("power", 3),
    "mV": ("voltage", -3),
    "V": ("voltage", 0),
    "kV": ("voltage", 3),
    "mAh": ("capacity", -3),
    "Ah": ("capacity", 0),
    "mOhm": ("resistance", -3),
    "Ohm": ("resistance", 0),
    "g CO2e/kWh": ("carbon footprint", -3),
    "kg CO2e/kWh": ("carbon footprint", 0),
    "kg CO2e": ("emissions", 0),
    "t CO2e": ("emissions", 3),
    "%": ("share", -2),
    "1": ("share", 0),
}


def number(text: str) -> Number:
    """The number as JSON writes it: nothing else, so that 1.234,5 is an error and never a guess."""
    if len(text) > MAX_DIGITS or not _NUMBER.fullmatch(text):
        raise invalid(f"{text[:40]!r} is no number", hint="write it like 61.5 or 6.15e1, without blanks or commas")
    if text.lstrip("-").isdigit():
        return int(text)
    found = Decimal(text)
    if abs(found.adjusted()) > MAX_DIGITS:
        raise invalid(f"{text[:40]!r} is too large or too small")
    return found


def decimal_text(value: Number) -> str:
    """Equal numbers have one text: 1.50 and 15e-1 are both 1.5."""
    text = format(value, "d") if isinstance(value, int) else format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def convert(value: Number, *, unit: str, to: str) -> Number:
    if unit == to:
        return value
    if unit not in _UNITS or to not in _UNITS or _UNITS[unit][0] != _UNITS[to][0]:
        raise invalid(f"{unit} cannot be converted to {to}", hint=f"known units: {', '.join(_UNITS)}")
    try:
        return _EXACT.scaleb(Decimal(value), _UNITS[unit][1] - _UNITS[to][1])
    except DecimalException:
        raise invalid(f"{decimal_text(value)[:40]} {unit} cannot be written in {to}") from None
