"""Kinds over many passports: ``bulk`` makes them, ``recompile`` renews them, ``replay`` checks them.

Each goes in small transactions that note how far it is, so that a worker that dies costs one of them.
"""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from leasehold import Context, Leasehold, Transaction
from leasehold_packs.passports.changes import FieldChange, by_pointer, changed
from leasehold_packs.passports.compile import compiled
from leasehold_packs.passports.documents import Row, sheet_rows
from leasehold_packs.passports.errors import PassportError, invalid
from leasehold_packs.passports.facts import Fact, Snapshot
from leasehold_packs.passports.handlers import app as steps
from leasehold_packs.passports.handlers import ended
from leasehold_packs.passports.handlers_export import app as files
from leasehold_packs.passports.model import Order
from leasehold_packs.passports.model_jobs import (
    QUEUE,
    BulkDone,
    BulkOrder,
    PassportDiffers,
    PassportFailed,
    Recompiled,
    RecompileOrder,
    Replayed,
    ReplayOrder,
    VersionsOrder,
)
from leasehold_packs.passports.qr import checked_serial
from leasehold_packs.passports.replay import is_reproduced
from leasehold_packs.passports.rules import Package
from leasehold_packs.passports.service import compile_version
from leasehold_packs.passports.store import add_batteries, emit, list_active
from leasehold_packs.passports.store_facts import current_facts, document_bytes, get_document
from leasehold_packs.passports.store_snapshots import published_package, seal_batteries
from leasehold_packs.passports.store_versions import (
    advance_bulk,
    fields_of,
    finish_bulk,
    get_active,
    get_bulk,
    get_version,
    is_under_way,
    issue_of,
    request_versions,
    sample_versions,
)

app = Leasehold()
#: Batteries in one transaction, and in one job of those that follow.
CHUNK = 100
_MAX_LISTED = 100
_TWICE = "this serial number has a passport already"
#: The number of a line of a sheet, and why it is refused.
_Refused = tuple[int, str]


# -- bulk -----------------------------------------------------------------------------------------


@app.handler("passports.bulk", queue=QUEUE, priority=2, timeout=3600, attempts=20, retry=(2.0, 1024.0))
async def bulk(ctx: Context, order: BulkOrder) -> BulkDone:
    """A passport for each line of a sheet with the column ``serial``; its other columns are facts of the battery."""
    async with ctx.transaction() as tx:
        todo = await get_bulk(tx, order.bulk_id)
        raw = await document_bytes(tx, todo.document_version_id)
        media_type = (await get_document(tx, todo.document_version_id)).media_type
    try:
        lines = await asyncio.to_thread(_lines, raw, media_type)
    except PassportError as problem:
        raise ended(problem) from None
    at = todo.next_line
    while at < len(lines):
        async with ctx.transaction() as tx:
            await _make_some(tx, order.bulk_id, lines[at : at + CHUNK])
        at += CHUNK
        await ctx.progress(100 * min(at, len(lines)) / len(lines), f"{min(at, len(lines))} of {len(lines)}")
    async with ctx.transaction() as tx:
        await finish_bulk(tx, order.bulk_id)
        todo = await get_bulk(tx, order.bulk_id)
        done = BulkDone(made=todo.made, refused=len(todo.refused))
        await emit(
            tx, "passport.bulk_requested", passport=todo.model_id, version=None,
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
    refused, facts = _sort_out(lines)
    by_serial = await add_batteries(tx, todo.model_id, list(facts))
    refused += [(line, _TWICE) for serial, (line, _) in facts.items() if serial not in by_serial]
    items = [(by_serial[serial], own) for serial, (_, own) in facts.items() if serial in by_serial]
    if items:
        snapshots = await seal_batteries(tx, todo.base_id, items, todo.author)
        batteries = list(zip((passport for passport, _ in items), snapshots, strict=True))
        versions = await request_versions(tx, batteries, todo.order, todo.key_id)
        await tx.enqueue("passports.compile", VersionsOrder(versions=versions))
    await advance_bulk(tx, bulk_id, lines=len(lines), made=len(items), refused=refused)


def _sort_out(
    lines: Sequence[tuple[int, str, list[Fact]]],
) -> tuple[list[_Refused], dict[str, tuple[int, list[Fact]]]]:
    """What cannot be used, and the others by their serial numbers."""
    refused: list[_Refused] = []
    facts: dict[str, tuple[int, list[Fact]]] = {}
    for line, serial, own in lines:
        try:
            checked_serial(serial)
        except PassportError as problem:
            refused.append((line, str(problem)))
            continue
        if serial in facts:
            refused.append((line, _TWICE))
        else:
            facts[serial] = line, own
    return refused, facts


# -- recompile ------------------------------------------------------------------------------------------------------


@app.handler("passports.recompile", queue=QUEUE, priority=2, timeout=3600, attempts=20, retry=(2.0, 1024.0))
async def recompile(ctx: Context, order: RecompileOrder) -> Recompiled:
    """Compile what is active with today's facts and these rules; ask for new versions of what differs."""
    looked_at = differ = requested = failed = 0
    listed: list[PassportDiffers | PassportFailed] = []
    after: UUID | None = None
    while True:
        async with ctx.transaction() as tx:
            rules = await _rules(tx, order.package_id)
            passports = await list_active(tx, order.passport_id, after, limit=CHUNK)
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


async def _difference(tx: Transaction, passport_id: UUID, rules: Package) -> list[FieldChange]:
    """What a version of today's facts and these rules would say otherwise than the active one."""
    version = await get_active(tx, passport_id)
    facts = [row.as_fact() for row in await current_facts(tx, passport_id) if row.state == "ok"]
    made = await asyncio.to_thread(compiled, Snapshot(facts), rules, issue_of(version, ""))
    after: dict[str, tuple[str, Any]] = {field.pointer: (str(field.tier), field.value) for field in made.fields}
    return changed(by_pointer(await fields_of(tx, version.version_id)), after)


async def _renewed(tx: Transaction, passport_id: UUID, order: RecompileOrder) -> int:
    """1 if a new version was asked for; 0 if one is under way, as after a crash."""
    if await is_under_way(tx, passport_id):
        return 0
    wanted = Order(package_id=order.package_id, issued_at=order.issued_at, activate=order.activate, author=order.author)
    await compile_version(tx, passport_id, None, wanted)
    return 1


# -- replay ---------------------------------------------------------------------------------------------------------


@app.handler("passports.replay", queue=QUEUE, priority=3, timeout=3600, attempts=5, retry=(2.0, 1024.0))
async def replay(ctx: Context, order: ReplayOrder) -> Replayed:
    """Derive a sample of the published versions once more: every byte of the receipts must be the same, and signed."""
    async with ctx.transaction() as tx:
        sample = await sample_versions(tx, order.seed or str(ctx.job_id), order.sample)
    differ: list[UUID] = []
    for version_id in sample:
        async with ctx.transaction() as tx:
            if not await is_reproduced(tx, version_id):
                differ.append(version_id)
                passport = (await get_version(tx, version_id)).passport_id
                await emit(tx, "passport.replay_differs", passport=passport, version=version_id)
    return Replayed(same=len(sample) - len(differ), differ=differ)


#: Every kind of this pack.
kinds = Leasehold()
kinds.include(steps)
kinds.include(app)
kinds.include(files)
