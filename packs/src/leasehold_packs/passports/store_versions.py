"""Snapshots, rule packages and versions of passports, in the pack's own tables."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from secrets import token_bytes
from typing import Any
from uuid import UUID, uuid4

from leasehold import Transaction
from leasehold.errors import Conflict
from leasehold_packs.passports.attributes import Reader, Tier
from leasehold_packs.passports.bundle import Bundle, Signed, disclosed
from leasehold_packs.passports.canonical import canonical
from leasehold_packs.passports.compile import Compiled, Issue
from leasehold_packs.passports.errors import Code, Finding, PassportError
from leasehold_packs.passports.facts import Fact, Snapshot
from leasehold_packs.passports.merkle import salt
from leasehold_packs.passports.rules import Package, accepted_package
from leasehold_packs.passports.store import TENANT, fact_of, one, whole_second
from leasehold_packs.passports.store_facts import current_facts, get_passport
from leasehold_packs.passports.store_keys import usable_key
from leasehold_packs.passports.store_log import entry_of

_VERSION = (
    "version_id, passport_id, number, snapshot_id, package_id, key_id, issued_at, previous, activate, state, problem,"
    " receipt_hash, link, author, created_at, changed_at"
)
_SNAPSHOT = "snapshot_id, passport_id, base_id, state, hash, author, created_at, sealed_at"
_PACKAGE = "package_id, name, version, state, hash, author, created_at, published_at"
#: What is kept of the findings of a version that failed.
_MAX_FINDINGS = 100


# -- snapshots ------------------------------------------------------------------------------------------------------


async def open_snapshot(tx: Transaction, passport_id: UUID, author: str) -> UUID:
    """The current facts, not sealed yet. Facts of the model are part of it, one by one."""
    await get_passport(tx, passport_id)
    snapshot_id = uuid4()
    await tx.execute(
        "insert into leasehold_passports.snapshot (tenant_id, snapshot_id, passport_id, author)"
        f" values ({TENANT}, $1, $2, $3)",
        snapshot_id, passport_id, author,
    )  # fmt: skip
    await tx.execute(
        "insert into leasehold_passports.snapshot_fact (tenant_id, snapshot_id, fact_id)"
        f" select {TENANT}, $1, fact from unnest($2::bigint[]) fact",
        snapshot_id, [row["fact_id"] for row in await current_facts(tx, passport_id)],
    )  # fmt: skip
    return snapshot_id


async def seal_snapshot(tx: Transaction, snapshot_id: UUID) -> str:
    """The hash of its facts, which do not change any more. SNAPSHOT_NOT_READY while facts are in error."""
    row = await one(
        tx, "snapshot", f"select {_SNAPSHOT} from leasehold_passports.snapshot where snapshot_id = $1 for update",
        snapshot_id,
    )  # fmt: skip
    if row["state"] == "sealed":
        return str(row["hash"])
    wrong = await tx.fetch(
        "select f.pointer, f.ref, coalesce(f.message, 'its document is not valid any more') as message"
        " from leasehold_passports.snapshot_fact s join leasehold_passports.fact f using (tenant_id, fact_id)"
        " left join leasehold_passports.document_version v using (tenant_id, document_version_id)"
        " where s.snapshot_id = $1 and (f.message is not null or v.valid_until <= now())"
        " order by f.fact_id limit 100",
        snapshot_id,
    )
    if wrong:
        findings = [Finding(at=each["pointer"] or each["ref"], message=each["message"]) for each in wrong]
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


async def seal_items(
    tx: Transaction, base_id: UUID, items: Sequence[tuple[UUID, Sequence[Fact]]], author: str
) -> list[UUID]:
    """A sealed snapshot for each battery: the facts of its model, and its own. Fewer statements than facts."""
    base = {fact.pointer: fact for fact in await snapshot_facts(tx, base_id)}
    rows = [(passport, fact.as_json()) for passport, facts in items for fact in facts]
    made = await tx.fetch(
        "insert into leasehold_passports.fact"
        " (tenant_id, passport_id, pointer, type, text, unit, document, ref, state, author)"
        f" select {TENANT}, passport, pointer, type, text, unit, document, ref, 'ok', $1"
        " from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])"
        "   g(passport, pointer, type, text, unit, document, ref) returning fact_id, passport_id",
        author, [passport for passport, _ in rows], *(_columns([row for _, row in rows])),
    )  # fmt: skip
    snapshots = {passport: uuid4() for passport, _ in items}
    await tx.execute(
        "insert into leasehold_passports.snapshot (tenant_id, snapshot_id, passport_id, base_id, author)"
        f" select {TENANT}, snapshot, passport, $1, $2 from unnest($3::uuid[], $4::uuid[]) g(snapshot, passport)",
        base_id, author, list(snapshots.values()), list(snapshots),
    )  # fmt: skip
    await tx.execute(
        "insert into leasehold_passports.snapshot_fact (tenant_id, snapshot_id, fact_id)"
        f" select {TENANT}, snapshot, fact from unnest($1::uuid[], $2::bigint[]) g(snapshot, fact)",
        [snapshots[row["passport_id"]] for row in made], [row["fact_id"] for row in made],
    )  # fmt: skip
    hashes = [Snapshot({**base, **{fact.pointer: fact for fact in facts}}.values()).hash for _, facts in items]
    await tx.execute(
        "update leasehold_passports.snapshot s set state = 'sealed', hash = g.hash, sealed_at = now()"
        " from unnest($1::uuid[], $2::text[]) g(snapshot, hash) where s.snapshot_id = g.snapshot",
        list(snapshots.values()), hashes,
    )  # fmt: skip
    return list(snapshots.values())


def _columns(rows: Sequence[dict[str, Any]]) -> list[list[Any]]:
    plain = [[row[name] for row in rows] for name in ("pointer", "type", "text", "unit")]
    return [*plain, [row["source"]["document"] for row in rows], [row["source"]["ref"] for row in rows]]


async def get_snapshot(tx: Transaction, snapshot_id: UUID) -> Any:
    query = f"select {_SNAPSHOT} from leasehold_passports.snapshot where snapshot_id = $1"
    return await one(tx, "snapshot", query, snapshot_id)


async def list_snapshots(tx: Transaction, passport_id: UUID) -> list[Any]:
    return await tx.fetch(
        f"select {_SNAPSHOT} from leasehold_passports.snapshot where passport_id = $1"
        " order by created_at desc, snapshot_id limit 100",
        passport_id,
    )


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
    bases = {
        row["snapshot_id"]: row["base_id"]
        for row in await tx.fetch(
            "select snapshot_id, base_id from leasehold_passports.snapshot where snapshot_id = any($1::uuid[])",
            list(snapshots),
        )
    }
    rows = await tx.fetch(
        "select s.snapshot_id, f.pointer, f.type, f.text, f.unit, f.document, f.ref"
        " from leasehold_passports.snapshot_fact s join leasehold_passports.fact f using (tenant_id, fact_id)"
        " where s.snapshot_id = any($1::uuid[]) and f.message is null",
        list({*bases, *(base for base in bases.values() if base)}),
    )
    own: dict[UUID, dict[str, Fact]] = {}
    for row in rows:
        own.setdefault(row["snapshot_id"], {})[row["pointer"]] = fact_of(row)
    return {
        snapshot: list({**(own.get(base, {}) if base else {}), **own.get(snapshot, {})}.values())
        for snapshot, base in bases.items()
    }


# -- rule packages --------------------------------------------------------------------------------------------------


async def add_package(tx: Transaction, checked: Package, author: str) -> Any:
    """A draft."""
    made = await tx.fetchrow(
        "insert into leasehold_passports.rule_package as p (tenant_id, name, version, hash, source, author)"
        f" values ({TENANT}, $1, $2, $3, $4, $5)"
        " on conflict (tenant_id, name, version) do update set hash = excluded.hash, source = excluded.source"
        f" where p.state = 'draft' returning {_PACKAGE}",
        checked.name, checked.version, checked.hash, canonical(checked.source).decode(), author,
    )  # fmt: skip
    if made is None:
        raise Conflict(f"{checked.name} {checked.version} is published", hint="give it a new version")
    return made


async def set_package_state(tx: Transaction, package_id: UUID, state: str) -> Any:
    query = (
        "update leasehold_passports.rule_package"
        " set state = $2, published_at = case when state = 'draft' then now() else published_at end"
        f" where package_id = $1 returning {_PACKAGE}"
    )
    return await one(tx, "rule package", query, package_id, state)


async def list_packages(tx: Transaction) -> list[Any]:
    return await tx.fetch(f"select {_PACKAGE} from leasehold_passports.rule_package order by name, version limit 1000")


async def get_package(tx: Transaction, package_id: UUID) -> Any:
    query = f"select {_PACKAGE}, source from leasehold_passports.rule_package where package_id = $1"
    return await one(tx, "rule package", query, package_id)


async def published_package(tx: Transaction, package_id: UUID) -> Package:
    row = await get_package(tx, package_id)
    if row["state"] != "published":
        raise PassportError(
            Code.RULE_PKG_NOT_PUBLISHED,
            f"rule package {row['name']} {row['version']} is {row['state']}",
            hint="publish it",
        )
    return accepted_package(json.loads(row["source"]))


# -- versions -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What versions are made of. ``issued_at`` is fixed here, so that a retry makes the same bytes."""

    package_id: UUID
    issued_at: datetime
    activate: bool
    author: str


