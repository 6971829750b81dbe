"""The issuer of a tenant and its keys. Private keys are secrets of the tenant: only attempts open them."""

import base64
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from leasehold import ReadOnlyTransaction, Transaction
from leasehold.errors import Conflict
from leasehold_packs.passports.errors import Code, PassportError, invalid
from leasehold_packs.passports.keys import PublicKey, did_web
from leasehold_packs.passports.model import Issuer, Key, SigningKey, StoredKey
from leasehold_packs.passports.proof import whole_second
from leasehold_packs.passports.store import require_row
from leasehold_packs.rows.values import value_of

_CLOCKS_DIFFER = timedelta(minutes=5)
_LOOPBACK = re.compile(r"(localhost|.*\.localhost|127(\.[0-9]{1,3}){3})(:[0-9]+)?")


async def set_issuer(tx: Transaction, *, slug: str, name: str, host: str, development: bool) -> Issuer:
    """Who signs. Slug and host make the did, so they stay as they are once there is a key.

    Another host has to be proven anew; a loopback host, which a development installation alone has, needs no proof.
    """
    did = did_web(host, "v1", "passports", "issuers", slug)
    is_loopback = _LOOPBACK.fullmatch(host) is not None
    if is_loopback and not development:
        raise invalid(f"{host} is a loopback host", hint="name the public host that the links of QR codes lead to")
    if not await tx.fetchval(
        "select leasehold_passports.set_issuer($1, $2, $3, $4, $5)", tx.tenant_id, slug, name, host, did
    ):
        raise Conflict("the issuer has keys, so its slug and host cannot change", hint="only its name can")
    if is_loopback:
        await tx.fetchval("select leasehold_passports.prove_host(null)")
    return await get_issuer(tx)


async def get_issuer(tx: Transaction) -> Issuer:
    query = "select slug, name, host, did, challenge, host_proven_at from leasehold_passports.issuer"
    found = await require_row(tx, "issuer", query)
    return value_of(Issuer, found, proof_url=proof_url(found["host"]))


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
    key = PublicKey(issuer=issuer.did, raw=private.public_key().public_bytes_raw(), not_before=moment)
    secret = f"passports.key.{uuid4().hex}"
    await tx.put_secret(secret, base64.b64encode(private.private_bytes_raw()).decode())
    await tx.execute(
        "select leasehold_passports.rotate_key($1, $2, $3, $4, $5, $6)",
        tx.tenant_id, key.key_id, key.issuer, key.raw, secret, moment,
    )  # fmt: skip
    return key


async def first_key(tx: Transaction, now: datetime) -> None:
    """A key for an issuer that has none."""
    if await tx.fetchrow(_CURRENT) is None:
        await rotate_key(tx, now)


async def revoke_key(tx: Transaction, key_id: str, since: datetime) -> None:
    """From this moment on nothing that it signed holds."""
    query = (
        "update leasehold_passports.signing_key set revoked_at = $2 where key_id = $1 and revoked_at is null"
        " returning key_id"
    )
    await require_row(tx, "key that is not revoked", query, key_id, whole_second(since))


async def list_keys(tx: Transaction) -> list[Key]:
    """All keys, oldest first."""
    query = "select key_id, issuer, not_before, not_after, revoked_at from leasehold_passports.signing_key"
    return [value_of(Key, row) for row in await tx.fetch(f"{query} order by not_before")]


async def public_keys(tx: Transaction) -> list[PublicKey]:
    """The same as those who check use them."""
    query = "select issuer, public_key, not_before, not_after, revoked_at from leasehold_passports.signing_key"
    return [value_of(StoredKey, row).as_public_key() for row in await tx.fetch(f"{query} order by not_before")]


async def published_keys(
    tx: Transaction | ReadOnlyTransaction, *, slug: str | None = None, did: str | None = None
) -> list[PublicKey]:
    """The public keys of an issuer, by its slug or its did."""
    rows = await tx.fetch("select * from leasehold_passports.public_keys($1, $2)", slug, did)
    return [value_of(StoredKey, row).as_public_key() for row in rows]


async def usable_key(tx: Transaction, issued_at: datetime) -> SigningKey:
    """The key that signs a version of this moment, which must lie within its time."""
    if await tx.fetchval("select host_proven_at is null from leasehold_passports.issuer"):
        raise PassportError(
            Code.HOST_NOT_PROVEN,
            "the host of the issuer is not proven",
            hint="publish its challenge there, and prove it",
        )
    row = await tx.fetchrow(_CURRENT)
    if row is None:
        raise PassportError(Code.SIGNING_KEY_MISSING, "there is no key to sign with", hint="make one for the issuer")
    if not row["not_before"] <= whole_second(issued_at) <= datetime.now(UTC) + _CLOCKS_DIFFER:
        raise invalid(
            "issued_at is before the key was made, or in the future", hint="leave it out: then it is the present moment"
        )
    return SigningKey(key_id=row["key_id"], issuer=row["issuer"], secret=row["secret"], is_current=True)


async def keys_to_sign(tx: Transaction, versions: Sequence[UUID]) -> dict[str, SigningKey]:
    """The keys that these versions are to be signed with, and the one that signs now, for the head of the log."""
    rows = await tx.fetch("select * from leasehold_passports.keys_to_sign($1)", list(versions))
    return {row["key_id"]: value_of(SigningKey, row) for row in rows}


async def keys_by_id(tx: Transaction, key_ids: Iterable[str]) -> dict[str, StoredKey]:
    """The keys by id, each with its issuer."""
    rows = await tx.fetch(
        "select key_id, issuer, public_key, not_before, not_after, revoked_at from leasehold_passports.signing_key"
        " where key_id = any($1::text[])",
        list(set(key_ids)),
    )
    return {row["key_id"]: value_of(StoredKey, row) for row in rows}


async def signs_now(tx: Transaction, key_id: str) -> bool:
    """Whether this is still the key that signs; it stays so until the transaction ends."""
    query = (
        "select 1 from leasehold_passports.signing_key"
        " where key_id = $1 and not_after is null and revoked_at is null for share"
    )
    return await tx.fetchval(query, key_id) is not None


#: The key that signs now.
_CURRENT = (
    "select key_id, issuer, secret, not_before from leasehold_passports.signing_key"
    " where not_after is null and revoked_at is null"
)
