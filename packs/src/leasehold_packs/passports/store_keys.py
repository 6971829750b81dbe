"""The issuer of a tenant and its keys. Private keys are secrets of the tenant: only attempts open them."""

import base64
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from leasehold import Transaction
from leasehold.errors import Conflict
from leasehold_packs.passports.errors import Code, PassportError, invalid
from leasehold_packs.passports.keys import PublicKey, did_web
from leasehold_packs.passports.store import TENANT, one, whole_second

_CLOCKS_DIFFER = timedelta(minutes=5)
_LOOPBACK = re.compile(r"(localhost|.*\.localhost|127(\.[0-9]{1,3}){3})(:[0-9]+)?")


async def set_issuer(tx: Transaction, *, slug: str, name: str, host: str, development: bool) -> Any:
    """Who signs. Slug and host make the did, so they stay as they are once there is a key.

    Another host has to be proven anew; a loopback host, which a development installation alone has, needs no proof.
    """
    did = did_web(host, "v1", "passports", "issuers", slug)
    is_loopback = _LOOPBACK.fullmatch(host) is not None
    if is_loopback and not development:
        raise invalid(f"{host} is a loopback host", hint="name the public host that the links of QR codes lead to")
    made = await tx.fetchrow(
        "insert into leasehold_passports.issuer as i (tenant_id, slug, name, host, did)"
        f" values ({TENANT}, $1, $2, $3, $4)"
        " on conflict (tenant_id) do update"
        " set slug = excluded.slug, name = excluded.name, host = excluded.host, did = excluded.did,"
        "   challenge = case when i.host = excluded.host then i.challenge else excluded.challenge end,"
        "   host_proven_at = case when i.host = excluded.host then i.host_proven_at end"
        " where i.did = excluded.did or not exists (select from leasehold_passports.signing_key) returning *",
        slug, name, host, did,
    )  # fmt: skip
    if made is None:
        raise Conflict("the issuer has keys, so its slug and host cannot change", hint="only its name can")
    if is_loopback:
        await tx.fetchval("select leasehold_passports.prove_host(null)")
    return await get_issuer(tx)


async def get_issuer(tx: Transaction) -> Any:
    columns = "slug, name, host, did, challenge, host_proven_at"
    found = await one(tx, "issuer", f"select {columns} from leasehold_passports.issuer")
    return {**found, "proof_url": proof_url(found["host"])}


def proof_url(host: str) -> str:
    """Where the challenge of an issuer is published that proves its host."""
    return f"https://{host}/.well-known/leasehold-passports"


async def prove_host(tx: Transaction, published: Sequence[str]) -> datetime:
    """The host is the tenant's if its challenge is among the words that are published there; Conflict if not."""
    proven_at: datetime = await tx.fetchval("select leasehold_passports.prove_host($1)", list(published))
    return proven_at


async def rotate_key(tx: Transaction, now: datetime) -> PublicKey:
    """A new key, which signs from now on. The one before verifies what it has signed."""
    issuer = await get_issuer(tx)
    moment = whole_second(now)
    private = Ed25519PrivateKey.generate()
    key = PublicKey(issuer=issuer["did"], raw=private.public_key().public_bytes_raw(), not_before=moment)
    secret = f"passports.key.{uuid4().hex}"
    await tx.put_secret(secret, base64.b64encode(private.private_bytes_raw()).decode())
    await tx.execute(
        "update leasehold_passports.signing_key set not_after = $1 where not_after is null and revoked_at is null",
        moment,
    )
    await tx.execute(
        "insert into leasehold_passports.signing_key (tenant_id, key_id, issuer, public_key, secret, not_before)"
        f" values ({TENANT}, $1, $2, $3, $4, $5)",
        key.key_id, key.issuer, key.raw, secret, moment,
    )  # fmt: skip
    return key


async def first_key(tx: Transaction, now: datetime) -> None:
    """A key for an issuer that has none."""
    if await signing_key(tx) is None:
        await rotate_key(tx, now)


async def revoke_key(tx: Transaction, key_id: str, since: datetime) -> None:
    """From this moment on nothing that it signed holds."""
    query = (
        "update leasehold_passports.signing_key set revoked_at = $2 where key_id = $1 and revoked_at is null"
        " returning key_id"
    )
    await one(tx, "key that is not revoked", query, key_id, whole_second(since))


async def list_keys(tx: Transaction) -> list[Any]:
    return await tx.fetch(
        "select key_id, issuer, public_key, not_before, not_after, revoked_at from leasehold_passports.signing_key"
        " order by not_before"
    )


async def usable_key(tx: Transaction, issued_at: datetime) -> Any:
    """The key that signs a version of this moment, which must lie within its time."""
    if await tx.fetchval("select host_proven_at is null from leasehold_passports.issuer"):
        raise PassportError(
            Code.HOST_NOT_PROVEN,
            "the host of the issuer is not proven",
            hint="publish its challenge there, and prove it",
        )
    key = await signing_key(tx)
    if key is None:
        raise PassportError(Code.SIGNING_KEY_MISSING, "there is no key to sign with", hint="make one for the issuer")
    if not key["not_before"] <= whole_second(issued_at) <= datetime.now(UTC) + _CLOCKS_DIFFER:
        raise invalid(
            "issued_at is before the key was made, or in the future", hint="leave it out: then it is the present moment"
        )
    return key


async def signing_key(tx: Transaction) -> Any:
    """The one that signs now, or None."""
    return await tx.fetchrow(
        "select key_id, issuer, secret, not_before from leasehold_passports.signing_key"
        " where not_after is null and revoked_at is null"
    )


async def signs_now(tx: Transaction, key_id: str) -> bool:
    """Whether this is still the key that signs; it stays so until the transaction ends."""
    query = (
        "select 1 from leasehold_passports.signing_key"
        " where key_id = $1 and not_after is null and revoked_at is null for share"
    )
    return await tx.fetchval(query, key_id) is not None


def public_key(row: Any) -> PublicKey:
    return PublicKey(
        issuer=row["issuer"],
        raw=bytes(row["public_key"]),
        not_before=row["not_before"],
        not_after=row["not_after"],
        revoked=row["revoked_at"],
    )