async def request_version(tx: Transaction, passport_id: UUID, snapshot_id: UUID, order: Order) -> UUID:
    """A version that can be compiled: its snapshot is sealed, its rules published, and there is a key."""
    await get_passport(tx, passport_id)
    snapshot = await get_snapshot(tx, snapshot_id)
    if snapshot["state"] != "sealed" or snapshot["passport_id"] != passport_id:
        raise not_ready("the snapshot is not sealed, or another passport's", [])
    await published_package(tx, order.package_id)
    key = await usable_key(tx, order.issued_at)
    made = await request_versions(tx, [(passport_id, snapshot_id)], order, key["key_id"])
    if not made:
        raise Conflict("a version of this passport is under way", hint="wait for it to be signed")
    return made[0]


async def request_versions(
    tx: Transaction, batteries: Sequence[tuple[UUID, UUID]], order: Order, key_id: str
) -> list[UUID]:
    """For many batteries and their sealed snapshots at once; those that have one under way are left out."""
    rows = await tx.fetch(
        "insert into leasehold_passports.version"
        " (tenant_id, passport_id, number, snapshot_id, package_id, key_id, issued_at, salt_key, previous, activate,"
        "  author)"
        f" select {TENANT}, g.passport, coalesce(l.number, 0) + 1, g.snapshot, $3, $4, $5, g.salt,"
        "   (select v.receipt_hash from leasehold_passports.version v where v.passport_id = g.passport"
        "     and v.state not in ('requested', 'compiled', 'failed') order by v.number desc limit 1), $6, $7"
        " from unnest($1::uuid[], $2::uuid[], $8::bytea[]) g(passport, snapshot, salt)"
        " left join lateral (select max(number) as number from leasehold_passports.version v"
        "   where v.passport_id = g.passport) l on true"
        " on conflict do nothing returning version_id",
        [passport for passport, _ in batteries], [snapshot for _, snapshot in batteries], order.package_id, key_id,
        whole_second(order.issued_at), order.activate, order.author, [token_bytes(32) for _ in batteries],
    )  # fmt: skip
    return [row["version_id"] for row in rows]


