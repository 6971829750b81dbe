"""JSON of a typed value straight from pydantic, where the type says that nothing about it need be asked.

``payload.encode`` looks into every value for what PostgreSQL would refuse or change. A bulk enqueue spends most of its
time there, and most payloads are models of texts, numbers and times.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from leasehold.payload import LIMIT

#: What pydantic makes of these is JSON that PostgreSQL keeps exactly, but for what _ASKED finds.
_PLAIN = {
    "model", "model-fields", "model-field", "default", "nullable", "list", "str", "int", "float", "bool", "none",
    "uuid", "date", "time", "datetime", "timedelta",
}  # fmt: skip
#: A float that is no number becomes null or one of these words, and no text may hold a NUL. Others may look the same.
_ASKED = (b"null", b"NaN", b"Infinity", b"\\u0000")


def is_plain(adapter: TypeAdapter[Any]) -> bool:
    """Whether the type is made of plain types alone, each with pydantic's own way to serialise it."""
    return _is_plain(adapter.core_schema)


def _is_plain(schema: Mapping[str, Any]) -> bool:
    if schema["type"] not in _PLAIN or "serialization" in schema or schema.get("computed_fields"):
        return False
    config = schema.get("config", {})
    if schema.get("extra_behavior") == "allow" or config.get("extra_fields_behavior") == "allow":
        return False
    inner = [schema[name] for name in ("schema", "items_schema") if name in schema]
    return all(map(_is_plain, [*inner, *schema.get("fields", {}).values()]))


def quick_json(adapter: TypeAdapter[Any], value: Any) -> str | None:
    """The JSON text of a value of a plain type; None where it must be looked into after all."""
    try:
        raw = adapter.serializer.to_json(value, warnings="error")  # a field that is not of its type after all
    except PydanticSerializationError:
        return None
    if len(raw) > LIMIT or any(found in raw for found in _ASKED):
        return None
    return raw.decode()
