"""One spelling for a JSON value: RFC 8785. What cannot be kept exactly is refused."""

from decimal import Decimal
from hashlib import sha256
from typing import Any

import rfc8785

from leasehold_packs.passports.errors import invalid


def canonical(value: Any) -> bytes:
    """The bytes that are hashed and signed. Integers end at 2^53, as every reader can hold them."""
    try:
        return rfc8785.dumps(_plain(value))
    except (rfc8785.CanonicalizationError, UnicodeError, RecursionError) as error:
        raise invalid(f"this has no canonical form: {error}") from None


def digest(value: Any) -> str:
    return sha256(canonical(value)).hexdigest()


def _plain(value: Any) -> Any:
    """With doubles for decimals, if nothing is lost by it."""
    if isinstance(value, dict):
        return {name: _plain(child) for name, child in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(child) for child in value]
    if isinstance(value, Decimal):
        return _as_double(value)
    return value


def _as_double(value: Decimal) -> float:
    near = float(value)
    if not value.is_finite() or abs(near) == float("inf") or Decimal(repr(near)) != value:
        raise invalid(f"{str(value)[:40]} is no number that every reader can hold", hint="write it as text")
    return near
