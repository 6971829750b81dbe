"""What people ask for, over HTTP or at the command line: each in one transaction, with the job that goes on with it."""

import asyncio
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from leasehold import Transaction
from leasehold.errors import NotFound
from leasehold_packs.passports import store_facts, store_keys, store_versions
from leasehold_packs.passports.model_jobs import DocumentOrder, PassportOrder, VersionsOrder
from leasehold_packs.passports.store import QUEUE, tell
from leasehold_packs.passports.store_facts import Delivered, receive_document
from leasehold_packs.passports.store_versions import Order, get_version, open_snapshot, request_version, seal_snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was made, and the job that goes on with it, if there is one."""

    id: UUID
    job_id: UUID | None


async def send_document(tx: Transaction, passport_id: UUID, sent: Delivered) -> Asked:
    """Keep a document; facts are read by a job. The same bytes again change nothing."""
    received = await receive_document(tx, passport_id, sent)
    if sent.role != "facts" or not received.is_new:
        return Asked(id=received.version_id, job_id=None)
    job = await tx.enqueue("passports.parse", DocumentOrder(document_version_id=received.version_id))
    return Asked(id=received.version_id, job_id=job.job_id)


async def state_fact(tx: Transaction, passport_id: UUID, *, author: str, **stated: Any) -> int:
    """What a person states, and a new look at how complete the passport is."""
    made = await store_facts.state_fact(tx, passport_id, author=author, **stated)
    await tx.enqueue("passports.check_completeness", PassportOrder(passport_id=passport_id))
    return made


async def dismiss_fact(tx: Transaction, passport_id: UUID, fact_id: int) -> None:
    await store_facts.dismiss_fact(tx, passport_id, fact_id)
    await tx.enqueue("passports.check_completeness", PassportOrder(passport_id=passport_id))


async def arrange(client: Any) -> None:
    """What comes by the clock for a tenant, put there once: it may change or pause it afterwards."""
    for name, cron in (("passports.expire_documents", "15 0 * * *"), ("passports.replay", "0 3 * * *")):
        try:
            await client.schedules.get(name)
        except NotFound:
            await client.schedules.put(name, name, cron=cron, jitter=600, queue=QUEUE)


async def ask_to_prove(tx: Any) -> Any:
    """The job that looks whether the host of the issuer publishes its challenge."""
    issuer = await store_keys.get_issuer(tx)
    await tx.log("passports.prove_host", issuer["slug"], {"host": issuer["host"]})
    return await tx.enqueue("passports.prove_host")


async def ask_for_version(tx: Transaction, passport_id: UUID, snapshot_id: UUID | None, order: Order) -> Asked:
    """A version of this snapshot, or of the facts as they are now."""
    if snapshot_id is None:
        snapshot_id = await open_snapshot(tx, passport_id, order.author)
        await seal_snapshot(tx, snapshot_id)
    version_id = await request_version(tx, passport_id, snapshot_id, order)
    job = await tx.enqueue("passports.compile", VersionsOrder(versions=[version_id]))
    return Asked(id=version_id, job_id=job.job_id)


async def revoke_version(tx: Transaction, version_id: UUID, reason: str) -> None:
    version = await get_version(tx, version_id)
    await store_versions.revoke_version(tx, version_id, reason)
    await tell(tx, "passport.revoked", passport=version["passport_id"], version=version_id, reason=reason)


async def wait_for(access: Any, version_id: UUID, *, seconds: float) -> Any:
    """The version when its jobs are done with it. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while True:
            async with access.transaction() as tx:
                version = await get_version(tx, version_id)
            if version["state"] not in ("requested", "compiled", "signed"):
                return version
            await asyncio.sleep(0.1)
