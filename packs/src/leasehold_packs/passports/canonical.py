"""One spelling for a JSON value: RFC 8785. What cannot be kept exactly is refused."""

from decimal import Decimal
from hashlib import sha256
from json import JSONEncoder
from typing import Any

import rfc8785

from leasehold_packs.passports.errors import invalid

# As RFC 8785 writes texts, and in C. Names are sorted by code points: alike for all below the surrogates of UTF-16.
_QUICK = JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, sort_keys=True, separators=(",", ":"))
_LAST_NAME = "\ud7ff"
_MAX_INTEGER = 2**53 - 1


def canonical(value: Any) -> bytes:
    """The bytes that are hashed and signed. Integers end at 2^53, as every reader can hold them."""
    try:
        return _QUICK.encode(value).encode() if _is_plain(value) else rfc8785.dumps(_with_doubles(value))
    except (rfc8785.CanonicalizationError, UnicodeError, RecursionError) as error:
        raise invalid(f"this has no canonical form: {error}") from None


def digest(value: Any) -> str:
    return sha256(canonical(value)).hexdigest()


def _is_plain(value: Any) -> bool:
    """Whether it has nothing that the two would write otherwise, or that one of them would refuse."""
    if value is None or isinstance(value, str | bool):
        return True
    if isinstance(value, int):
        return -_MAX_INTEGER <= value <= _MAX_INTEGER
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return isinstance(value, dict) and all(map(_is_name, value)) and all(map(_is_plain, value.values()))


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and (name.isascii() or max(name) <= _LAST_NAME)


def _with_doubles(value: Any) -> Any:
    """With doubles for decimals, if nothing is lost by it."""
    if isinstance(value, dict):
        return {name: _with_doubles(child) for name, child in value.items()}
    if isinstance(value, list | tuple):
        return [_with_doubles(child) for child in value]
    if isinstance(value, Decimal):
        return _as_double(value)
    return value


def _as_double(value: Decimal) -> float:
    near = float(value)
    if not value.is_finite() or abs(near) == float("inf") or Decimal(repr(near)) != value:
        raise invalid(f"{str(value)[:40]} is no number that every reader can hold", hint="write it as text")
    return near
