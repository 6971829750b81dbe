"""The log of an issuer in the pack's own tables. Signing writes the leaf, by a trigger: see the migration."""

import json
from collections.abc import Sequence
from uuid import UUID

from leasehold import ReadOnlyTransaction, Transaction
from leasehold.errors import NotFound
from leasehold_packs.passports.canonical import canonical
from leasehold_packs.passports.log import (
    CONSISTENCY,
    LogConsistency,
    LogEntry,
    Node,
    SignedHead,
    Step,
    entry,
    folded,
    head,
    steps_of_consistency,
    steps_of_path,
)
from leasehold_packs.passports.model import SigningKey, TreeHead
from leasehold_packs.passports.proof import options, sign, whole_second
from leasehold_packs.rows.values import value_of


async def entry_of(tx: Transaction | ReadOnlyTransaction, version_id: UUID) -> bytes:
    """The place of a version in the log and a head over it, in canonical form; null while there is no such head."""
    row = await tx.fetchrow("select * from leasehold_passports.log_of($1)", version_id)
    if row is None:
        return b"null"
    path = await _fetched(tx, row["slug"], steps_of_path(row["index"], row["size"]))
    return canonical(entry(json.loads(row["head"]), index=row["index"], path=path))


async def head_of(tx: ReadOnlyTransaction, slug: str, size: int | None = None) -> SignedHead:
    found = await tx.fetchval("select leasehold_passports.log_head($1, $2)", slug, size)
    if found is None:
        raise NotFound("there is no such issuer, or no signed head of its log at this size")
    signed: SignedHead = json.loads(found)
    return signed


async def entry_at(tx: ReadOnlyTransaction, slug: str, leaf: bytes, size: int | None) -> LogEntry:
    """The same as ``entry_of`` for a leaf that somebody knows, under the head of this size."""
    signed = await head_of(tx, slug, size)
    index = await tx.fetchval("select leasehold_passports.log_place($1, $2)", slug, leaf)
    if index is None or index >= signed["size"]:
        raise NotFound("the log does not have this leaf, or not at this size")
    return entry(signed, index=index, path=await _fetched(tx, slug, steps_of_path(index, signed["size"])))


async def consistency(tx: ReadOnlyTransaction, slug: str, first: int, second: int | None) -> LogConsistency:
    """Two heads, and the proof that the newer log begins with all of the older."""
    older, newer = await head_of(tx, slug, first), await head_of(tx, slug, second)
    path = await _fetched(tx, slug, steps_of_consistency(older["size"], newer["size"]))
    return {"format": CONSISTENCY, "first": older, "second": newer, "path": [step.hex() for step in path]}


async def entries(tx: ReadOnlyTransaction, slug: str, start: int) -> list[bytes]:
    rows = await tx.fetch("select hash from leasehold_passports.log_entries($1, $2, $3)", slug, start, 1000)
    return [bytes(row["hash"]) for row in rows]


async def _fetched(tx: Transaction | ReadOnlyTransaction, slug: str, steps: Sequence[Step]) -> list[bytes]:
    wanted = [node for step in steps for node in step]
    rows = await tx.fetch(
        "select * from leasehold_passports.log_nodes($1, $2, $3)",
        slug, [level for level, _ in wanted], [index for _, index in wanted],
    )  # fmt: skip
    nodes: dict[Node, bytes] = {(row["level"], row["index"]): bytes(row["hash"]) for row in rows}
    return folded(steps, nodes)


# -- heads ----------------------------------------------------------------------------------------------------------


async def sign_head(tx: Transaction, key: SigningKey, seed: bytes) -> int | None:
    """A head over the log as it is in this transaction; its size, or None if there is one, or nothing to sign."""
    now = await tx.fetchrow("select * from leasehold_passports.next_head()")
    if now is None or now["is_signed"]:
        return None
    size, root, at = int(now["size"]), bytes(now["root"]), whole_second(now["at"])
    made = head(issuer=key.issuer, size=size, root=root, at=at)
    signed = canonical({**made, "proof": sign(made, options(method=key.method, created=at), seed=seed)}).decode()
    await tx.execute(
        "select leasehold_passports.add_head($1, $2, $3, $4, $5, $6)",
        tx.tenant_id, size, root, at, key.key_id, signed,
    )  # fmt: skip
    return size


async def newest_heads(tx: Transaction) -> list[TreeHead]:
    query = "select size, root, at, key_id from leasehold_passports.tree_head order by size desc limit 20"
    return [value_of(TreeHead, row) for row in await tx.fetch(query)]
