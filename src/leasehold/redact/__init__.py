"""Mask secrets in texts and JSON-like values before they are logged or stored."""

# Pure: no clock, no files, no network. Four layers each name the parts of a text that are secret, and everything else
# is kept byte for byte:
#
#     literals   the job's own secrets, in every encoding they may travel in: the only layer that is complete
#     named      what follows a name that says secret: password=…, "apiKey": "…", Authorization: …, ?sig=…
#     formats    what is a secret by its own shape: provider tokens, JWTs, private keys, user:password@host
#     weak names random-looking values behind a name that only may say secret: softlayer_key = 3f…
#
# Every pattern is bounded, so the time grows with the length of the text and with nothing else.

import re
from collections.abc import Collection, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, TypeVar, cast
from uuid import UUID

from leasehold.redact.assignments import named_spans
from leasehold.redact.credentials import credential_spans
from leasehold.redact.formats import format_spans
from leasehold.redact.literals import MIN_LITERAL, literal_spans, literals_of
from leasehold.redact.mask import MASK, UNREADABLE, Span
from leasehold.redact.names import MACHINE, NOTHING, weight
from leasehold.redact.values import SMALL_NUMBER, says_nothing

__all__ = ["MACHINE", "MASK", "MAX_DEPTH", "MIN_LITERAL", "NOTHING", "UNREADABLE", "redact", "scrub", "weight"]

MAX_DEPTH = 48
#: Masking may bring to light what stood next to a secret; a text that never comes to rest is masked as a whole.
MAX_PASSES = 6

T = TypeVar("T")


def redact(value: T, *, secrets: Collection[str] = ()) -> T:
    """The same value with its secrets masked; never raises.

    Text, bytes, mappings and sequences keep their shape. Numbers, times and ids are returned as they are, any other
    object becomes its redacted text. ``secrets`` are the literal secrets of this job.
    """
    try:
        return cast(T, _value(value, literals_of(tuple(secrets)), frozenset()))
    except Exception:
        return cast(T, UNREADABLE)


def scrub(value: Any, *, secrets: Collection[str]) -> Any:
    """A JSON value with these literal secrets masked in it, and nothing else changed."""
    literals = literals_of(tuple(secrets))
    return value if literals is None else _scrubbed(value, literals)


def _scrubbed(value: Any, literals: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return literals.sub(MASK, value)
    if isinstance(value, list):
        return [_scrubbed(item, literals) for item in value]
    if isinstance(value, dict):
        return {literals.sub(MASK, name): _scrubbed(item, literals) for name, item in value.items()}
    return value


_PLAIN = (int, float, complex, UUID, datetime, date, time, timedelta, Decimal, type(None))


def _value(value: Any, literals: re.Pattern[str] | None, above: frozenset[int]) -> Any:
    if isinstance(value, str):
        return _unless_same(value, _text(str.__str__(value), literals))
    if isinstance(value, _PLAIN) and not isinstance(value, Enum):
        return value
    if isinstance(value, bytes | bytearray):
        text = value.decode("latin-1")  # one character per byte, both ways
        return _unless_same(value, type(value)(_text(text, literals).encode("latin-1", "replace")))
    if not isinstance(value, Mapping | list | tuple | set | frozenset):
        return _text(_printed(value), literals)
    if len(above) >= MAX_DEPTH or id(value) in above:
        return UNREADABLE
    inside = above | {id(value)}
    if isinstance(value, Mapping):
        return _mapping(value, literals, inside)
    return _sequence(value, literals, inside)


def _unless_same(value: Any, redacted: Any) -> Any:
    return value if value == redacted else redacted


def _printed(value: object) -> str:
    try:
        return str(value)
    except Exception:
        return UNREADABLE


def _mapping(value: Mapping[Any, Any], literals: re.Pattern[str] | None, inside: frozenset[int]) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    named = _named_pair(value)
    for key, item in value.items():
        shown = _value(key, literals, inside) if isinstance(key, str | bytes) else key
        secret = _is_secret(key) or (shown != key and _is_secret(shown)) or (named and _name(key).casefold() == "value")
        result[_free(shown, result)] = _masked(item, inside) if secret else _value(item, literals, inside)
    return result


def _name(key: object) -> str:
    return key.decode("latin-1") if isinstance(key, bytes) else key if isinstance(key, str) else ""


def _is_secret(key: object) -> bool:
    """Whether the name says so. One that lost its own secret is asked again: whoever reads it next would find that."""
    return weight(_name(key)) >= MACHINE


def _named_pair(value: Mapping[Any, Any]) -> bool:
    """{"name": "X-Api-Key", "value": "…"}: how HAR files and container specifications write a mapping."""
    name = value.get("name", value.get("key"))
    return isinstance(name, str) and "value" in value and weight(name) >= MACHINE


def _free(key: Any, taken: Mapping[Any, Any]) -> Any:
    """Two masked keys must not swallow each other's entries."""
    if key not in taken:
        return key
    return next(free for n in range(2, len(taken) + 3) if (free := f"{key} {n}") not in taken)


def _sequence(value: Any, literals: re.Pattern[str] | None, inside: frozenset[int]) -> Any:
    if isinstance(value, tuple) and len(value) == 2 and _is_header(value[0]):
        items = [value[0], _masked(value[1], inside)]
    else:
        items = [_value(item, literals, inside) for item in value]
    if hasattr(value, "_fields"):
        return type(value)(*items)
    kind = next(kind for kind in (list, tuple, set, frozenset) if isinstance(value, kind))
    return kind(items)


def _is_header(name: object) -> bool:
    if isinstance(name, bytes):
        name = name.decode("latin-1")
    return isinstance(name, str) and _HEADER_NAME.fullmatch(name) is not None and weight(name) >= MACHINE


_HEADER_NAME = re.compile(r"[\w.-]+")


def _masked(value: Any, above: frozenset[int]) -> Any:
    """Everything inside is secret, because the name above it says so; empty values and flags still say nothing."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, bytes | bytearray):
        return value if not value else type(value)(MASK.encode())
    if isinstance(value, str):
        return value if says_nothing(value) else MASK
    if len(above) >= MAX_DEPTH or id(value) in above:
        return UNREADABLE
    inside = above | {id(value)}
    if isinstance(value, Mapping):
        return {key: _masked(item, inside) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = [_masked(item, inside) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value if isinstance(value, int) and abs(value) < SMALL_NUMBER else MASK


#: No layer can match a text without any of these.
_SUSPICIOUS = re.compile(r"""[0-9:=@_<"'-]|[A-Z]{2}[A-Za-z]{9}|login""")
_SHORTEST = 8


def _text(text: str, literals: re.Pattern[str] | None) -> str:
    if literals is None and (len(text) < _SHORTEST or not _SUSPICIOUS.search(text)):
        return text
    for _ in range(MAX_PASSES):
        spans = _spans(text, literals)
        if not spans:
            return text
        text = _cover(text, spans)
    return MASK


def _spans(text: str, literals: re.Pattern[str] | None) -> list[Span]:
    spans = list(literal_spans(text, literals)) if literals else []
    spans.extend(format_spans(text))
    spans.extend(credential_spans(text))
    spans.extend(named_spans(text))
    return [span for span in spans if text[span[0] : span[1]] not in ("", MASK)]


def _cover(text: str, spans: list[Span]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if end <= done:
            continue
        if start > done or not parts:
            parts += [text[done:start], MASK]
        done = end
    return "".join([*parts, text[done:]])
