"""JSON of a typed value straight from pydantic, where the type says that nothing about it need be asked.

``payload.encode`` looks into every value for what PostgreSQL would refuse or change. A bulk enqueue spends most of its
time there, and most payloads are models of texts, numbers and times.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, SchemaSerializer, core_schema

from leasehold.json_codec import LIMIT

#: What pydantic makes of these is JSON that PostgreSQL keeps exactly, but for what _unsuspicious finds.
_PLAIN = {
    "model", "model-fields", "model-field", "default", "nullable", "list", "str", "int", "float", "bool", "none",
    "uuid", "date", "time", "datetime", "timedelta",
}  # fmt: skip
#: Of fields whose values are seen to be what they were declared as without pydantic.
_SEEN = {"str": str, "int": int, "float": float, "bool": bool}


class QuickJson:
    """The JSON text of values of a plain type."""

    __slots__ = ("_fields", "_many", "_model", "_one")

    def __init__(self, adapter: TypeAdapter[Any]) -> None:
        self._one = adapter.serializer
        self._model, self._fields = adapter.core_schema.get("cls"), _seen_fields(adapter.core_schema)
        self._many = SchemaSerializer(core_schema.list_schema(adapter.core_schema))

    @classmethod
    def of(cls, adapter: TypeAdapter[Any]) -> Self | None:
        """None unless the type is made of plain types alone, each with pydantic's own way to serialise it."""
        return cls(adapter) if _is_plain(adapter.core_schema) else None

    def text(self, value: Any) -> str | None:
        """None where it must be looked into after all."""
        warnings: Literal["error", False] = False if self._is_as_declared(value) else "error"
        return raw.decode() if (raw := _unsuspicious(self._one, value, warnings)) else None

    def texts(self, values: Sequence[Any]) -> list[str] | None:
        """The same for many. They are looked at together: to look at each takes longer than to make its text."""
        if _unsuspicious(self._many, values, "error") is None:
            return None
        return [self._one.to_json(value, warnings=False).decode() for value in values]

    def _is_as_declared(self, value: Any) -> bool:
        """Whether that can be seen. To ask pydantic for errors takes longer than to make the text."""
        if self._fields is None or type(value) is not self._model:
            return False
        given = value.__dict__
        for name, type_ in self._fields:
            if type(given.get(name)) is not type_:
                return False
        return len(given) == len(self._fields)


def _seen_fields(schema: Mapping[str, Any]) -> list[tuple[str, type]] | None:
    """The fields of a model that has texts, numbers and truths only."""
    if schema["type"] != "model" or schema["schema"]["type"] != "model-fields":
        return None
    found = {name: _inner_type(field["schema"]) for name, field in schema["schema"]["fields"].items()}
    return [(name, _SEEN[type_]) for name, type_ in found.items()] if set(found.values()) <= set(_SEEN) else None


def _inner_type(schema: Mapping[str, Any]) -> str:
    return str(schema["schema"]["type"] if schema["type"] == "default" else schema["type"])


def _is_plain(schema: Mapping[str, Any]) -> bool:
    if schema["type"] not in _PLAIN or "serialization" in schema or schema.get("computed_fields"):
        return False
    config = schema.get("config", {})
    if schema.get("extra_behavior") == "allow" or config.get("extra_fields_behavior") == "allow":
        return False
    inner = [schema[name] for name in ("schema", "items_schema") if name in schema]
    return all(map(_is_plain, [*inner, *schema.get("fields", {}).values()]))


def _unsuspicious(serializer: SchemaSerializer, value: Any, warnings: Literal["error", False]) -> bytes | None:
    try:
        raw = serializer.to_json(value, warnings=warnings)  # an error: a field is not of its type after all
    except PydanticSerializationError:
        return None
    # A float that is no number becomes null or one of these words, and no text may hold a NUL. More look the same.
    if len(raw) > LIMIT or b"null" in raw or b"NaN" in raw or b"Infinity" in raw or b"\\u0000" in raw:
        return None
    return raw
