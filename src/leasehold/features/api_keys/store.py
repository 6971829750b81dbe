"""API keys and tickets: make, find, revoke them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold.database.database import Database
from leasehold.errors import BadInput
from leasehold.features.api_keys.model import Holder, KeyInfo, Ticket
from leasehold.tokens import Key, Peppers

_NOBODY = bytes(32)


async def create_key(
    db: Database,
    tenant: UUID,
    key: Key,
    peppers: Peppers,
    *,
    name: str,
    scopes: list[str],
    expires_at: datetime | None,
    queues: list[str] | None = None,
) -> KeyInfo:
    pepper = peppers.newest
    digest = peppers.digest(key, pepper)
    return _info(
        await db.call("create_key", key.key_id, digest, pepper, name, scopes, expires_at, queues, tenant=tenant)
    )


async def create_operator_key(
    db: Database, key: Key, peppers: Peppers, *, name: str, scopes: list[str], expires_at: datetime | None
) -> KeyInfo:
    if scopes not in (["operator"], ["metrics"]):
        raise BadInput("a key of the installation has one scope: operator or metrics", hint="name a tenant for others")
    pepper = peppers.newest
    digest = peppers.digest(key, pepper)
    return _info(await db.call(f"create_{scopes[0]}_key", key.key_id, digest, pepper, name, expires_at))


async def sign_in(db: Database, key: Key, peppers: Peppers) -> Holder | None:
    """Who this key lets in. One look-up and one comparison, whether there is such a key or not."""
    rows = await db.call("find_key", key.key_id)
    digest, pepper = (rows[0]["digest"], rows[0]["pepper_id"]) if rows else (_NOBODY, peppers.newest)
    if not peppers.fits(key, digest, pepper) or not rows or not rows[0]["is_live"]:
        return None
    if not rows[0]["used_lately"]:
        await db.call("touch_key", key.key_id)
    return Holder(key_id=key.key_id, tenant_id=rows[0]["tenant_id"], scopes=frozenset(rows[0]["scopes"]))


async def list_keys(db: Database, tenant: UUID) -> list[KeyInfo]:
    return [KeyInfo(**row) for row in await db.call("list_keys", tenant=tenant)]


async def list_operator_keys(db: Database) -> list[KeyInfo]:
    return [KeyInfo(**row) for row in await db.call("list_operator_keys")]


async def revoke_key(db: Database, tenant: UUID, key_id: str) -> None:
    await db.call("revoke_key", key_id, tenant=tenant)


async def revoke_operator_key(db: Database, key_id: str) -> None:
    await db.call("revoke_operator_key", key_id)


async def create_ticket(
    db: Database, tenant: UUID, digest: bytes, key_id: str, *, job_id: UUID | None = None, flow_id: UUID | None = None
) -> datetime:
    """When the ticket ends."""
    ends: datetime = await db.value("create_ticket", digest, job_id, flow_id, key_id, tenant=tenant)
    return ends


async def take_ticket(db: Database, digest: bytes) -> Ticket | None:
    """It is used up, and worth nothing the next time."""
    rows = await db.call("redeem_ticket", digest)
    if not rows:
        return None
    row = rows[0]
    holder = Holder(key_id=row["key_id"], tenant_id=row["tenant_id"], scopes=frozenset({"jobs:read"}))
    return Ticket(holder=holder, job_id=row["job_id"], flow_id=row["flow_id"])


async def purge_tickets(db: Database) -> int:
    return int(await db.value_long("purge_tickets"))


def _info(rows: list[Any]) -> KeyInfo:
    return KeyInfo(**rows[0])
