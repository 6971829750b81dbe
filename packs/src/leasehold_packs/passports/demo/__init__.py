"""The demo: a made-up maker sends its documents, corrects a fact, and gets passports that are checked. No network."""

from collections.abc import Callable
from datetime import UTC, datetime
from random import randrange
from uuid import UUID

from leasehold import Access, Transaction
from leasehold_packs.passports import store, store_facts, store_keys, store_snapshots, store_versions
from leasehold_packs.passports.attributes import Category, Reader, battery_pass_rules, completeness
from leasehold_packs.passports.demo import sample_maker
from leasehold_packs.passports.model import Order, Version
from leasehold_packs.passports.rules import package
from leasehold_packs.passports.service import (
    compile_version,
    request_bulk,
    send_document,
    state_fact,
    wait_for,
    wait_for_bulk,
)
from leasehold_packs.passports.store_facts import Delivered
from leasehold_packs.passports.verify import verify

_WRONG = "/generalProductInformation/batteryMass"
_PATIENCE_SECONDS = 600.0


async def run(access: Access, *, batteries: int, host: str | None, tell: Callable[[str], None]) -> None:
    seed = randrange(10**9)
    async with access.transaction() as tx:
        await _issuer(tx, host, development=access.is_development)
        package = await _rules(tx, access.actor)
        gtin = sample_maker.gtin(seed)
        model = await store.add_passport(
            tx, name="Made-up battery M1", category=Category.LMT, gtin=gtin, serial="", model_id=None
        )
    tell(f"model       GTIN {gtin}, passport {model}")
    await _send(access, model, seed, tell)
    version = await _version(access, model, package)
    tell(f"version     {version.version_id} is {version.state}; its QR code says {version.link}")
    await _check(access, version.version_id, tell)
    if batteries:
        await _bulk(access, model, package, batteries, seed, tell)
    tell(f"page        /p/{model} on your server: leasehold up prints its address")


async def _issuer(tx: Transaction, host: str | None, *, development: bool) -> None:
    if await tx.fetchval("select count(*) from leasehold_passports.issuer") == 0:
        own = await tx.fetchval("select right(current_setting('leasehold.tenant'), 12)")
        slug = f"demo-{own}"
        await store_keys.set_issuer(
            tx, slug=slug, name="Demo Batteries", host=host or f"{slug}.localhost", development=development
        )
    await store_keys.first_key(tx, datetime.now(UTC))


async def _rules(tx: Transaction, author: str) -> UUID:
    wanted = battery_pass_rules(Category.LMT)
    for row in await store_snapshots.list_packages(tx):
        if (row.name, row.version, row.state) == (wanted["name"], wanted["version"], "published"):
            return row.package_id
    made = await store_snapshots.add_package(tx, package(wanted), author)
    await store_snapshots.set_package_state(tx, made.package_id, "published")
    return made.package_id


async def _send(access: Access, model: UUID, seed: int, tell: Callable[[str], None]) -> None:
    """In UTF-16, as real documents come, and with one fact that a person then corrects."""
    document = sample_maker.document(Category.LMT, seed)
    document["generalProductInformation"]["batteryMass"] = "not weighed"
    raw = sample_maker.as_json(document).decode().encode("utf-16")
    sent = Delivered(raw=raw, name="datasheet.json", role="facts", media_type="application/json", author=access.actor)
    async with access.transaction() as tx:
        job_id = (await send_document(tx, model, sent)).job_id
    if job_id is not None:
        await access.client.wait(job_id, timeout=_PATIENCE_SECONDS)
    async with access.transaction() as tx:
        await state_fact(tx, model, pointer=_WRONG, value=24.5, unit="kg", author=access.actor)
        facts = await store_facts.current_facts(tx, model)
    found = completeness(Category.LMT, {row.pointer or "": row.as_fact().value for row in facts})
    tell(f"facts       {len(facts)}, {found.share} % of what the category requires")


async def _version(access: Access, model: UUID, package: UUID) -> Version:
    order = Order(package_id=package, issued_at=datetime.now(UTC), activate=True, author=access.actor)
    async with access.transaction() as tx:
        made = await compile_version(tx, model, None, order)
    return await wait_for(access, made.id, seconds=_PATIENCE_SECONDS)


async def _check(access: Access, version_id: UUID, tell: Callable[[str], None]) -> None:
    async with access.transaction() as tx:
        version = await store_versions.signed_version(tx, version_id)
        keys = await store_keys.public_keys(tx)
        made = {reader: await store_versions.bundle_of(tx, version, reader) for reader in Reader}
    for reader, bundle in made.items():
        verdict = verify(bundle, keys)
        tell(f"check       {reader}: {'good' if verdict.ok else verdict.findings}, {len(bundle.payload)} bytes")


async def _bulk(
    access: Access, model: UUID, package: UUID, batteries: int, seed: int, tell: Callable[[str], None]
) -> None:
    order = Order(package_id=package, issued_at=datetime.now(UTC), activate=True, author=access.actor)
    raw = sample_maker.sheet(batteries, seed)
    sent = Delivered(raw=raw, name="serials.csv", role="sheet", media_type="text/csv", author=access.actor)
    async with access.transaction() as tx:
        sheet = await send_document(tx, model, sent)
        bulk_id = await request_bulk(tx, model, sheet.id, order)
    counts = await wait_for_bulk(access, bulk_id, seconds=_PATIENCE_SECONDS)
    tell(f"batteries   {counts.get('active', 0)} passports of single batteries are active")
