"""The options of a job as programs write them. SQL knows them by their long names, which carry the units."""

from collections.abc import Mapping
from typing import Any

from leasehold.errors import BadInput
from leasehold.payload import plain_options

#: The short names that people write in Python, and what they stand for.
LONG = {
    "attempts": "max_attempts",
    "timeout": "timeout_s",
    "delay": "delay_s",
    "key_window": "key_window_s",
    "group_gap": "group_gap_s",
}
#: What a handler may say of the jobs of its kind. As in SQL: see known_options.sql.
OF_KINDS = (
    "queue", "priority", "max_attempts", "retry_base_s", "retry_cap_s", "timeout_s", "delay_s", "version", "tags",
    "group", "group_limit", "group_hold", "group_gap_s", "gate", "key_window_s", "on_duplicate",
)  # fmt: skip


def plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options under SQL's names and as JSON has them, without those that are None."""
    return plain_options(long_names(options)) if options else {}


def long_names(options: Mapping[str, Any]) -> dict[str, Any]:
    """The same options under SQL's names."""
    named: dict[str, Any] = {}
    for name, value in options.items():
        long = LONG.get(name, name)
        if long in named:
            raise BadInput(f"{name} is the same option as {_other_name(name, long)}", hint="give one of them")
        if callable(value):
            raise BadInput(f"the option {name} is a function, and options are data", hint=_HINTS.get(name))
        named[long] = value
    return named


def _other_name(name: str, long: str) -> str:
    return long if name != long else next(short for short, one in LONG.items() if one == long)


_HINTS = {
    "gate": 'to make the gate of the payload, write a template: gate="stripe:{customer}", or gate="host:{url|host}"'
}
