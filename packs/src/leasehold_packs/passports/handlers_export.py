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
from leasehold_packs.passports.model_jobs import Exported, ExportOrder
from leasehold_packs.passports.proof import timestamp
from leasehold_packs.passports.store import QUEUE
from leasehold_packs.passports.store_keys import list_keys, public_key
from leasehold_packs.passports.store_versions import bundle_of

app = Leasehold()
#: Bytes of a file after which the next one begins. The largest bundle must still fit below what a body may have.
FULL = 10 * 2**20
_AT_ONCE = 50
_ZIP = "application/zip"


@app.handler("passports.export", queue=QUEUE, priority=3, timeout=3600, attempts=5, retry=(2.0, 1024.0))
async def export(ctx: Context, order: ExportOrder) -> Exported:
    """Write one file. Its id is that of this job: an attempt that comes again replaces it."""
    async with ctx.transaction() as tx:
        archive = Archive([public_key(row) for row in await list_keys(tx)])
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


async def _page(tx: Transaction, order: ExportOrder, after: UUID | None) -> list[Any]:
    states = ["active", "superseded", "revoked"] if order.all_versions else ["active"]
    return await tx.fetch(
        "select v.version_id, v.passport_id, v.number, v.state, v.issued_at, v.receipt, v.proof, v.salt_key,"
        " p.name, p.gtin, p.serial from leasehold_passports.version v"
        " join leasehold_passports.passport p using (tenant_id, passport_id)"
        " where v.state = any($1::text[]) and ($2::uuid is null or p.passport_id = $2 or p.model_id = $2)"
        " and ($3::uuid is null or v.version_id > $3) order by v.version_id limit $4",
        states, order.passport_id, after, _AT_ONCE,
    )  # fmt: skip


def _entry(row: Any) -> Entry:
    names = ("passport_id", "name", "gtin", "serial", "version_id", "number", "state")
    return Entry(**{name: row[name] for name in names}, issued_at=timestamp(row["issued_at"]))


async def _put_report(tx: AttemptTransaction, order: ExportOrder, entries: int, body: Any) -> datetime:
    title = f"Passports for {order.reader}, part {order.part}"
    return await tx.put_report("passports", title, file_format="zip", body=body, lines=entries, days=order.keep_days)
