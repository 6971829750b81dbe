"""A snapshot and a rule package become a passport: the same bytes for the same input, on every machine.

The receipt ties them together and is what gets signed. Hashes of what is not public are salted commitments: the plain
hash of a payload would let anybody try out the values that the public does not see.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from typing import Any
from uuid import UUID

from leasehold_packs.passports import merkle
from leasehold_packs.passports.attributes import Tier
from leasehold_packs.passports.canonical import canonical, digest
from leasehold_packs.passports.errors import Finding, PassportError, invalid, too_large
from leasehold_packs.passports.expressions import Type, Value, inputs_of, value_of
from leasehold_packs.passports.facts import Fact, Snapshot
from leasehold_packs.passports.pointers import leaves, matches, matching, nested, order, tokens
from leasehold_packs.passports.proof import timestamp
from leasehold_packs.passports.quantities import Number, convert, decimal_text, number
from leasehold_packs.passports.rules import Input, Package
from leasehold_packs.passports.schema_sandbox import schema_findings

#: Changes whenever the same input would give other bytes.
COMPILER = "leasehold-passports/1"
RECEIPT = "leasehold-passport-receipt/1"
MAX_PAYLOAD = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """What a passport version is, apart from its content. All of it is known before compiling, and kept with the job.

    ``previous`` is the hash of the receipt of the version before.
    """

    version: UUID
    issued_at: datetime
    issuer: str
    key_id: str
    salt_key: bytes = field(repr=False)
    previous: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    payload: bytes
    receipt: bytes
    fields: tuple["CompiledField", ...]
    payload_salt: bytes = field(repr=False)

    @property
    def receipt_hash(self) -> str:
        return sha256(self.receipt).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledField:
    """One leaf of the payload: who may see it, its place in the tree of its tier, and where it came from."""

    pointer: str
    tier: Tier
    value: Any
    salt: bytes = field(repr=False)
    leaf: bytes
    derivation: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A value on its way into the payload."""

    pointer: str
    tier: Tier
    value: Any
    derivation: dict[str, Any]


def compiled(snapshot: Snapshot, package: Package, issue: Issue) -> Compiled:
    """The passport, or VALIDATION_ERROR with every finding at once. Blocks where the rules have a schema."""
    made, findings = _made(snapshot, package)
    _refuse(findings)
    payload = nested({each.pointer: each.value for each in made})
    _refuse(schema_findings(package.schema, payload))
    raw = canonical(payload)
    if len(raw) > MAX_PAYLOAD:
        raise too_large(f"the passport has {len(raw)} bytes, and {MAX_PAYLOAD} are allowed")
    fields = tuple(_fields(made, issue))
    payload_salt = _salt(issue, "payload")
    receipt = _receipt(issue, fields, package, payload_salt, payload=raw, snapshot=snapshot)
    return Compiled(payload=raw, receipt=canonical(receipt), fields=fields, payload_salt=payload_salt)


def _refuse(findings: list[Finding]) -> None:
    if findings:
        raise invalid(f"{len(findings)} findings, the first: {findings[0].at} {findings[0].message}", findings=findings)


# -- facts to values ------------------------------------------------------------------------------------------------


def _made(snapshot: Snapshot, package: Package) -> tuple[list[_Made], list[Finding]]:
    findings: list[Finding] = []
    values: dict[str, Value] = {}
    facts: dict[str, list[Fact]] = {}
    for each in package.inputs:
        facts[each.name] = _facts_of(each, snapshot)
        values[each.name] = _noted(findings, each.at, _read, each, facts[each.name])
    made = list(_copied(snapshot, package, findings))
    if not findings:
        made += _calculated(package, values, facts, findings)
        findings += _failed_checks(package, values)
    findings += _clashes(made)
    if not made and not findings:
        findings.append(Finding(at="", message="no rule found a fact: the passport would be empty"))
    return made, findings


def _noted(findings: list[Finding], at: str, act: Any, *arguments: Any) -> Any:
    """What ``act`` returns, or None after noting what was wrong."""
    try:
        return act(*arguments)
    except PassportError as error:
        findings.append(Finding(at=at, message=str(error)))
        return None


def _facts_of(each: Input, snapshot: Snapshot) -> list[Fact]:
    length = len(tokens(each.at))
    return [
        snapshot[pointer]
        for pointer in matching(each.at, snapshot.values_only)
        if len(tokens(pointer)) == length and snapshot[pointer].value is not None
    ]


def _read(each: Input, facts: list[Fact]) -> Value:
    if each.required and not facts:
        raise invalid(f"the input {each.name} has no fact")
    if each.type in (Type.NUMBERS, Type.TEXTS):
        single = Type.NUMBER if each.type == Type.NUMBERS else Type.TEXT
        return tuple(_typed(fact, single, each.unit) for fact in facts)
    if len(facts) > 1:
        raise invalid(f"the input {each.name} has {len(facts)} facts, and takes one")
    return _typed(facts[0], each.type, each.unit) if facts else None


def _typed(fact: Fact, wanted: Type, unit: str | None) -> Value:
    """Cells of a sheet are text: a number or a boolean is read from them where one is wanted."""
    value = fact.value
    if wanted == Type.NUMBER and (isinstance(value, str) or _is_number(value)):
        return Decimal(_number(fact, unit))
    if wanted == Type.TEXT and isinstance(value, str):
        return value
    if wanted == Type.BOOLEAN and isinstance(value, bool):
        return value
    if wanted == Type.BOOLEAN and value in ("true", "false"):
        return value == "true"
    raise invalid(f"{_place(fact)} is no {wanted}")


