"""Server-sent events: lines in, messages out."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    event: str
    id: str
    data: Any


class Reader:
    """Takes a line at a time; gives the message that an empty line ends."""

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}

    def take(self, line: str) -> Message | None:
        if line:
            name, _, value = line.partition(":")
            if name:  # else it is a comment
                self._fields[name] = value.removeprefix(" ")
            return None
        found, self._fields = self._fields, {}
        if "data" not in found:
            return None
        return Message(event=found.get("event", "message"), id=found.get("id", ""), data=json.loads(found["data"]))


def messages(lines: Iterable[str]) -> list[Message]:
    """All messages of these lines."""
    reader = Reader()
    return [message for line in lines if (message := reader.take(line))]
