"""The fields of a log line of a handler, as they are stored."""

import warnings
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from leasehold import json_codec
from leasehold.errors import TooLarge
from leasehold.program.outcomes import storable, words_of
from leasehold.redact import redact

#: Characters of the fields of one log line, as JSON.
LOG_FIELDS = 16_000


def log_fields(level: str, fields: dict[str, Any], secrets: Sequence[str]) -> str:
    """The fields of a log line as JSON: what is not JSON becomes text, what is too much is left out."""
    try:
        if _is_beyond(fields, 4 * LOG_FIELDS):  # what takes long to redact would be left out all the same
            raise TooLarge(f"more than {LOG_FIELDS} characters")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = TypeAdapter(dict[str, Any]).dump_python(fields, mode="json", fallback=str)
        plain = redact(plain, secrets=secrets)
        text = json_codec.encode({"level": level, **plain}, what="log line")
        if len(text) > LOG_FIELDS:
            raise TooLarge(f"more than {LOG_FIELDS} characters")
        return text
    except Exception as problem:
        why = storable(redact(words_of(problem), secrets=secrets))[:200]
        return json_codec.encode({"level": level, "fields": f"left out: {why}"}, what="log line")


def _is_beyond(fields: dict[str, Any], most: int) -> bool:
    """Whether the texts and values in it are more than so many characters. Looks no further than that."""
    stack: list[Any] = [fields]
    while stack and most >= 0:
        part = stack.pop()
        if isinstance(part, dict):
            most -= sum(len(name) for name in part if isinstance(name, str))
            stack += part.values()
        elif isinstance(part, list | tuple):
            stack += part
        most -= len(part) if isinstance(part, str) else 1
    return most < 0
