"""``passports.export``: what a reader may see of many passports, as files that can be checked offline.

A file is a report of the engine: it has a link that can be handed out, and is gone when its days are over. One holds as
much as a body may; what is left goes into the next, which a job of its own makes.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold import AttemptTransaction, Context, Leasehold, Transaction
from leasehold_packs.passports.bundle import Bundle
from leasehold_packs.passports.bundle_archive import Archive, Entry
from leasehold_packs.passports.model import ExportedVersion
from leasehold_packs.passports.model_jobs import QUEUE, Exported, ExportOrder
from leasehold_packs.passports.proof import timestamp
from leasehold_packs.passports.store_keys import public_keys
from leasehold_packs.passports.store_versions import bundle_of, list_exported

app = Leasehold()
#: Bytes of a file after which the next one begins. The largest bundle must still fit below what a body may have.
FULL = 10 * 2**20
_AT_ONCE = 50
_ZIP = "application/zip"


@app.handler("passports.export", queue=QUEUE, priority=3, timeout=3600, attempts=5, retry=(2.0, 1024.0))
async def export(ctx: Context, order: ExportOrder) -> Exported:
    """Write one file. Its id is that of this job: an attempt that comes again replaces it."""
    async with ctx.transaction() as tx:
        archive = Archive(await public_keys(tx))
    last = None
    async with ctx.bodies.writer(_ZIP, days=order.keep_days) as out:
        async with aclosing(_bundles(ctx, order)) as found:
            async for entry, bundle in found:
                if archive.size > FULL:
                    break
                await out.write(await asyncio.to_thread(archive.add, entry, bundle))
                last = entry.version_id
            else:
                last = None  # nothing is left
        await out.write(archive.end())
    async with ctx.transaction() as tx:
        expires_at = await _put_report(tx, order, archive.entries, out.body)
        following = (
            await tx.enqueue("passports.export", replace(order, part=order.part + 1, after=last)) if last else None
        )
        made = Exported(
            report_id=ctx.job_id,
            part=order.part,
            versions=archive.entries,
            size=out.body.size,
            sha256=out.body.sha256,
            expires_at=expires_at,
            next_job=following.job_id if following else None,
        )
        about = {"report_id": str(made.report_id), "part": made.part, "versions": made.versions, "size": made.size}
        await tx.emit("passport.exported", "report", str(made.report_id), about)
        return await tx.complete(made)


async def _bundles(ctx: Context, order: ExportOrder) -> AsyncGenerator[tuple[Entry, Bundle], None]:
    """Page by page, in the order of their ids, so that the next file goes on where this one ends."""
    after = order.after
    while True:
        async with ctx.transaction() as tx:
            rows = await _page(tx, order, after)
            made = [(_entry(row), await bundle_of(tx, row, order.reader)) for row in rows]
        for entry, bundle in made:
            yield entry, bundle
            after = entry.version_id
        if len(rows) < _AT_ONCE:
            return
        await ctx.progress(50, f"{after} is written")


async def _page(tx: Transaction, order: ExportOrder, after: UUID | None) -> list[ExportedVersion]:
    states = ["active", "superseded", "revoked"] if order.all_versions else ["active"]
    return await list_exported(tx, states, order.passport_id, after, limit=_AT_ONCE)


def _entry(row: ExportedVersion) -> Entry:
    return Entry(
        passport_id=row.passport_id,
        name=row.name,
        gtin=row.gtin,
        serial=row.serial,
        version_id=row.version_id,
        number=row.number,
        state=row.state,
        issued_at=timestamp(row.issued_at),
    )


async def _put_report(tx: AttemptTransaction, order: ExportOrder, entries: int, body: Any) -> datetime:
    title = f"Passports for {order.reader}, part {order.part}"
    return await tx.put_report("passports", title, file_format="zip", body=body, lines=entries, days=order.keep_days)
