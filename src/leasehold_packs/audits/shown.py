"""What is shown of what sites say: addresses and evidence without their secrets, and where a list goes on."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import lru_cache
from typing import Any

from leasehold.errors import BadInput
from leasehold.redact import redact

_text = lru_cache(maxsize=50_000)(redact)  # the pages of a site name each other again and again


def shown(value: Any) -> Any:
    """The same without API keys, tokens and passwords. Names stay: what a value is called does not make it a secret."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return {name: shown(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shown(one) for one in value]
    return value


def cursor_of(*place: str) -> str:
    """Where a list goes on after this one."""
    return urlsafe_b64encode("/".join(place).encode()).decode().rstrip("=")


def place_of(cursor: str | None, parts: int) -> list[str | None]:
    """The same read back; nothing where a list begins."""
    if cursor is None:
        return [None] * parts
    place: list[str | None]
    try:
        place = [*urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().split("/")]
    except ValueError:
        place = []
    if len(place) != parts:
        raise BadInput("this is no cursor", hint="use next_cursor of the page before, as it was")
    return place
