"""Rule packages: how facts become a passport, as data. JSON Schema, and expressions.

    {"format": "leasehold-rules/1", "name": …, "version": …,
     "inputs": {"mass": {"at": "/general/mass", "type": "number", "unit": "kg", "required": true}},
     "fields": [{"pointer": "/mass", "tier": "public", "unit": "kg", "value": {"input": "mass"}}],
     "copies": [{"at": "/materials", "tier": "legitimate_interest"}],
     "checks": [{"id": "light", "test": {"<": [{"input": "mass"}, 900]}, "message": "…", "at": "/mass"}],
     "schema": {…}}

``package`` checks all of it before any fact is there: what it accepts can only fail over the facts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leasehold_packs.passports.attributes import Tier
from leasehold_packs.passports.canonical import canonical, digest
from leasehold_packs.passports.errors import Code, Finding, PassportError, invalid, too_large
from leasehold_packs.passports.expressions import Type, type_of
from leasehold_packs.passports.json_schema import Unusable, broken, validator
from leasehold_packs.passports.pointers import may_match, pointer_to, tokens

FORMAT = "leasehold-rules/1"
MAX_BYTES = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """What an expression may read: one fact, or all facts that a pattern finds."""

    name: str
    at: str
    type: Type
    unit: str | None
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A value of the passport that is calculated. A number with a unit becomes {"value": …, "unit": …}."""

    pointer: str
    tier: Tier
    value: Any
    unit: str | None
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """Facts at or under a pattern, which come into the passport where they are.

    The longest pattern decides, and the first of equally long ones.
    """

    at: tuple[str, ...]
    tier: Tier
    unit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    id: str
    test: Any
    message: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    name: str
    version: str
    hash: str
    inputs: tuple[Input, ...]
    fields: tuple[Field, ...]
    copies: tuple[Copy, ...]
    checks: tuple[Check, ...]
    schema: Any
    source: Any = field(compare=False, repr=False)
    _places: dict[str, tuple[Copy, ...]] = field(default_factory=dict, compare=False, repr=False)

    def copies_at(self, pointer: str) -> tuple[Copy, ...]:
        """Those that may copy what is there, the longest first; remembered: batteries have the same pointers."""
        found = self._places.get(pointer)
        if found is None:
            path = tokens(pointer)
            there = [copy for copy in self.copies if may_match(copy.at, path)]
            found = self._places[pointer] = tuple(sorted(there, key=lambda copy: -len(copy.at)))
        return found


def package(source: Any) -> Package:
    """The package, or VALIDATION_ERROR for its shape and RULE_TYPE_ERROR for its expressions."""
    if len(canonical(source)) > MAX_BYTES:
        raise too_large(f"a rule package has at most {MAX_BYTES} bytes")
    _check_shape(source)
    found = accepted_package(source)
    _check_types(found)
    try:
        validator(found.schema)
    except Unusable as problem:
        raise invalid(str(problem)) from None
    return found


def accepted_package(source: Any) -> Package:
    """The package from a source that was checked before."""
    inputs = tuple(_input(name, each) for name, each in sorted(source.get("inputs", {}).items()))
    return Package(
        name=source["name"],
        version=source["version"],
        hash=digest(source),
        inputs=inputs,
        fields=tuple(_field(each) for each in source.get("fields", [])),
        copies=tuple(_copy(each) for each in source.get("copies", [])),
        checks=tuple(_check(each) for each in source.get("checks", [])),
        schema=source.get("schema", True),
        source=source,
    )


def _check_shape(source: Any) -> None:
    findings = [Finding(at=pointer_to(path), message=message) for path, message in broken(_SHAPE, source)]
    if findings:
        raise invalid("this is no rule package", findings=findings)


def _input(name: str, each: Mapping[str, Any]) -> Input:
    return Input(
        name=name,
        at=_pointer(each["at"]),
        type=Type(each["type"]),
        unit=each.get("unit"),
        required=each.get("required", False),
    )


def _field(each: Mapping[str, Any]) -> Field:
    return Field(
        pointer=_pointer(each["pointer"]),
        tier=Tier(each["tier"]),
        value=each["value"],
        unit=each.get("unit"),
        required=each.get("required", False),
    )


def _copy(each: Mapping[str, Any]) -> Copy:
    return Copy(at=tokens(each["at"]), tier=Tier(each["tier"]), unit=each.get("unit"))


def _check(each: Mapping[str, Any]) -> Check:
    return Check(id=each["id"], test=each["test"], message=each["message"], at=each.get("at", ""))


def _pointer(text: str) -> str:
    tokens(text)
    return text


def _check_types(found: Package) -> None:
    types = {each.name: each.type for each in found.inputs}
    findings: list[Finding] = []
    for each in found.fields:
        findings += _type_findings(each.pointer, each.value, Type.NUMBER if each.unit else None, types)
    for check in found.checks:
        findings += _type_findings(check.id, check.test, Type.BOOLEAN, types)
    if findings:
        raise PassportError(
            Code.RULE_TYPE_ERROR, f"{len(findings)} expressions have the wrong types", findings=findings
        )


def _type_findings(at: str, expression: Any, wanted: Type | None, types: Mapping[str, Type]) -> Iterator[Finding]:
    try:
        found = type_of(expression, types)
    except PassportError as error:
        yield Finding(at=at, message=str(error), code=Code.RULE_TYPE_ERROR)
        return
    if wanted and found != wanted:
        yield Finding(at=at, message=f"is a {found}, not a {wanted}", code=Code.RULE_TYPE_ERROR)


def _objects(needed: Sequence[str], /, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(needed),
        "properties": properties,
        "additionalProperties": False,
    }


_NAME = {"type": "string", "minLength": 1, "maxLength": 200}
_TEXT = {"type": "string", "maxLength": 2_000}
_UNIT = {"type": "string", "minLength": 1, "maxLength": 40}
_TIER = {"enum": [str(tier) for tier in Tier]}
_SHAPE = _objects(
    ["format", "name", "version"],
    format={"const": FORMAT},
    name=_NAME,
    version=_NAME,
    inputs={
        "type": "object",
        "propertyNames": _NAME,
        "additionalProperties": _objects(
            ["at", "type"],
            at=_TEXT,
            type={"enum": [str(each) for each in Type]},
            unit=_UNIT,
            required={"type": "boolean"},
        ),
    },
    fields={
        "type": "array",
        "items": _objects(
            ["pointer", "tier", "value"],
            pointer={**_TEXT, "pattern": "^/"},
            tier=_TIER,
            value=True,
            unit=_UNIT,
            required={"type": "boolean"},
        ),
    },
    copies={"type": "array", "items": _objects(["at", "tier"], at=_TEXT, tier=_TIER, unit=_UNIT)},
    checks={
        "type": "array",
        "items": _objects(["id", "test", "message"], id=_NAME, test=True, message=_TEXT, at=_TEXT),
    },
    schema={"type": ["object", "boolean"]},
)
