"""Payloads and results are JSON that PostgreSQL can keep exactly: what it would refuse or change is refused here."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from leasehold.errors import BadInput, TooLarge

#: Bytes of one payload or result, as the JSON text that PostgreSQL makes of it.
LIMIT = 16 * 1024 * 1024

_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


_HINT = "it is made of numbers, texts, booleans, None, lists and dicts"


def encode(value: Any, *, what: str = "payload", in_turns: bool = False) -> str:
    """JSON text of ``value``, or BadInput that says what is wrong with it.

    ``in_turns`` is slower, and lets other threads have their turn between two values.
    """
    try:
        text = "".join(_JSON.iterencode(value)) if in_turns else _JSON.encode(value)
        size = len(text) if text.isascii() else len(text.encode())
        if "\\u0000" in text and _holds_nul(value):
            raise ValueError("it holds a NUL character, which PostgreSQL cannot keep")
        if _has_other_keys(value) and _loses_keys(value):
            raise ValueError("two of its keys become the same text")
    except UnicodeEncodeError:
        raise BadInput(f"the {what} holds a lone surrogate, which is not text") from None
    except RecursionError:
        raise BadInput(f"the {what} is nested too deeply, or contains itself") from None
    except (TypeError, ValueError) as problem:
        raise BadInput(f"the {what} is not JSON: {problem}", hint=_HINT) from None
    if size > LIMIT:
        raise TooLarge(
            f"the {what} has {size} bytes of JSON, more than {LIMIT}", hint="store it elsewhere and send a reference"
        )
    return text


def decode(text: str | None) -> Any:
    """The value of JSON that PostgreSQL kept, whichever program put it there: it keeps more than Python reads."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except RecursionError:
        raise BadInput("the JSON is nested too deeply to be read by this program") from None
    except ValueError:  # a whole number of more digits than Python reads: as large as any float, as 1e400 is to Python
        return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < 4000 else float(digits))


def shown(text: str | None) -> Any:
    """The same for a list, in which one unreadable value must not hide the others: a note stands for it."""
    try:
        return decode(text)
    except BadInput as problem:
        return {"unreadable": str(problem)}


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as JSON has them, without those that are None."""
    return {name: _plain(value) for name, value in options.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise BadInput(f"{value.isoformat()} has no time zone", hint="use datetime.now(UTC) + …")
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return str(value) if isinstance(value, UUID) else value


def _holds_nul(value: Any) -> bool:
    """A real NUL, not the six characters ``\\u0000``."""
    return any("\0" in part for part in _parts(value) if isinstance(part, str))


def _has_other_keys(value: Any) -> bool:
    """Whether any key is not a text. Asked of every payload, so it looks into nothing but what can hold keys."""
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            if not all(type(key) is str for key in part):
                return True
            part = part.values()
        elif not isinstance(part, list | tuple):
            continue
        stack += [inner for inner in part if isinstance(inner, dict | list | tuple)]
    return False


def _loses_keys(value: Any) -> bool:
    """Whether keys of different types become one in JSON: of ``{1: "a", "1": "b"}`` PostgreSQL would keep one."""
    objects = (part for part in _parts(value) if isinstance(part, dict))
    return any(len(json.loads(json.dumps(dict.fromkeys(part)))) < len(part) for part in objects)


def _parts(value: Any) -> Iterator[Any]:
    """The value and everything in it; keys too. With a stack of its own, because a payload may be nested deeply."""
    stack = [value]
    while stack:
        part = stack.pop()
        yield part
        if isinstance(part, dict):
            stack += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple):
            stack += part
