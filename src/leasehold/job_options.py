"""The options of a job, read from their table, and the names that people write in Python.

SQL knows an option by its long name, which carries the unit.
"""

import csv
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leasehold.durations import seconds_of
from leasehold.errors import BadInput
from leasehold.json_codec import plain_options

_TABLE = "engine/sql/enqueue/options.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A line of the table; docs/design/options.md says what the columns mean."""

    name: str
    type: str
    min: str
    max: str
    default: str
    short: bool
    kind: bool
    step: bool
    schedule: bool
    people_name: str
    help: str

    @property
    def is_number(self) -> bool:
        return self.type in ("whole", "seconds")

    @property
    def choices(self) -> list[str]:
        return self.type.split("|") if "|" in self.type else []


def read_table(text: str) -> list[Option]:
    """The options of a table in CSV, in its order."""
    return [
        Option(**{name: value == "yes" if name in _PLACES else value for name, value in row.items()})  # type: ignore[arg-type]
        for row in csv.DictReader(text.splitlines())
    ]


_PLACES = ("short", "kind", "step", "schedule")
OPTIONS = read_table((pkgutil.get_data("leasehold", _TABLE) or b"").decode())
#: The short names that people write in Python, and what they stand for.
LONG = {option.people_name: option.name for option in OPTIONS if option.people_name}
#: What a handler may say of the jobs of its kind.
OF_KINDS = tuple(option.name for option in OPTIONS if option.kind)
NUMBERS = frozenset(option.name for option in OPTIONS if option.is_number)
WHOLE = frozenset(option.name for option in OPTIONS if option.type == "whole")
DURATIONS = frozenset(option.name for option in OPTIONS if option.type == "seconds")
SHORT = {long: short for short, long in LONG.items()}


def plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options under SQL's names and as JSON has them, without those that are None."""
    if not options:
        return {}
    named = plain_options(long_names(options))
    for name in WHOLE & named.keys():
        if not isinstance(named[name], int | float) or isinstance(named[name], bool):
            short = SHORT.get(name, name)
            raise BadInput(f"{short} is a number, not {named[name]!r}", hint=f"{short}=5")
    for name in DURATIONS & named.keys():
        named[name] = seconds_of(named[name], SHORT.get(name, name))
    return named


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
