"""Tenants' secrets: keep, list, open and remove them; seal them anew under the newest key."""

from typing import Any
from uuid import UUID

from leasehold.database.database import Database
from leasehold.errors import NotFound
from leasehold.features.secrets.model import SecretInfo
from leasehold.sealing import Keys, Sealed

_PAGE = 500


async def put_secret(db: Database, tenant: UUID, name: str, value: str, keys: Keys) -> None:
    """Keep a secret, in the place of the one that has its name."""
    sealed = keys.seal(value, tenant=tenant, name=name)
    await db.call("put_secret", name, sealed.key_id, sealed.wrapped, sealed.box, tenant=tenant)


async def open_secret(db: Database, tenant: UUID, name: str, keys: Keys) -> str:
    """The secret itself: for attempts only."""
    rows = await db.call("get_secret", name, tenant=tenant)
    if not rows:
        raise NotFound(f"there is no secret {name!r}", hint=f"leasehold secrets set {name}")
    return keys.open(Sealed(tenant_id=tenant, name=name, **dict(rows[0])))


async def list_secrets(db: Database, tenant: UUID) -> list[SecretInfo]:
    return [SecretInfo(**row) for row in await db.call("list_secrets", tenant=tenant)]


async def remove_secret(db: Database, tenant: UUID, name: str) -> None:
    await db.call("remove_secret", name, tenant=tenant)


async def rewrap_all(db: Database, keys: Keys) -> int:
    """Seal the keys of all tenants' secrets under the newest key; how many were under another one."""
    done = 0
    while page := await db.call("list_wrapped", keys.newest, _PAGE):
        for row in page:
            done += await _rewrap(db, keys, row)
    return done


async def _rewrap(db: Database, keys: Keys, row: Any) -> int:
    old = Sealed(**dict(row), box=b"")
    new = keys.rewrap(old)
    # Nothing happens to one that was set anew meanwhile: that one is under the newest key already.
    return int(await db.value("rewrap_secret", old.tenant_id, old.name, old.wrapped, new.key_id, new.wrapped))
