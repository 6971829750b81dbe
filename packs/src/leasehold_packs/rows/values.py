"""A row becomes a value of its type, and a value becomes JSON."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


def value_of(type_: type[T], row: Mapping[str, object], *documents: str, **more: object) -> T:
    """A row as a value of this type.

    ``documents`` are the columns that hold JSON; ``more`` are fields beside the columns, or instead of them.
    """
    columns: dict[str, Any] = {**row}
    for name in documents:
        columns[name] = None if columns[name] is None else json.loads(columns[name])
    return adapter(type_).validate_python(columns | more)


def json_of(value: object, type_: Any = None) -> str:
    """A value as JSON, as its type, or ``type_``, describes it."""
    described: Any = type_ or type(value)
    return _adapter(described).dump_json(value).decode()


def adapter(type_: type[T]) -> TypeAdapter[T]:
    """What reads and writes JSON of this type."""
    described: Any = type_
    return _adapter(described)


@cache
def _adapter(type_: Any) -> TypeAdapter[Any]:
    return TypeAdapter(type_)
