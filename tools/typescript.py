"""Write the types of the TypeScript SDK from docs/reference/openapi.json: `python -m tools.typescript`.

`--check` writes nothing and fails when the file is not what the document says. Made are a type for each schema, a table
of the operations that answer with JSON, and for each schema that stands in an answer its shape, which the SDK checks.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "reference" / "openapi.json"
MADE = ROOT / "sdk" / "typescript" / "src" / "generated.ts"

_HEAD = """// Made by `python -m tools.typescript` from docs/reference/openapi.json: change the document, not this file.

import type { Operation, Shape } from "./shape.js";

/** A moment in a request: ISO 8601 with a time zone, or a Date. */
export type Moment = string | Date;
"""
_REF = "#/components/schemas/"
_JSON = "application/json"
#: What an answer is checked for. Bounds and patterns are for requests, and the server checks those.
_CHECKED = ("type", "enum", "const", "format", "required")
_NOT_READ = {"allOf", "oneOf", "not", "prefixItems"}
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}

Schema = dict[str, Any]


def main(arguments: list[str]) -> int:
    made = text(json.loads(DOCUMENT.read_text()))
    if "--check" not in arguments:
        MADE.write_text(made)
        return 0
    if MADE.exists() and MADE.read_text() == made:
        return 0
    print(f"{MADE.relative_to(ROOT)} is not what {DOCUMENT.relative_to(ROOT)} says: run `python -m tools.typescript`")
    return 1


def text(document: Schema) -> str:
    """The whole file."""
    schemas: dict[str, Schema] = document["components"]["schemas"]
    operations = dict(sorted(_operations(document)))
    asked = _reachable(schemas, (_content(one.get("requestBody")) for one in _every(document["paths"])))
    told = _reachable(schemas, (one["answer"] for one in operations.values()))
    told |= _reachable(schemas, (_content(one["requestBody"]) for one in _every(document["webhooks"])))
    told |= _reachable(schemas, [{"$ref": f"{_REF}ProblemDetails"}])
    types = [_declared(name, schemas[name], asked=name in asked - told) for name in sorted(schemas)]
    shapes = [f"  {name}: {_literal(_shape(schemas[name]))}," for name in sorted(told)]
    parts = [
        _HEAD,
        *types,
        "/** Every operation that answers with JSON: what it takes, and what it gives. */",
        "export interface Operations {\n" + "\n".join(map(_operation_type, operations.values())) + "\n}\n",
        "export const operations: { readonly [K in keyof Operations]: Operation } = {",
        "\n".join(map(_operation_value, operations.values())) + "\n};\n",
        "/** What the answers look like, for the check of what came. */",
        "export const shapes: { readonly [name: string]: Shape } = {\n" + "\n".join(shapes) + "\n};\n",
    ]
    return "\n".join(parts)


# -- operations -----------------------------------------------------------------------------------------------------


def _operations(document: Schema) -> Iterator[tuple[str, Schema]]:
    """By name: those whose good answers are JSON, or nothing."""
    for path, item in document["paths"].items():
        for method, one in item.items():
            good = [answer for status, answer in one["responses"].items() if status.startswith("2")]
            kinds = {kind for answer in good for kind in answer.get("content", {})}
            if kinds and _JSON not in kinds:
                continue
            parameters = one.get("parameters", [])
            once = any(parameter["name"] == "idempotency-key" for parameter in parameters)
            yield (
                one["operationId"],
                {
                    "name": one["operationId"],
                    "summary": one["summary"],
                    "method": method.upper(),
                    "path": path,
                    "parameters": parameters,
                    "body": _content(one.get("requestBody")),
                    "needs_body": one.get("requestBody", {}).get("required", False),
                    "answer": next((found for answer in good if (found := _content(answer)) is not None), None),
                    "once": once,
                    # A worker's calls are made to be repeated: see docs/howto/remote-workers.md.
                    "repeat": once or method != "post" or path.startswith("/v1/workers"),
                },
            )


def _operation_type(one: Schema) -> str:
    members = [member for where in ("path", "query") if (member := _parameters(one["parameters"], where))]
    if one["body"] is not None:
        members.append(f"body{'' if one['needs_body'] else '?'}: {_type(one['body'], asked=True)}")
    answer = "null" if one["answer"] is None else _type(one["answer"], asked=False)
    asks = f"{{ {'; '.join(members)} }}" if members else "Record<never, never>"
    return f"  /** {one['summary']}. */\n  {json.dumps(one['name'])}: {{ asks: {asks}; answer: {answer} }};"


def _parameters(parameters: list[Schema], where: str) -> str | None:
    mine = [one for one in parameters if one["in"] == where]
    members = [f"{one['name']}{_mark(one)}: {_type(one['schema'], asked=True)}" for one in mine]
    optional = "" if any(one["required"] for one in mine) else "?"
    return f"{where}{optional}: {{ {'; '.join(members)} }}" if mine else None


def _mark(parameter: Schema) -> str:
    return "" if parameter["required"] else "?"


def _operation_value(one: Schema) -> str:
    answer = None if one["answer"] is None else _shape(one["answer"])
    kept = {"method": one["method"], "path": one["path"], "repeat": one["repeat"], "once": one["once"]}
    return f"  {json.dumps(one['name'])}: {_literal({**kept, 'answer': answer})},"


# -- types ----------------------------------------------------------------------------------------------------------


def _declared(name: str, schema: Schema, *, asked: bool) -> str:
    head = _comment(schema, "")
    if schema.get("type") != "object":
        return f"{head}export type {name} = {_type(schema, asked=asked)};\n"
    required = set(schema.get("required", ()))
    members = [
        f"{_comment(one, '  ')}  {_name(member)}{'' if member in required else '?'}: {_type(one, asked=asked)};\n"
        for member, one in schema.get("properties", {}).items()
    ]
    return f"{head}export interface {name} {{\n{''.join(members)}}}\n"


def _type(schema: Schema, *, asked: bool) -> str:
    """As TypeScript writes it; ``asked``: it is part of a request, not of an answer."""
    if strange := _NOT_READ & schema.keys():
        raise ValueError(f"this program does not read {sorted(strange)}: {schema}")
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(_REF)
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    if "anyOf" in schema:
        return " | ".join(_type(one, asked=asked) for one in schema["anyOf"])
    if schema.get("type") == "array":
        inner = _type(schema["items"], asked=asked)
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if schema.get("type") == "object":
        return _object(schema, asked=asked)
    if asked and schema.get("format") == "date-time":
        return "Moment"
    return _PLAIN[schema["type"]] if "type" in schema else "unknown"


def _object(schema: Schema, *, asked: bool) -> str:
    """An object without a name of its own: what its members hold."""
    if "properties" in schema:
        raise ValueError(f"an object inside another has no name: {schema}")
    values: Any = schema.get("additionalProperties") or next(iter(schema.get("patternProperties", {}).values()), {})
    return f"{{ [name: string]: {_type(values, asked=asked) if isinstance(values, dict) else 'unknown'} }}"


def _comment(schema: Schema, indent: str) -> str:
    words = " ".join(schema.get("description", "").replace("``", "`").replace("*/", "* /").split())
    return f"{indent}/** {words} */\n" if words else ""


def _name(member: str) -> str:
    return member if member.isidentifier() else json.dumps(member)


# -- shapes ---------------------------------------------------------------------------------------------------------


def _shape(schema: Schema) -> Schema:
    """The schema with nothing in it but what answers are checked for."""
    if "$ref" in schema:
        return {"ref": str(schema["$ref"]).removeprefix(_REF)}
    shape = {key: schema[key] for key in _CHECKED if key in schema}
    if "anyOf" in schema:
        shape["anyOf"] = [_shape(one) for one in schema["anyOf"]]
    if "items" in schema:
        shape["items"] = _shape(schema["items"])
    if "properties" in schema:
        shape["properties"] = {name: _shape(one) for name, one in schema["properties"].items()}
    if isinstance(schema.get("additionalProperties"), dict):
        shape["values"] = _shape(schema["additionalProperties"])
    return shape


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# -- the document ---------------------------------------------------------------------------------------------------


def _every(paths: Schema) -> Iterator[Schema]:
    for item in paths.values():
        yield from item.values()


def _content(answer: Schema | None) -> Schema | None:
    """The schema of its JSON, if there is one."""
    found: Schema | None = (answer or {}).get("content", {}).get(_JSON, {}).get("schema")
    return found


def _reachable(schemas: dict[str, Schema], roots: Iterable[Schema | None]) -> set[str]:
    """The names of all schemas that these speak of."""
    found: set[str] = set()
    waiting: list[Any] = list(roots)
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            waiting += part.values()
        if isinstance(part, dict) and isinstance(ref := part.get("$ref"), str):
            name = ref.removeprefix(_REF)
            if name not in found:
                found.add(name)
                waiting.append(schemas[name])
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
