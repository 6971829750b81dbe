"""Requests that name an Idempotency-Key: what was answered before, and keeping what is answered now."""

import json
from dataclasses import dataclass
from uuid import UUID

from leasehold.database.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An answer as it was given."""

    status: int
    headers: dict[str, str]
    answer: str


async def begin_request(db: Database, tenant: UUID, key: str, fingerprint: bytes) -> Stored | None:
    """The answer of before, or None: then answer, and keep it in the same transaction."""
    rows = await db.call("reserve_request", key, fingerprint, tenant=tenant)
    if not rows:
        return None
    return Stored(status=rows[0]["status"], headers=json.loads(rows[0]["headers"]), answer=rows[0]["answer"])


async def end_request(db: Database, tenant: UUID, key: str, stored: Stored) -> None:
    await db.call("store_response", key, stored.status, json.dumps(stored.headers), stored.answer, tenant=tenant)
