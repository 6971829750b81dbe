"""Patterns that are compiled when they are first used: most lines meet few of them, and to compile all takes long."""

import re
from typing import Any, cast


def late(source: str, flags: int = 0) -> re.Pattern[str]:
    return cast("re.Pattern[str]", _Late(source, flags))


class _Late:
    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        """Not asked again for the same name: then the pattern's own method is found as an attribute."""
        method = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, method)
        return method
