"""What the dashboard shows of passports: all of them; one with its completeness, versions, snapshots and documents; a
document with the places that facts were read from; two snapshots compared; one version with what each field was derived
from; and the issuer with its keys and its log."""

import asyncio
import json
from contextlib import suppress
from datetime import UTC, datetime
from uuid import UUID

from leasehold import web
from leasehold.errors import NotFound
from leasehold_packs.passports import (
    service,
    store,
    store_facts,
    store_keys,
    store_log,
    store_snapshots,
    store_versions,
)
from leasehold_packs.passports.attributes import completeness
from leasehold_packs.passports.changes import facts_changed
from leasehold_packs.passports.document_view import Sheet, sheets_of
from leasehold_packs.passports.errors import PassportError
from leasehold_packs.passports.model import Issuer, Key, PassportSummary, TreeHead
from leasehold_packs.passports.replay import compiled_again

pages = web.pages("passports", title="Passports", templates="leasehold_packs.passports")
_LIMIT = 50
_FACTS = 2_000
#: States of versions and documents as the dashboard colours those that its own things do not have.
_COLOURS = {
    "requested": "queued",
    "compiled": "running",
    "signed": "running",
    "active": "succeeded",
    "superseded": "canceled",
    "revoked": "dead",
    "received": "queued",
    "read": "succeeded",
    "unreadable": "failed",
    "ok": "succeeded",
    "error": "failed",
    "dismissed": "canceled",
}


@pages.get("/passports", "jobs:read", live=True)
async def passports(look: web.Look) -> web.Page:
    after = look.query("after")
    rows: list[PassportSummary] = []
    if look.viewer.tenant:
        async with look.tenant.transaction() as tx:
            last = _id(after) if after else None
            rows = await store.list_passports(tx, model_id=None, after=last, limit=_LIMIT + 1)
    return look.show(
        "passports.html",
        live=not after,
        passports=rows[:_LIMIT],
        after=after,
        next_after=rows[_LIMIT - 1].passport_id if len(rows) > _LIMIT else None,
        colours=_COLOURS,
    )


@pages.get("/passports/issuer", "jobs:read")
async def issuer(look: web.Look) -> web.Page:
    found: Issuer | None = None
    keys: list[Key] = []
    heads: list[TreeHead] = []
    if look.viewer.tenant:
        async with look.tenant.transaction() as tx:
            with suppress(NotFound):
                found = await store_keys.get_issuer(tx)
            keys = await store_keys.list_keys(tx)
            heads = await store_log.newest_heads(tx)
    return look.show("passports_issuer.html", issuer=found, keys=keys, heads=heads)


@pages.post("/passports/issuer/prove", "admin")
async def prove(look: web.Look) -> web.Response:
    async with look.tenant.transaction() as tx:
        job = await service.request_proof(tx)
    return look.go(look.url(f"/jobs/{job.job_id}"), "The host is being asked.")


@pages.get("/passports/issuer/rotate", "admin")
async def ask_to_rotate(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await store_keys.get_issuer(tx)
    return look.confirm(
        f"Make a new key for {found.name}?",
        words="It signs from now on. What the key before has signed goes on to hold.",
        action=look.url("/passports/issuer/rotate"),
        back=look.url("/passports/issuer"),
        button="Make a new key",
    )


@pages.post("/passports/issuer/rotate", "admin")
async def rotate(look: web.Look) -> web.Response:
    async with look.tenant.transaction() as tx:
        made = await store_keys.rotate_key(tx, datetime.now(UTC))
        await tx.log("passports.rotate_key", made.key_id)
    return look.go(look.url("/passports/issuer"), "The new key signs from now on.")


@pages.get("/passports/documents/{document_version_id}", "jobs:read")
async def document(look: web.Look) -> web.Page:
    version_id = look.path_id("document_version_id")
    async with look.tenant.transaction() as tx:
        found = await store_facts.get_document(tx, version_id)
        passport = await store.get_passport(tx, found.passport_id)
        facts = await store_facts.list_document_facts(tx, version_id, after=0, limit=_FACTS + 1)
        is_shown = found.role in ("facts", "sheet") and found.state != "unreadable"
        raw = await store_facts.document_bytes(tx, version_id) if is_shown else b""
    return look.show(
        "passports_document.html",
        own_tenant=True,
        document=found,
        passport=passport,
        problem=found.problem,
        facts=facts[:_FACTS],
        is_whole=len(facts) <= _FACTS,
        by_ref={row.ref: row for row in facts},
        sheets=await _sheets(raw, found.media_type) if raw else [],
        colours=_COLOURS,
    )


async def _sheets(raw: bytes, media_type: str) -> list[Sheet]:
    """Nothing for what is no JSON or sheet: it is not read, so nobody has said yet that it is none."""
    try:
        return await asyncio.to_thread(sheets_of, raw, media_type)
    except PassportError:
        return []


@pages.get("/passports/snapshots/compare", "jobs:read")
async def compare(look: web.Look) -> web.Page:
    before, after = _id(look.query("before")), _id(look.query("after"))
    async with look.tenant.transaction() as tx:
        snapshots = [await store_snapshots.get_snapshot(tx, each) for each in (before, after)]
        passport = await store.get_passport(tx, snapshots[1].passport_id)
        facts = await store_snapshots.two_snapshots(tx, before, after)
    return look.show(
        "passports_compared.html",
        own_tenant=True,
        passport=passport,
        snapshots=snapshots,
        changes=await asyncio.to_thread(facts_changed, *facts),
        most=_FACTS,
    )


@pages.get("/passports/versions/{version_id}", "jobs:read")
async def version(look: web.Look) -> web.Page:
    version_id = look.path_id("version_id")
    async with look.tenant.transaction() as tx:
        found = await store_versions.get_version(tx, version_id)
        passport = await store.get_passport(tx, found.passport_id)
        signed = await store_versions.signed_version(tx, version_id) if found.receipt_hash and found.link else None
        made = await compiled_again(tx, signed) if signed else None
        log = json.loads(await store_log.entry_of(tx, version_id))
        events = await store.list_events(tx, found.passport_id, version_id)
    return look.show(
        "passports_version.html",
        own_tenant=True,
        passport=passport,
        version=found,
        problem=found.problem,
        fields=made.fields if made else (),
        receipt=json.loads(signed.signed_receipt) if signed else None,
        log=log,
        events=events,
        colours=_COLOURS,
    )


@pages.get("/passports/{passport_id}", "jobs:read", live=True)
async def passport(look: web.Look) -> web.Page:
    passport_id = look.path_id("passport_id")
    async with look.tenant.transaction() as tx:
        found = await store.get_passport(tx, passport_id)
        facts = await store_facts.current_facts(tx, passport_id)
        versions = await store_versions.list_versions(tx, passport_id)
        documents = await store_facts.list_documents(tx, passport_id)
        snapshots = await store_snapshots.list_snapshots(tx, passport_id)
    there = {row.pointer or "": row.as_fact().value for row in facts if row.state == "ok"}
    return look.show(
        "passports_one.html",
        live=True,
        own_tenant=True,
        passport=found,
        complete=await asyncio.to_thread(completeness, found.category, there),
        errors=[row for row in facts if row.state == "error"],
        versions=versions,
        problems={row.version_id: row.problem for row in versions if row.problem},
        documents=documents,
        snapshots=snapshots,
        colours=_COLOURS,
    )


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise web.Problem("not_found", "there is no such page") from None
