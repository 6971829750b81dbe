"""Kinds over many passports: ``bulk`` makes them, ``recompile`` renews them, ``replay`` checks them.

Each goes in small transactions that note how far it is, so that a worker that dies costs one of them.
"""

import asyncio
import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any
from uuid import UUID

from leasehold import Context, Leasehold, Transaction
from leasehold_packs.passports.changes import by_pointer, changed
from leasehold_packs.passports.compile import Compiled, compiled
from leasehold_packs.passports.documents import Row, read_json, sheet_rows
from leasehold_packs.passports.errors import PassportError, invalid
from leasehold_packs.passports.facts import Fact, Snapshot
from leasehold_packs.passports.handlers import app as steps
from leasehold_packs.passports.handlers import ended
from leasehold_packs.passports.handlers_export import app as files
from leasehold_packs.passports.model_jobs import (
    BulkDone,
    BulkOrder,
    Recompiled,
    RecompileOrder,
    Replayed,
    ReplayOrder,
    VersionsOrder,
)
from leasehold_packs.passports.proof import verifies
from leasehold_packs.passports.qr import checked_serial
from leasehold_packs.passports.rules import Package, accepted_package
from leasehold_packs.passports.service import ask_for_version
from leasehold_packs.passports.store import QUEUE, TENANT, fact_of, one, tell
from leasehold_packs.passports.store_facts import current_facts, document_bytes, get_document, get_passport
from leasehold_packs.passports.store_keys import usable_key
from leasehold_packs.passports.store_versions import (
    Order,
    count_states,
    facts_of,
    fields_of,
    get_package,
    issue_of,
    keys_by_id,
    open_snapshot,
    published_package,
    request_versions,
    seal_items,
    seal_snapshot,
)

app = Leasehold()
#: Batteries in one transaction, and in one job of those that follow.
CHUNK = 100
_MAX_LISTED = 100
_IN_WORK = {"requested", "compiled", "signed"}
_TWICE = "this serial number has a passport already"

_BULK = (
    "bulk_id, model_id, document_version_id, base_id, package_id, key_id, issued_at, activate, state, next_line, made,"
    " refused, author, created_at"
)


# -- bulk -----------------------------------------------------------------------------------------------------------


async def request_bulk(tx: Transaction, model_id: UUID, document_version_id: UUID, order: Order) -> UUID:
    """The facts of the model are sealed now: batteries of one bulk are all based on the same."""
    if (await get_document(tx, document_version_id))["role"] != "sheet":
        raise invalid("a bulk is made from a document with the role sheet")
    if (await get_passport(tx, model_id))["gtin"] is None:
        raise invalid("serial numbers need a GTIN, which this model does not have")
    await published_package(tx, order.package_id)
    key = await usable_key(tx, order.issued_at)
    base_id = await open_snapshot(tx, model_id, order.author)
    await seal_snapshot(tx, base_id)
    made = await tx.fetchval(
        "insert into leasehold_passports.bulk"
        " (tenant_id, model_id, document_version_id, base_id, package_id, key_id, issued_at, activate, author)"
        f" values ({TENANT}, $1, $2, $3, $4, $5, $6, $7, $8) returning bulk_id",
        model_id, document_version_id, base_id, order.package_id, key["key_id"], order.issued_at, order.activate,
        order.author,
    )  # fmt: skip
    await tx.enqueue("passports.bulk", BulkOrder(bulk_id=made))
    return UUID(str(made))


async def get_bulk(tx: Transaction, bulk_id: UUID) -> Any:
    return await one(tx, "bulk", f"select {_BULK} from leasehold_passports.bulk where bulk_id = $1", bulk_id)


