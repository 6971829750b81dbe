"""Durations as people write them: seconds, a timedelta, or a text such as "10m"."""

import math
import re
from datetime import timedelta
from typing import Any

from leasehold.errors import BadInput

Duration = float | timedelta | str
#: As the OpenAPI document has it; a number in quotes has no unit, and is refused.
PATTERN = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h|d|w))+$"
HINT = 'a number of seconds, a timedelta, or a text with units ms, s, m, h, d or w, such as "10m" or "1h30m"'
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d|w)", re.ASCII)
_WHOLE = re.compile(PATTERN.replace("$", r"\Z"), re.ASCII)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_LONGEST_TEXT = 50


def seconds_of(value: Any, name: str) -> float:
    """A duration in seconds; ``name`` is the option that an error names."""
    seconds = _seconds(value)
    if seconds is None:
        raise BadInput(f"{name}={value!r} is not a duration", hint=HINT)
    return seconds


def _seconds(value: Any) -> float | None:
    match value:
        case bool():
            return None
        case int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case timedelta():
            return value.total_seconds()
        case str() if len(value) <= _LONGEST_TEXT and _WHOLE.fullmatch(value):
            return round(sum(float(n) * _UNITS[unit] for n, unit in _PART.findall(value)), 3)
    return None