async def get_version(tx: Transaction, version_id: UUID) -> Any:
    query = f"select {_VERSION} from leasehold_passports.version where version_id = $1"
    return await one(tx, "version", query, version_id)


async def list_versions(tx: Transaction, passport_id: UUID) -> list[Any]:
    return await tx.fetch(
        f"select {_VERSION} from leasehold_passports.version where passport_id = $1 order by number desc limit 100",
        passport_id,
    )


async def version_events(tx: Transaction, version_id: UUID) -> list[Any]:
    return await tx.fetch(
        "select event_id, type, at from leasehold_passports.event where version_id = $1 order by at, event_id"
        " limit 100",
        version_id,
    )


async def lock_versions(tx: Transaction, versions: Sequence[UUID], state: str) -> list[Any]:
    """Those of them that are in this state, with all that the next step needs; nobody else moves them meanwhile."""
    return await tx.fetch(
        f"select {_VERSION}, salt_key, receipt, proof from leasehold_passports.version"
        " where version_id = any($1::uuid[]) and state = $2 order by version_id for update",
        list(versions), state,
    )  # fmt: skip


async def put_compiled(tx: Transaction, made: Mapping[UUID, Compiled]) -> None:
    await tx.execute(
        "update leasehold_passports.version v set state = 'compiled', receipt = g.receipt, receipt_hash = g.hash"
        " from unnest($1::uuid[], $2::bytea[], $3::text[]) g(version, receipt, hash) where v.version_id = g.version",
        list(made), [each.receipt for each in made.values()], [each.receipt_hash for each in made.values()],
    )  # fmt: skip
    tiers = [(version, tier, _fields(each, tier)) for version, each in made.items() for tier in Tier]
    await tx.execute(
        "insert into leasehold_passports.tier (tenant_id, version_id, tier, fields)"
        f" select {TENANT}, version, tier, fields::jsonb"
        " from unnest($1::uuid[], $2::text[], $3::text[]) g(version, tier, fields)",
        [version for version, _, _ in tiers], [tier for _, tier, _ in tiers], [fields for _, _, fields in tiers],
    )  # fmt: skip


