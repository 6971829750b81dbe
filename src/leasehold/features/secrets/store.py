"""Tenants' secrets: keep, list, open and remove them; seal them anew under the newest key."""

from typing import Any
from uuid import UUID

from leasehold.database.database import Database
from leasehold.errors import BadSetting, NotFound
from leasehold.features.secrets.model import SecretInfo
from leasehold.postgres import Home, instance_home
from leasehold.sealing import Keys, Sealed
from leasehold.settings import Settings

_KEY = "secret_key"
_PAGE = 500


def secret_keys(settings: Settings) -> Keys:
    """``LEASEHOLD_SECRET_KEYS`` or its file; with the embedded PostgreSQL also the key that its folder keeps."""
    if settings.secret_keys:
        return Keys(settings.secret_keys.split(","))
    if settings.secret_keys_file:
        return Keys(_lines(settings))
    if settings.database_url or settings.worker_url or settings.api_url or settings.operator_url:
        raise BadSetting(
            "LEASEHOLD_SECRET_KEYS is not set, and nothing may be sealed with a key of this machine alone",
            hint="set it to a secret text of at least 32 characters, the same for every process:"
            ' python -c "import secrets; print(secrets.token_urlsafe(32))"',
        )
    return Keys([Home(instance_home(settings.home)).secret(_KEY)])


def _lines(settings: Settings) -> list[str]:
    path = settings.secret_keys_file
    assert path is not None
    try:
        lines = [line.strip() for line in path.read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "it is not text"
        raise BadSetting(f"LEASEHOLD_SECRET_KEYS_FILE: {path} cannot be read: {why}") from None
    if not lines or any(len(line) < 32 for line in lines):
        raise BadSetting(f"LEASEHOLD_SECRET_KEYS_FILE: {path} does not have lines of at least 32 characters")
    return lines


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
