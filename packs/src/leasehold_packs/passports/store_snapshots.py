"""Snapshots of facts, and rule packages, in the pack's own tables."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from leasehold import Transaction
from leasehold.errors import Conflict
from leasehold_packs.passports.canonical import canonical
from leasehold_packs.passports.errors import Code, Finding, PassportError
from leasehold_packs.passports.facts import Fact, Snapshot, Source, leaf_of
from leasehold_packs.passports.model import RulePackage, RulePackageSource, SnapshotSummary
from leasehold_packs.passports.rules import Package, accepted_package
from leasehold_packs.passports.store import get_passport, require_row
from leasehold_packs.passports.store_facts import FactRow, row_of
from leasehold_packs.rows.values import json_of, value_of

_SNAPSHOT = "snapshot_id, passport_id, base_id, state, hash, author, created_at, sealed_at"
_PACKAGE = "package_id, name, version, state, hash, author, created_at, published_at"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sealed:
    """The snapshot of a battery that is sealed as it is made."""

    passport_id: UUID
    snapshot_id: UUID
    hash: str
    facts: list[FactRow]


# -- snapshots ------------------------------------------------------------------------------------


async def open_snapshot(tx: Transaction, passport_id: UUID, author: str) -> UUID:
    """The current facts, not sealed yet. Facts of the model are part of it, one by one."""
    await get_passport(tx, passport_id)
    made: UUID = await tx.fetchval(
        "select leasehold_passports.open_snapshot($1, $2, $3)", tx.tenant_id, passport_id, author
    )
    return made


async def seal_snapshot(tx: Transaction, snapshot_id: UUID) -> str:
    """The hash of its facts, which do not change any more. SNAPSHOT_NOT_READY while facts are in error."""
    query = f"select {_SNAPSHOT} from leasehold_passports.snapshot where snapshot_id = $1 for update"
    snapshot = value_of(SnapshotSummary, await require_row(tx, "snapshot", query, snapshot_id))
    if snapshot.hash is not None:
        return snapshot.hash
    wrong = await tx.fetch("select * from leasehold_passports.list_wrong_facts($1)", snapshot_id)
    if wrong:
        findings = [Finding(at=each["at"], message=each["message"]) for each in wrong]
        raise not_ready(f"{len(wrong)} facts are in error, the first: {findings[0].at}", findings)
    facts = await snapshot_facts(tx, snapshot_id)
    if not facts:
        raise not_ready("there are no facts", [])
    sealed = Snapshot(facts).hash
    await tx.execute(
        "update leasehold_passports.snapshot set state = 'sealed', hash = $2, sealed_at = now() where snapshot_id = $1",
        snapshot_id, sealed,
    )  # fmt: skip
    return sealed


async def seal_batteries(
    tx: Transaction, base_id: UUID, items: Sequence[tuple[UUID, Sequence[Fact]]], author: str
) -> list[UUID]:
    """A sealed snapshot for each battery: the facts of its model, and its own. Fewer statements than facts."""
    base = {fact.pointer: fact for fact in await snapshot_facts(tx, base_id)}
    sealed = [
        _Sealed(
            passport_id=passport,
            snapshot_id=uuid4(),
            hash=Snapshot({**base, **{fact.pointer: fact for fact in facts}}.values()).hash,
            facts=[row_of(fact.as_json()) for fact in facts],
        )
        for passport, facts in items
    ]
    await tx.execute(
        "select leasehold_passports.seal_batteries($1, $2, $3, $4)",
        tx.tenant_id, base_id, author, json_of(sealed, list[_Sealed]),
    )  # fmt: skip
    return [each.snapshot_id for each in sealed]


async def get_snapshot(tx: Transaction, snapshot_id: UUID) -> SnapshotSummary:
    query = f"select {_SNAPSHOT} from leasehold_passports.snapshot where snapshot_id = $1"
    return value_of(SnapshotSummary, await require_row(tx, "snapshot", query, snapshot_id))


async def list_snapshots(tx: Transaction, passport_id: UUID) -> list[SnapshotSummary]:
    rows = await tx.fetch(
        f"select {_SNAPSHOT} from leasehold_passports.snapshot where passport_id = $1"
        " order by created_at desc, snapshot_id limit 100",
        passport_id,
    )
    return [value_of(SnapshotSummary, row) for row in rows]


async def two_snapshots(tx: Transaction, before: UUID, after: UUID) -> tuple[list[Fact], list[Fact]]:
    """The facts of both; of any two of the tenant, so that two batteries can be compared as well."""
    for snapshot_id in (before, after):
        await get_snapshot(tx, snapshot_id)
    facts = await facts_of(tx, [before, after])
    return facts[before], facts[after]


async def snapshot_facts(tx: Transaction, snapshot_id: UUID) -> list[Fact]:
    return (await facts_of(tx, [snapshot_id]))[snapshot_id]


async def facts_of(tx: Transaction, snapshots: Sequence[UUID]) -> dict[UUID, list[Fact]]:
    """The facts of each: its own, and those of its base at other pointers. A base that many share is read once.

    Facts in error, which only an open snapshot has, are not among them.
    """
    query = "select snapshot_id, base_id from leasehold_passports.snapshot where snapshot_id = any($1::uuid[])"
    bases = {row["snapshot_id"]: row["base_id"] for row in await tx.fetch(query, list(snapshots))}
    rows = await tx.fetch(
        "select * from leasehold_passports.list_snapshot_facts($1)",
        list({*bases, *(base for base in bases.values() if base)}),
    )
    own: dict[UUID, dict[str, Fact]] = {}
    for row in rows:
        source = Source(document=row["document"], ref=row["ref"])
        value = leaf_of(row["type"], row["text"])
        fact = Fact(pointer=row["pointer"], value=value, unit=row["unit"], source=source)
        own.setdefault(row["snapshot_id"], {})[fact.pointer] = fact
    return {
        snapshot: list({**(own.get(base, {}) if base else {}), **own.get(snapshot, {})}.values())
        for snapshot, base in bases.items()
    }


def not_ready(message: str, findings: Sequence[Finding]) -> PassportError:
    hint = "correct or dismiss them, then open a new snapshot" if findings else None
    return PassportError(Code.SNAPSHOT_NOT_READY, message, hint=hint, findings=findings)


# -- rule packages --------------------------------------------------------------------------------


async def add_package(tx: Transaction, checked: Package, author: str) -> RulePackage:
    """A draft."""
    package_id = await tx.fetchval(
        "select leasehold_passports.add_package($1, $2, $3, $4, $5, $6)",
        tx.tenant_id, checked.name, checked.version, checked.hash, canonical(checked.source).decode(), author,
    )  # fmt: skip
    if package_id is None:
        raise Conflict(f"{checked.name} {checked.version} is published", hint="give it a new version")
    return await _summary(tx, package_id)


async def set_package_state(tx: Transaction, package_id: UUID, state: str) -> RulePackage:
    await tx.execute("select leasehold_passports.set_package_state($1, $2)", package_id, state)
    return await _summary(tx, package_id)


async def _summary(tx: Transaction, package_id: UUID) -> RulePackage:
    query = f"select {_PACKAGE} from leasehold_passports.rule_package where package_id = $1"
    return value_of(RulePackage, await require_row(tx, "rule package", query, package_id))


async def list_packages(tx: Transaction) -> list[RulePackage]:
    rows = await tx.fetch(f"select {_PACKAGE} from leasehold_passports.rule_package order by name, version limit 1000")
    return [value_of(RulePackage, row) for row in rows]


async def get_package(tx: Transaction, package_id: UUID) -> RulePackageSource:
    query = f"select {_PACKAGE}, source from leasehold_passports.rule_package where package_id = $1"
    return value_of(RulePackageSource, await require_row(tx, "rule package", query, package_id), "source")


async def get_rules(tx: Transaction, package_id: UUID) -> Package:
    """A rule package that was checked before, whatever its state is now."""
    query = "select source from leasehold_passports.rule_package where package_id = $1"
    row = await require_row(tx, "rule package", query, package_id)
    return accepted_package(json.loads(row["source"]))


async def published_package(tx: Transaction, package_id: UUID) -> Package:
    package = await get_package(tx, package_id)
    if package.state != "published":
        raise PassportError(
            Code.RULE_PKG_NOT_PUBLISHED,
            f"rule package {package.name} {package.version} is {package.state}",
            hint="publish it",
        )
    return accepted_package(package.source)