def _fields(made: Compiled, tier: Tier) -> str:
    fields = [[each.pointer, each.value, each.salt.hex(), each.leaf.hex()] for each in made.fields if each.tier == tier]
    return json.dumps(fields)


async def put_proofs(tx: Transaction, proofs: Mapping[UUID, dict[str, Any]]) -> None:
    """Signed, and in the log: a trigger writes the leaves."""
    await tx.execute(
        "update leasehold_passports.version v set state = 'signed', proof = g.proof"
        " from unnest($1::uuid[], $2::text[]) g(version, proof) where v.version_id = g.version",
        list(proofs), [canonical(proof).decode() for proof in proofs.values()],
    )  # fmt: skip


async def put_links(tx: Transaction, links: Mapping[UUID, str]) -> None:
    await tx.execute(
        "update leasehold_passports.version v set link = g.link"
        " from unnest($1::uuid[], $2::text[]) g(version, link) where v.version_id = g.version",
        list(links), list(links.values()),
    )  # fmt: skip


async def activate_versions(tx: Transaction, versions: Sequence[Any]) -> dict[UUID, UUID]:
    """They take the place of the active ones, whose ids this gives by passport."""
    before = await tx.fetch(
        "update leasehold_passports.version set state = 'superseded'"
        " where passport_id = any($1::uuid[]) and state = 'active' returning passport_id, version_id",
        [version["passport_id"] for version in versions],
    )
    await tx.execute(
        "update leasehold_passports.version set state = 'active' where version_id = any($1::uuid[])",
        [version["version_id"] for version in versions],
    )
    return {row["passport_id"]: row["version_id"] for row in before}


async def revoke_version(tx: Transaction, version_id: UUID, reason: str) -> None:
    await tx.execute(
        "update leasehold_passports.version set state = 'revoked', problem = $2 where version_id = $1",
        version_id, json.dumps({"reason": reason}),
    )  # fmt: skip