async def wait_for_bulk(access: Any, bulk_id: UUID, *, seconds: float) -> dict[str, int]:
    """How many versions of a bulk are in which state, when its jobs are done with it. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while True:
            async with access.transaction() as tx:
                found = await get_bulk(tx, bulk_id)
                counts = await count_states(tx, found["base_id"])
            if found["state"] == "done" and sum(counts.values()) == found["made"] and _IN_WORK.isdisjoint(counts):
                return counts
            await asyncio.sleep(0.2)


@app.handler("passports.bulk", queue=QUEUE, priority=2, timeout=3600, attempts=20, retry=(2.0, 1024.0))
async def bulk(ctx: Context, order: BulkOrder) -> BulkDone:
    """A passport for each line of a sheet with the column ``serial``; its other columns are facts of the battery."""
    async with ctx.transaction() as tx:
        todo = await get_bulk(tx, order.bulk_id)
        raw = await document_bytes(tx, todo["document_version_id"])
        media_type = (await get_document(tx, todo["document_version_id"]))["media_type"]
    try:
        lines = await asyncio.to_thread(_lines, raw, media_type)
    except PassportError as problem:
        raise ended(problem) from None
    at = todo["next_line"]
    while at < len(lines):
        async with ctx.transaction() as tx:
            await _make_some(tx, order.bulk_id, lines[at : at + CHUNK])
        at += CHUNK
        await ctx.progress(100 * min(at, len(lines)) / len(lines), f"{min(at, len(lines))} of {len(lines)}")
    async with ctx.transaction() as tx:
        await tx.execute("update leasehold_passports.bulk set state = 'done' where bulk_id = $1", order.bulk_id)
        todo = await get_bulk(tx, order.bulk_id)
        done = BulkDone(made=todo["made"], refused=len(json.loads(todo["refused"])))
        await tell(
            tx, "passport.bulk_requested", passport=todo["model_id"], version=None,
            bulk_id=str(order.bulk_id), made=done.made, refused=done.refused,
        )  # fmt: skip
        return await tx.complete(done)


def _lines(raw: bytes, media_type: str) -> list[tuple[int, str, list[Fact]]]:
    """Number, serial and facts of each line."""
    sheet = sheet_rows(raw, media_type=media_type)
    if sheet.errors:
        first = sheet.errors[0]
        raise invalid(f"{len(sheet.errors)} cells cannot be read, the first: {first.at} {first.message}")
    return [_line(row) for row in sheet.rows]


def _line(row: Row) -> tuple[int, str, list[Fact]]:
    serial = next((fact.value for fact in row.facts if fact.pointer == "/serial"), "")
    return row.number, str(serial), [fact for fact in row.facts if fact.pointer != "/serial"]


async def _make_some(tx: Transaction, bulk_id: UUID, lines: Sequence[tuple[int, str, list[Fact]]]) -> None:
    """Passports, sealed snapshots and versions of these lines, the job that compiles them, and how far we are."""
    todo = await get_bulk(tx, bulk_id)
    model = await get_passport(tx, todo["model_id"])
    refused, facts = _judged(lines)
    made = await tx.fetch(
        "insert into leasehold_passports.passport (tenant_id, name, category, gtin, serial, model_id)"
        f" select {TENANT}, $1, $2, $3, serial, $4 from unnest($5::text[]) serial"
        " on conflict do nothing returning passport_id, serial",
        model["name"], model["category"], model["gtin"], model["passport_id"], list(facts),
    )  # fmt: skip
    by_serial = {row["serial"]: row["passport_id"] for row in made}
    refused += [[line, _TWICE] for serial, (line, _) in facts.items() if serial not in by_serial]
    items = [(by_serial[serial], own) for serial, (_, own) in facts.items() if serial in by_serial]
    if items:
        snapshots = await seal_items(tx, todo["base_id"], items, todo["author"])
        batteries = list(zip((passport for passport, _ in items), snapshots, strict=True))
        order = Order(**{name: todo[name] for name in ("package_id", "issued_at", "activate", "author")})
        versions = await request_versions(tx, batteries, order, todo["key_id"])
        await tx.enqueue("passports.compile", VersionsOrder(versions=versions))
    await tx.execute(
        "update leasehold_passports.bulk"
        " set next_line = next_line + $2, made = made + $3, refused = refused || $4::jsonb where bulk_id = $1",
        bulk_id, len(lines), len(items), json.dumps(sorted(refused)),
    )  # fmt: skip


def _judged(
    lines: Sequence[tuple[int, str, list[Fact]]],
) -> tuple[list[list[Any]], dict[str, tuple[int, list[Fact]]]]:
    """What cannot be used, and the others by their serial numbers."""
    refused: list[list[Any]] = []
    facts: dict[str, tuple[int, list[Fact]]] = {}
    for line, serial, own in lines:
        try:
            checked_serial(serial)
        except PassportError as problem:
            refused.append([line, str(problem)])
            continue
        if serial in facts:
            refused.append([line, _TWICE])
        else:
            facts[serial] = line, own
    return refused, facts


# -- recompile ------------------------------------------------------------------------------------------------------


@app.handler("passports.recompile", queue=QUEUE, priority=2, timeout=3600, attempts=20, retry=(2.0, 1024.0))
async def recompile(ctx: Context, order: RecompileOrder) -> Recompiled:
    """Compile what is active with today's facts and these rules; ask for new versions of what differs."""
    looked_at = differ = requested = failed = 0
    listed: list[dict[str, Any]] = []
    after: UUID | None = None
    while True:
        async with ctx.transaction() as tx:
            rules = await _rules(tx, order.package_id)
            passports = await _active(tx, order.passport_id, after)
            for passport in passports:
                try:
                    lines = await _difference(tx, passport, rules)
                    requested += await _renewed(tx, passport, order) if lines and not order.dry_run else 0
                except PassportError as problem:
                    failed += 1
                    listed.append({"passport_id": str(passport), "code": problem.code, "message": str(problem)})
                    continue
                if lines:
                    differ += 1
                    listed.append({"passport_id": str(passport), "changes": lines[:_MAX_LISTED]})
        if not passports:
            break
        looked_at, after = looked_at + len(passports), passports[-1]
        await ctx.progress(50, f"{looked_at} looked at, {differ} differ")
    return Recompiled(
        looked_at=looked_at, differ=differ, requested=requested, failed=failed, changed=listed[:_MAX_LISTED]
    )


