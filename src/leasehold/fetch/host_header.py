"""What a Host header names. Pure."""

import re

_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:[0-9]{1,5})?")


def name_of(header: str) -> str | None:
    """The name or address without its port, in lower case; None for what is neither."""
    found = _HOST.fullmatch(header.lower())
    return found["name"].strip("[]").removesuffix(".") if found else None
