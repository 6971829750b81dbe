"""What people ask for, over HTTP or at the command line: each in one transaction, with the job that goes on with it."""

import asyncio
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from leasehold_packs.passports.model import DocumentOrder, VersionsOrder
from leasehold_packs.passports.store import Desk
from leasehold_packs.passports.store_facts import Delivered, receive_document
from leasehold_packs.passports.store_versions import Order, get_version, open_snapshot, request_version, seal_snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was made, and the job that goes on with it, if there is one."""

    id: UUID
    job_id: UUID | None


async def send_document(tx: Desk, passport_id: UUID, sent: Delivered) -> Asked:
    """Keep a document; facts are read by a job. The same bytes again change nothing."""
    received = await receive_document(tx, passport_id, sent)
    if sent.role != "facts" or not received.is_new:
        return Asked(id=received.version_id, job_id=None)
    job = await tx.enqueue("passports.parse", DocumentOrder(document_version_id=received.version_id))
    return Asked(id=received.version_id, job_id=job.job_id)


async def ask_for_version(tx: Desk, passport_id: UUID, snapshot_id: UUID | None, order: Order) -> Asked:
    """A version of this snapshot, or of the facts as they are now."""
    if snapshot_id is None:
        snapshot_id = await open_snapshot(tx, passport_id, order.author)
        await seal_snapshot(tx, snapshot_id)
    version_id = await request_version(tx, passport_id, snapshot_id, order)
    job = await tx.enqueue("passports.compile", VersionsOrder(versions=[version_id]))
    return Asked(id=version_id, job_id=job.job_id)


async def wait_for(access: Any, version_id: UUID, *, seconds: float) -> Any:
    """The version when its jobs are done with it. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while True:
            async with access.transaction() as tx:
                version = await get_version(tx, version_id)
            if version["state"] not in ("requested", "compiled", "signed"):
                return version
            await asyncio.sleep(0.1)
