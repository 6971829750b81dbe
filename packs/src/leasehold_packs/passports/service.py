"""What people ask for, over HTTP or at the command line: each in one transaction, with the job that goes on with it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from leasehold import Access, Enqueued, Transaction
from leasehold.errors import NotFound
from leasehold_packs.passports import store_facts, store_keys, store_versions
from leasehold_packs.passports.errors import PassportError, abandoned, invalid
from leasehold_packs.passports.model import Order, Version
from leasehold_packs.passports.model_jobs import QUEUE, BulkOrder, DocumentOrder, PassportOrder, VersionsOrder
from leasehold_packs.passports.store import emit, emit_all, get_passport
from leasehold_packs.passports.store_facts import Delivered, get_document, receive_document
from leasehold_packs.passports.store_keys import usable_key
from leasehold_packs.passports.store_snapshots import open_snapshot, published_package, seal_snapshot
from leasehold_packs.passports.store_versions import get_version, request_version

_IN_WORK = {"requested", "compiled", "signed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Requested:
    """What was made, and the job that goes on with it, if there is one."""

    id: UUID
    job_id: UUID | None


async def send_document(tx: Transaction, passport_id: UUID, sent: Delivered) -> Requested:
    """Keep a document; facts are read by a job. The same bytes again change nothing."""
    received = await receive_document(tx, passport_id, sent)
    if sent.role != "facts" or not received.is_new:
        return Requested(id=received.version_id, job_id=None)
    job = await tx.enqueue("passports.parse", DocumentOrder(document_version_id=received.version_id))
    return Requested(id=received.version_id, job_id=job.job_id)


async def state_fact(
    tx: Transaction, passport_id: UUID, *, pointer: str, value: object, unit: str | None, author: str
) -> int:
    """What a person states, and a new look at how complete the passport is."""
    made = await store_facts.state_fact(tx, passport_id, pointer=pointer, value=value, unit=unit, author=author)
    await tx.enqueue("passports.check_completeness", PassportOrder(passport_id=passport_id))
    return made


async def dismiss_fact(tx: Transaction, passport_id: UUID, fact_id: int) -> None:
    await store_facts.dismiss_fact(tx, passport_id, fact_id)
    await tx.enqueue("passports.check_completeness", PassportOrder(passport_id=passport_id))


async def schedule(client: Any) -> None:
    """What comes by the clock for a tenant, put there once: it may change or pause it afterwards."""
    for name, cron in (("passports.expire_documents", "15 0 * * *"), ("passports.replay", "0 3 * * *")):
        try:
            await client.schedules.get(name)
        except NotFound:
            await client.schedules.put(name, name, cron=cron, jitter=600, queue=QUEUE)


async def request_proof(tx: Transaction) -> Enqueued:
    """The job that looks whether the host of the issuer publishes its challenge."""
    issuer = await store_keys.get_issuer(tx)
    await tx.log("passports.prove_host", issuer.slug, {"host": issuer.host})
    return await tx.enqueue("passports.prove_host")


# -- versions -------------------------------------------------------------------------------------


async def compile_version(tx: Transaction, passport_id: UUID, snapshot_id: UUID | None, order: Order) -> Requested:
    """Ask for a version of this snapshot, or of the facts as they are now."""
    if snapshot_id is None:
        snapshot_id = await open_snapshot(tx, passport_id, order.author)
        await seal_snapshot(tx, snapshot_id)
    version_id = await request_version(tx, passport_id, snapshot_id, order)
    job = await tx.enqueue("passports.compile", VersionsOrder(versions=[version_id]))
    return Requested(id=version_id, job_id=job.job_id)


async def activate(tx: Transaction, versions: Sequence[Version]) -> None:
    """Versions take the place of the active ones."""
    if not versions:
        return
    before = await store_versions.activate_versions(tx, versions)
    superseded = {passport: str(version) for passport, version in before.items()}
    await emit_all(
        tx,
        "passport.activated",
        [
            (v.passport_id, v.version_id, {"number": v.number, "superseded": superseded.get(v.passport_id)})
            for v in versions
        ],
    )


async def fail(tx: Transaction, version: Version, problem: PassportError) -> None:
    """Give a version up."""
    await store_versions.fail_version(tx, version.version_id, problem)
    about = {"number": version.number, "code": problem.code, "message": str(problem)[:2000]}
    await emit(tx, "passport.failed", passport=version.passport_id, version=version.version_id, **about)


async def abandon(tx: Transaction, version: Version, reason: str) -> None:
    await fail(tx, version, abandoned(reason))


async def revoke_version(tx: Transaction, version_id: UUID, reason: str) -> None:
    version = await get_version(tx, version_id)
    await store_versions.revoke_version(tx, version_id, reason)
    await emit(tx, "passport.revoked", passport=version.passport_id, version=version_id, reason=reason)


async def wait_for(access: Access, version_id: UUID, *, seconds: float) -> Version:
    """The version when its jobs are done with it. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while True:
            async with access.transaction() as tx:
                version = await get_version(tx, version_id)
            if version.state not in _IN_WORK:
                return version
            await asyncio.sleep(0.1)


# -- bulks ----------------------------------------------------------------------------------------


async def request_bulk(tx: Transaction, model_id: UUID, document_version_id: UUID, order: Order) -> UUID:
    """The facts of the model are sealed now: batteries of one bulk are all based on the same."""
    if (await get_document(tx, document_version_id)).role != "sheet":
        raise invalid("a bulk is made from a document with the role sheet")
    if (await get_passport(tx, model_id)).gtin is None:
        raise invalid("serial numbers need a GTIN, which this model does not have")
    await published_package(tx, order.package_id)
    key = await usable_key(tx, order.issued_at)
    base_id = await open_snapshot(tx, model_id, order.author)
    await seal_snapshot(tx, base_id)
    bulk_id = await store_versions.add_bulk(tx, model_id, document_version_id, base_id, order, key.key_id)
    await tx.enqueue("passports.bulk", BulkOrder(bulk_id=bulk_id))
    return bulk_id


async def wait_for_bulk(access: Access, bulk_id: UUID, *, seconds: float) -> dict[str, int]:
    """How many versions of a bulk are in which state, when its jobs are done with it. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while True:
            async with access.transaction() as tx:
                bulk = await store_versions.get_bulk(tx, bulk_id)
                counts = await store_versions.count_states(tx, bulk.base_id)
            if bulk.state == "done" and sum(counts.values()) == bulk.made and _IN_WORK.isdisjoint(counts):
                return counts
            await asyncio.sleep(0.2)
