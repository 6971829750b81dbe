"""Versions of passports and bulks of them, in the pack's own tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from secrets import token_bytes
from typing import Any
from uuid import UUID

from leasehold import Transaction
from leasehold.errors import Conflict
from leasehold_packs.passports.attributes import Reader, Tier
from leasehold_packs.passports.bundle import Bundle, Signed, disclosed
from leasehold_packs.passports.canonical import canonical
from leasehold_packs.passports.compile import Compiled, Issue
from leasehold_packs.passports.errors import PassportError
from leasehold_packs.passports.merkle import salt
from leasehold_packs.passports.model import Bulk, ExportedVersion, Order, Version, VersionContent
from leasehold_packs.passports.proof import whole_second
from leasehold_packs.passports.store import get_passport, require_row
from leasehold_packs.passports.store_keys import usable_key
from leasehold_packs.passports.store_log import entry_of
from leasehold_packs.passports.store_snapshots import get_snapshot, not_ready, published_package
from leasehold_packs.rows.values import adapter, json_of, value_of

_VERSION = (
    "version_id, passport_id, number, snapshot_id, package_id, key_id, issued_at, previous, activate, state, problem,"
    " receipt_hash, link, author, created_at, changed_at"
)
_CONTENT = f"{_VERSION}, salt_key, receipt, proof"
_BULK = (
    "bulk_id, model_id, document_version_id, base_id, package_id, key_id, issued_at, activate, state, next_line, made,"
    " refused, author, created_at"
)
#: Pointer, value, salt and leaf of each field of a tier.
Fields = list[list[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _TierRow:
    version_id: UUID
    tier: str
    fields: Fields


async def request_version(tx: Transaction, passport_id: UUID, snapshot_id: UUID, order: Order) -> UUID:
    """A version that can be compiled: its snapshot is sealed, its rules published, and there is a key."""
    await get_passport(tx, passport_id)
    snapshot = await get_snapshot(tx, snapshot_id)
    if snapshot.state != "sealed" or snapshot.passport_id != passport_id:
        raise not_ready("the snapshot is not sealed, or another passport's", [])
    await published_package(tx, order.package_id)
    key = await usable_key(tx, order.issued_at)
    made = await request_versions(tx, [(passport_id, snapshot_id)], order, key.key_id)
    if not made:
        raise Conflict("a version of this passport is under way", hint="wait for it to be signed")
    return made[0]


async def request_versions(
    tx: Transaction, batteries: Sequence[tuple[UUID, UUID]], order: Order, key_id: str
) -> list[UUID]:
    """For many batteries and their sealed snapshots at once; those that have one under way are left out."""
    rows = await tx.fetch(
        "select leasehold_passports.add_versions($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        tx.tenant_id, [passport for passport, _ in batteries], [snapshot for _, snapshot in batteries],
        [token_bytes(32) for _ in batteries], order.package_id, key_id, whole_second(order.issued_at), order.activate,
        order.author,
    )  # fmt: skip
    return [row[0] for row in rows]


async def get_version(tx: Transaction, version_id: UUID) -> Version:
    query = f"select {_VERSION} from leasehold_passports.version where version_id = $1"
    return value_of(Version, await require_row(tx, "version", query, version_id), "problem")


async def list_versions(tx: Transaction, passport_id: UUID) -> list[Version]:
    rows = await tx.fetch(
        f"select {_VERSION} from leasehold_passports.version where passport_id = $1 order by number desc limit 100",
        passport_id,
    )
    return [value_of(Version, row, "problem") for row in rows]


async def lock_versions(tx: Transaction, versions: Sequence[UUID], state: str) -> list[VersionContent]:
    """Those of them that are in this state, with all that the next step needs; nobody else moves them meanwhile."""
    rows = await tx.fetch(
        f"select {_CONTENT} from leasehold_passports.version where version_id = any($1::uuid[]) and state = $2"
        " order by version_id for update",
        list(versions), state,
    )  # fmt: skip
    return [value_of(VersionContent, row, "problem") for row in rows]


async def is_under_way(tx: Transaction, passport_id: UUID) -> bool:
    """Whether a version of the passport is not signed yet."""
    under_way: bool = await tx.fetchval(
        "select exists (select from leasehold_passports.version"
        " where passport_id = $1 and state in ('requested', 'compiled'))",
        passport_id,
    )
    return under_way


async def put_compiled(tx: Transaction, made: Mapping[UUID, Compiled]) -> None:
    tiers = [
        _TierRow(version_id=version, tier=str(tier), fields=_fields(each, tier))
        for version, each in made.items()
        for tier in Tier
    ]
    await tx.execute(
        "select leasehold_passports.put_compiled($1, $2, $3, $4, $5)",
        tx.tenant_id, list(made), [each.receipt for each in made.values()],
        [each.receipt_hash for each in made.values()], json_of(tiers, list[_TierRow]),
    )  # fmt: skip


def _fields(made: Compiled, tier: Tier) -> Fields:
    return [[each.pointer, each.value, each.salt.hex(), each.leaf.hex()] for each in made.fields if each.tier == tier]


async def put_proofs(tx: Transaction, proofs: Mapping[UUID, Mapping[str, Any]]) -> None:
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


async def activate_versions(tx: Transaction, versions: Sequence[Version]) -> dict[UUID, UUID]:
    """They take the place of the active ones, whose ids this gives by passport."""
    ids = [version.version_id for version in versions]
    rows = await tx.fetch("select * from leasehold_passports.activate_versions($1)", ids)
    return {row["passport_id"]: row["version_id"] for row in rows}


async def revoke_version(tx: Transaction, version_id: UUID, reason: str) -> None:
    await _end(tx, version_id, "revoked", {"reason": reason})


async def fail_version(tx: Transaction, version_id: UUID, problem: PassportError) -> None:
    await _end(tx, version_id, "failed", problem.as_json())


async def _end(tx: Transaction, version_id: UUID, state: str, problem: object) -> None:
    await tx.execute(
        "update leasehold_passports.version set state = $2, problem = $3 where version_id = $1",
        version_id, state, json_of(problem),
    )  # fmt: skip


async def fields_of(tx: Transaction, version_id: UUID) -> dict[str, Fields]:
    """All tiers: for the owner."""
    rows = await tx.fetch("select tier, fields from leasehold_passports.tier where version_id = $1", version_id)
    return {row["tier"]: adapter(Fields).validate_json(row["fields"]) for row in rows}


async def get_content(tx: Transaction, version_id: UUID) -> VersionContent:
    query = f"select {_CONTENT} from leasehold_passports.version where version_id = $1"
    return value_of(VersionContent, await require_row(tx, "version", query, version_id), "problem")


async def get_active(tx: Transaction, passport_id: UUID) -> VersionContent:
    query = f"select {_CONTENT} from leasehold_passports.version where passport_id = $1 and state = 'active'"
    return value_of(VersionContent, await require_row(tx, "active version", query, passport_id), "problem")


async def signed_version(tx: Transaction, version_id: UUID) -> VersionContent:
    """With all that a bundle, a QR code or a replay of it needs."""
    version = await get_content(tx, version_id)
    if version.proof is None:
        raise Conflict("the version is not signed yet")
    return version


async def bundle_of(tx: Transaction, version: VersionContent | ExportedVersion, reader: Reader) -> Bundle:
    tiers = await fields_of(tx, version.version_id)
    shown = {tier: tiers.get(tier, []) for tier in reader.tiers}
    whole = salt(version.salt_key, version.version_id, "payload") if reader is Reader.OWNER else None
    log = await entry_of(tx, version.version_id)
    signed = Signed(receipt=version.receipt or b"", proof=(version.proof or "").encode(), log=log)
    return disclosed(shown, signed, payload_salt=whole)


async def list_exported(
    tx: Transaction, states: Sequence[str], passport_id: UUID | None, after: UUID | None, *, limit: int
) -> list[ExportedVersion]:
    """Published versions with their passports, in the order of their ids."""
    rows = await tx.fetch(
        "select * from leasehold_passports.list_exported($1, $2, $3, $4)", list(states), passport_id, after, limit
    )
    return [value_of(ExportedVersion, row) for row in rows]


async def sample_versions(tx: Transaction, seed: str, limit: int) -> list[UUID]:
    """Some of the published versions; another seed chooses others."""
    rows = await tx.fetch("select leasehold_passports.sample_versions($1, $2)", seed, limit)
    return [row[0] for row in rows]


def issue_of(version: VersionContent, issuer: str) -> Issue:
    return Issue(
        version=version.version_id,
        issued_at=version.issued_at,
        issuer=issuer,
        key_id=version.key_id,
        salt_key=version.salt_key,
        previous=version.previous,
    )


# -- bulks ----------------------------------------------------------------------------------------


async def add_bulk(
    tx: Transaction, model_id: UUID, document_version_id: UUID, base_id: UUID, order: Order, key_id: str
) -> UUID:
    made: UUID = await tx.fetchval(
        "select leasehold_passports.add_bulk($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        tx.tenant_id, model_id, document_version_id, base_id, order.package_id, key_id, order.issued_at,
        order.activate, order.author,
    )  # fmt: skip
    return made


async def get_bulk(tx: Transaction, bulk_id: UUID) -> Bulk:
    query = f"select {_BULK} from leasehold_passports.bulk where bulk_id = $1"
    return value_of(Bulk, await require_row(tx, "bulk", query, bulk_id), "refused")


async def advance_bulk(
    tx: Transaction, bulk_id: UUID, *, lines: int, made: int, refused: list[tuple[int, str]]
) -> None:
    await tx.execute(
        "select leasehold_passports.advance_bulk($1, $2, $3, $4)", bulk_id, lines, made, json_of(sorted(refused))
    )


async def finish_bulk(tx: Transaction, bulk_id: UUID) -> None:
    await tx.execute("update leasehold_passports.bulk set state = 'done' where bulk_id = $1", bulk_id)


async def count_states(tx: Transaction, base_id: UUID) -> dict[str, int]:
    """How many versions of the batteries of a bulk are in which state."""
    rows = await tx.fetch("select * from leasehold_passports.count_states($1)", base_id)
    return {row["state"]: row["n"] for row in rows}
