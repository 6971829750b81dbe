"""Base58btc as Data Integrity writes keys and signatures: ``z`` and the digits."""

from leasehold_packs.passports.errors import invalid

_DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}
#: Longer than any key or signature: the work grows with the square.
MAX_LENGTH = 256


def encode(raw: bytes) -> str:
    number = int.from_bytes(raw)
    digits = ""
    while number:
        number, digit = divmod(number, 58)
        digits = _DIGITS[digit] + digits
    zeros = len(raw) - len(raw.lstrip(b"\0"))
    return "z" + _DIGITS[0] * zeros + digits


def decode(text: str) -> bytes:
    digits = text[1:]
    if text[:1] != "z" or len(digits) > MAX_LENGTH or any(digit not in _VALUES for digit in digits):
        raise invalid("no base58btc: it is z and letters or digits without 0, O, I and l")
    number = 0
    for digit in digits:
        number = 58 * number + _VALUES[digit]
    zeros = len(digits) - len(digits.lstrip(_DIGITS[0]))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8)