async def fail_version(tx: Transaction, version_id: UUID, problem: PassportError) -> None:
    await tx.execute(
        "update leasehold_passports.version set state = 'failed', problem = $2 where version_id = $1",
        version_id, problem_json(problem),
    )  # fmt: skip


def problem_json(problem: PassportError) -> str:
    findings = [
        {"at": each.at, "message": each.message, "code": each.code} for each in problem.findings[:_MAX_FINDINGS]
    ]
    return json.dumps({"code": problem.code, "message": str(problem)[:2000], "findings": findings})


async def fields_of(tx: Transaction, version_id: UUID) -> dict[str, list[list[Any]]]:
    """All tiers: for the owner."""
    rows = await tx.fetch("select tier, fields from leasehold_passports.tier where version_id = $1", version_id)
    return {row["tier"]: json.loads(row["fields"]) for row in rows}


async def signed_version(tx: Transaction, version_id: UUID) -> Any:
    """With all that a bundle, a QR code or a replay of it needs."""
    version = await one(
        tx, "version",
        "select version_id, passport_id, snapshot_id, package_id, key_id, issued_at, salt_key, previous, receipt,"
        " proof, link, receipt_hash from leasehold_passports.version where version_id = $1",
        version_id,
    )  # fmt: skip
    if version["proof"] is None:
        raise Conflict("the version is not signed yet")
    return version


async def bundle_of(tx: Transaction, version: Any, reader: Reader) -> Bundle:
    tiers = await fields_of(tx, version["version_id"])
    shown = {tier: tiers.get(tier, []) for tier in reader.tiers}
    whole = salt(bytes(version["salt_key"]), version["version_id"], "payload") if reader is Reader.OWNER else None
    return disclosed(shown, await signed_of(tx, version), payload_salt=whole)


async def signed_of(tx: Transaction, version: Any) -> Signed:
    log = await entry_of(tx, version["version_id"])
    return Signed(receipt=bytes(version["receipt"]), proof=version["proof"].encode(), log=log)


async def count_states(tx: Transaction, base_id: UUID) -> dict[str, int]:
    """How many versions of the batteries of a bulk are in which state."""
    rows = await tx.fetch(
        "select v.state, count(*) as n from leasehold_passports.version v"
        " join leasehold_passports.snapshot s using (tenant_id, snapshot_id) where s.base_id = $1 group by 1",
        base_id,
    )
    return {row["state"]: row["n"] for row in rows}


def issue_of(version: Any, issuer: str) -> Issue:
    return Issue(
        version=version["version_id"],
        issued_at=version["issued_at"],
        issuer=issuer,
        key_id=version["key_id"],
        salt_key=bytes(version["salt_key"]),
        previous=version["previous"],
    )


async def keys_to_sign(tx: Transaction, versions: Sequence[UUID]) -> dict[str, Any]:
    """The keys that these versions are to be signed with, and the one that signs now, for the head of the log."""
    rows = await tx.fetch(
        "select key_id, issuer, secret, revoked_at, not_after is null and revoked_at is null as is_current"
        " from leasehold_passports.signing_key k where not_after is null and revoked_at is null or key_id in ("
        "   select key_id from leasehold_passports.version where version_id = any($1::uuid[]))",
        list(versions),
    )
    return {row["key_id"]: row for row in rows}


async def keys_by_id(tx: Transaction, key_ids: Iterable[str]) -> dict[str, Any]:
    """The keys by id, each with its issuer and the name of its secret."""
    rows = await tx.fetch(
        "select key_id, issuer, secret, revoked_at from leasehold_passports.signing_key where key_id = any($1::text[])",
        list(set(key_ids)),
    )
    return {row["key_id"]: row for row in rows}


def not_ready(message: str, findings: Sequence[Finding]) -> PassportError:
    hint = "correct or dismiss them, then open a new snapshot" if findings else None
    return PassportError(Code.SNAPSHOT_NOT_READY, message, hint=hint, findings=findings)
