"""Reports: the lines of named ones, and what was made of them."""

import time
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from leasehold import json_codec
from leasehold.database.database import Database
from leasehold.features.blobs.store import Body
from leasehold.features.reports.model import Report

if TYPE_CHECKING:
    from leasehold.sealing import Keys

_PAGE = 1000


async def lines(
    db: Database, tenant: UUID, name: str, period: tuple[datetime, datetime], filters: Mapping[str, str]
) -> AsyncIterator[dict[str, Any]]:
    """The lines of a named report, page by page."""
    after: UUID | None = None
    text = json_codec.encode(filters, what="filter")
    while rows := await db.call(f"report_{name}", *period, text, after, _PAGE, tenant=tenant):
        for row in rows:
            yield json_codec.decode(row["line"])
        after = rows[-1]["last"]
        if after is None:  # all in one
            return


async def now(db: Database) -> datetime:
    """The moment by the clock that jobs are dated with."""
    moment: datetime = await db.value("now")
    return moment


async def put_report(
    db: Database,
    tenant: UUID,
    report: UUID,
    *,
    name: str,
    title: str,
    format_: str,
    body: Body,
    lines: int,
    days: float,
) -> datetime:
    """Note what a job has made; until when it is there."""
    digest = bytes.fromhex(body.sha256)
    about = name, title, format_, body.media_type, digest, body.size, lines, days
    expires: datetime = await db.value("put_report", report, *about, tenant=tenant)
    return expires


async def list_reports(
    db: Database, tenant: UUID, report: UUID | None = None, *, before: UUID | None = None, limit: int = 50
) -> list[Report]:
    rows = await db.call("list_reports", report, before, limit, tenant=tenant)
    return [Report(**dict(row) | {"sha256": row["sha256"].hex()}) for row in rows]


async def remove_report(db: Database, tenant: UUID, report: UUID) -> None:
    await db.call("remove_report", report, tenant=tenant)


def signed_link(keys: "Keys", report: UUID, until: datetime, *, base: str | None) -> str:
    """Where whoever has this link may read the report until then, without a key."""
    expires = int(until.timestamp())
    signature = keys.sign(_about(report, expires))
    return f"{(base or '').rstrip('/')}/v1/reports/{report}/file?expires={expires}&signature={signature}"


def is_signed(keys: "Keys", report: UUID, expires: int, signature: str) -> bool:
    """Whether we made this link, and it still holds."""
    return keys.has_signed(_about(report, expires), signature) and expires > time.time()


async def find_report(db: Database, report: UUID) -> UUID | None:
    """Whose report it is."""
    tenant: UUID | None = await db.value("find_report", report)
    return tenant


def _about(report: UUID, expires: int) -> str:
    return f"report {report} until {expires}"


async def purge_reports(db: Database) -> int:
    return int(await db.value_long("purge_reports"))
