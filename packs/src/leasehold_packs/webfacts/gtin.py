"""Trade item numbers (GTIN, EAN, UPC, ISBN): only those whose check digit is right."""

import re

_LENGTHS = {8, 12, 13, 14}


def gtin_of(text: str) -> str | None:
    """The digits of a valid number, or None."""
    digits = re.sub(r"[\s-]", "", text.strip().lower().rsplit(":", 1)[-1])
    if len(digits) not in _LENGTHS or not (digits.isascii() and digits.isdigit()) or not digits.strip("0"):
        return None
    weighted = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(reversed(digits)))
    return digits if weighted % 10 == 0 else None
