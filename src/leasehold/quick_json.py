"""JSON of a typed value straight from pydantic, where the type says that nothing about it need be asked.

``payload.encode`` looks into every value for what PostgreSQL would refuse or change. A bulk enqueue spends most of its
time there, and most payloads are models of texts, numbers and times.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, SchemaSerializer, core_schema

from leasehold.payload import LIMIT

#: What pydantic makes of these is JSON that PostgreSQL keeps exactly, but for what _must_be_asked finds.
_PLAIN = {
    "model", "model-fields", "model-field", "default", "nullable", "list", "str", "int", "float", "bool", "none",
    "uuid", "date", "time", "datetime", "timedelta",
}  # fmt: skip


class QuickJson:
    """The JSON text of values of a plain type."""

    __slots__ = ("_many", "_one")

    def __init__(self, adapter: TypeAdapter[Any]) -> None:
        self._one = adapter.serializer
        self._many = SchemaSerializer(core_schema.list_schema(adapter.core_schema))

    @classmethod
    def of(cls, adapter: TypeAdapter[Any]) -> Self | None:
        """None unless the type is made of plain types alone, each with pydantic's own way to serialise it."""
        return cls(adapter) if _is_plain(adapter.core_schema) else None

    def text(self, value: Any) -> str | None:
        """None where it must be looked into after all."""
        return raw.decode() if (raw := _unsuspicious(self._one, value)) else None

    def texts(self, values: Sequence[Any]) -> list[str] | None:
        """The same for many. They are looked at together: to look at each takes longer than to make its text."""
        if _unsuspicious(self._many, values) is None:
            return None
        return [self._one.to_json(value, warnings=False).decode() for value in values]


def _is_plain(schema: Mapping[str, Any]) -> bool:
    if schema["type"] not in _PLAIN or "serialization" in schema or schema.get("computed_fields"):
        return False
    config = schema.get("config", {})
    if schema.get("extra_behavior") == "allow" or config.get("extra_fields_behavior") == "allow":
        return False
    inner = [schema[name] for name in ("schema", "items_schema") if name in schema]
    return all(map(_is_plain, [*inner, *schema.get("fields", {}).values()]))


def _unsuspicious(serializer: SchemaSerializer, value: Any) -> bytes | None:
    try:
        raw = serializer.to_json(value, warnings="error")  # a field that is not of its type after all
    except PydanticSerializationError:
        return None
    return None if len(raw) > LIMIT or _must_be_asked(raw) else raw


def _must_be_asked(raw: bytes) -> bool:
    """A float that is no number becomes null or one of these words, and no text may hold a NUL. More look the same."""
    return b"null" in raw or b"NaN" in raw or b"Infinity" in raw or b"\\u0000" in raw