async def _rules(tx: Transaction, package_id: UUID) -> Package:
    try:
        return await published_package(tx, package_id)
    except PassportError as problem:
        raise ended(problem) from None


async def _active(tx: Transaction, passport_id: UUID | None, after: UUID | None) -> list[UUID]:
    rows = await tx.fetch(
        "select v.passport_id from leasehold_passports.version v"
        " join leasehold_passports.passport p using (tenant_id, passport_id)"
        " where v.state = 'active' and ($1::uuid is null or p.model_id = $1 or p.passport_id = $1)"
        " and ($2::uuid is null or v.passport_id > $2) order by v.passport_id limit $3",
        passport_id, after, CHUNK,
    )  # fmt: skip
    return [row["passport_id"] for row in rows]


async def _difference(tx: Transaction, passport_id: UUID, rules: Package) -> list[dict[str, Any]]:
    """What a version of today's facts and these rules would say otherwise than the active one."""
    version = await one(
        tx, "active version",
        "select version_id, issued_at, key_id, salt_key, previous from leasehold_passports.version"
        " where passport_id = $1 and state = 'active'",
        passport_id,
    )  # fmt: skip
    facts = [fact_of(row) for row in await current_facts(tx, passport_id) if row["state"] == "ok"]
    made = await asyncio.to_thread(compiled, Snapshot(facts), rules, issue_of(version, ""))
    after = {field.pointer: (str(field.tier), field.value) for field in made.fields}
    return changed(by_pointer(await fields_of(tx, version["version_id"])), after)


async def _renewed(tx: Transaction, passport_id: UUID, order: RecompileOrder) -> int:
    """1 if a new version was asked for; 0 if one is under way, as after a crash."""
    under_way = (
        "select 1 from leasehold_passports.version where passport_id = $1 and state in ('requested', 'compiled')"
    )
    if await tx.fetchval(under_way, passport_id):
        return 0
    wanted = Order(package_id=order.package_id, issued_at=order.issued_at, activate=order.activate, author=order.author)
    await ask_for_version(tx, passport_id, None, wanted)
    return 1


# -- replay ---------------------------------------------------------------------------------------------------------


@app.handler("passports.replay", queue=QUEUE, priority=3, timeout=3600, attempts=5, retry=(2.0, 1024.0))
async def replay(ctx: Context, order: ReplayOrder) -> Replayed:
    """Derive a sample of the published versions once more: every byte of the receipts must be the same, and signed."""
    async with ctx.transaction() as tx:
        sample = await tx.fetch(
            "select version_id from leasehold_passports.version where state in ('active', 'superseded', 'revoked')"
            " order by sha256(convert_to(version_id::text || $1, 'UTF8')) limit $2",
            order.seed or str(ctx.job_id), order.sample,
        )  # fmt: skip
    differ: list[UUID] = []
    for row in sample:
        async with ctx.transaction() as tx:
            if not await is_reproduced(tx, row["version_id"]):
                differ.append(row["version_id"])
                passport = (await one(tx, "version", _OF_VERSION, row["version_id"]))["passport_id"]
                await tell(tx, "passport.replay_differs", passport=passport, version=row["version_id"])
    return Replayed(same=len(sample) - len(differ), differ=differ)


_OF_VERSION = (
    "select v.version_id, v.passport_id, v.snapshot_id, v.package_id, v.key_id, v.issued_at, v.salt_key, v.previous,"
    " v.receipt, v.proof, k.public_key from leasehold_passports.version v"
    " join leasehold_passports.signing_key k using (tenant_id, key_id) where version_id = $1"
)


async def is_reproduced(tx: Transaction, version_id: UUID) -> bool:
    version = await one(tx, "version", _OF_VERSION, version_id)
    made = await compiled_again(tx, version)
    tiers = by_pointer(await fields_of(tx, version_id))
    receipt = bytes(version["receipt"])
    return (
        made is not None
        and sha256(made.receipt).digest() == sha256(receipt).digest()
        and tiers == {field.pointer: (str(field.tier), field.value) for field in made.fields}
        and verifies(read_json(receipt), json.loads(version["proof"]), public=bytes(version["public_key"]))
    )


async def compiled_again(tx: Transaction, version: Any) -> Compiled | None:
    """The version once more from its snapshot and rules, whatever their state is now; None if that fails."""
    facts = (await facts_of(tx, [version["snapshot_id"]]))[version["snapshot_id"]]
    rules = accepted_package(json.loads((await get_package(tx, version["package_id"]))["source"]))
    key = (await keys_by_id(tx, [version["key_id"]]))[version["key_id"]]
    try:
        return await asyncio.to_thread(compiled, Snapshot(facts), rules, issue_of(version, key["issuer"]))
    except PassportError:
        return None


#: Every kind of this pack.
kinds = Leasehold()
kinds.include(steps)
kinds.include(app)
kinds.include(files)