def _number(fact: Fact, unit: str | None) -> Number:
    """A fact without a unit is in that of the rule; one with a unit needs a rule that names one."""
    try:
        value = number(fact.value) if isinstance(fact.value, str) else fact.value
        return convert(value, unit=fact.unit, to=unit or "a number without a unit") if fact.unit else value
    except PassportError as error:
        raise invalid(f"{_place(fact)}: {error}", hint=error.hint) from None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _place(fact: Fact) -> str:
    return f"{fact.pointer} (from {fact.source.ref or 'the whole'} of {fact.source.document[:12]})"


def _copied(snapshot: Snapshot, package: Package, findings: list[Finding]) -> Iterator[_Made]:
    for pointer, fact in snapshot.items():
        copies = package.copies_at(pointer)
        copy = next((copy for copy in copies if matches(copy.at, pointer, snapshot.values_only)), None)
        if copy:
            value = _noted(findings, pointer, _copy_value, fact, copy.unit)
            yield _Made(pointer=pointer, tier=copy.tier, value=value, derivation=_derivation("copy", [fact]))


def _copy_value(fact: Fact, unit: str | None) -> Any:
    """A unit belongs to a number; texts that stand among numbers, such as a name beside a share, stay as they are."""
    unit = unit or fact.unit
    if unit and (_is_number(fact.value) or fact.unit):
        return _written(Decimal(_number(fact, unit)), unit)
    return _written(fact.value, None)


def _calculated(
    package: Package, values: Mapping[str, Value], facts: Mapping[str, list[Fact]], findings: list[Finding]
) -> Iterator[_Made]:
    for each in package.fields:
        value = _noted(findings, each.pointer, value_of, each.value, values)
        if value is None or value == ():
            if each.required:
                findings.append(Finding(at=each.pointer, message="is required, and the facts do not give it"))
            continue
        read = [fact for name in sorted(inputs_of(each.value)) for fact in facts[name]]
        yield _Made(
            pointer=each.pointer,
            tier=each.tier,
            value=_written(value, each.unit),
            derivation=_derivation({"expression": each.value}, read),
        )


def _written(value: Value, unit: str | None) -> Any:
    """Numbers are text, whatever their size: so nobody rounds them, and the type of a field never changes."""
    if isinstance(value, tuple):
        return [_written(each, unit) for each in value]
    if _is_number(value):
        return {"value": decimal_text(value), "unit": unit} if unit else decimal_text(value)
    return value


def _derivation(rule: Any, facts: Iterable[Fact]) -> dict[str, Any]:
    return {"rule": rule, "facts": [{"pointer": fact.pointer, **fact.source.as_json()} for fact in facts]}


def _failed_checks(package: Package, values: Mapping[str, Value]) -> list[Finding]:
    """A check over what is absent says nothing: whether a fact must be there is for inputs and fields to say."""
    findings: list[Finding] = []
    for check in package.checks:
        if _noted(findings, check.at, value_of, check.test, values) is False:
            findings.append(Finding(at=check.at, message=f"{check.message} ({check.id})"))
    return findings


def _clashes(made: list[_Made]) -> list[Finding]:
    seen: set[str] = set()
    findings = []
    for each in made:
        if each.pointer in seen:
            findings.append(Finding(at=each.pointer, message="is made by two rules"))
        seen.add(each.pointer)
    return findings


# -- values to receipt ----------------------------------------------------------------------------------------------


def _fields(made: list[_Made], issue: Issue) -> Iterator[CompiledField]:
    flat = [
        (pointer, each.tier, value, each.derivation)
        for each in made
        for pointer, value in leaves(each.value, each.pointer)
    ]
    for pointer, tier, value, derivation in sorted(flat, key=lambda row: order(row[0])):
        salted = _salt(issue, pointer)
        yield CompiledField(
            pointer=pointer,
            tier=tier,
            value=value,
            salt=salted,
            leaf=merkle.field_leaf(salted, pointer, tier, value),
            derivation=derivation,
        )


def _salt(issue: Issue, name: str) -> bytes:
    """Pointers begin with a slash, so that payload, snapshot and derivation are names of their own."""
    return merkle.salt(issue.salt_key, issue.version, name)


def _receipt(
    issue: Issue,
    fields: tuple[CompiledField, ...],
    package: Package,
    payload_salt: bytes,
    *,
    payload: bytes,
    snapshot: Snapshot,
) -> dict[str, Any]:
    tiers = {tier: _tier_root([each for each in fields if each.tier == tier]) for tier in Tier}
    derivation = digest([[each.pointer, each.derivation] for each in fields])
    return {
        "format": RECEIPT,
        "compiler": COMPILER,
        "version": str(issue.version),
        "issued_at": timestamp(issue.issued_at),
        "issuer": issue.issuer,
        "key_id": issue.key_id,
        "previous": issue.previous,
        "rules_hash": package.hash,
        "snapshot_hash": merkle.commitment(_salt(issue, "snapshot"), snapshot.hash),
        "derivation_hash": merkle.commitment(_salt(issue, "derivation"), derivation),
        "payload_hash": merkle.commitment(payload_salt, sha256(payload).hexdigest()),
        "payload_root": merkle.join(tiers).hex(),
        "tiers": {tier: {"fields": size, "root": top.hex()} for tier, (size, top) in tiers.items()},
    }


def _tier_root(fields: list[CompiledField]) -> tuple[int, bytes]:
    return len(fields), merkle.root([each.leaf for each in fields])
