"""Bytes of a tenant by the digest of what they are, compressed, each kept once and for a while."""

import asyncio
import secrets
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING
from uuid import UUID

import asyncpg

from leasehold.database.database import Database
from leasehold.errors import BadInput, BadSetting, Conflict, NotFound, TooLarge

if TYPE_CHECKING:
    from leasehold.features.blobs.object_store import ObjectStore
    from leasehold.fetch.response import Fetched

#: Bytes of one body, as they are and compressed.
MAX_SIZE = 256 * 1024 * 1024
MAX_PACKED = 16 * 1024 * 1024
_PIECE = 64 * 1024
#: Bytes of a body that stays in PostgreSQL although there is an object store.
_SMALL = 8 * 1024
#: How long a body stays that is about to be held under a name.
_BRIEF_DAYS = 1 / 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What is kept under a digest, which is written in hexadecimal digits."""

    sha256: str
    size: int
    media_type: str


class Bodies:
    """The bodies of one tenant."""

    def __init__(self, db: Database, tenant: UUID, *, days: float, objects: "ObjectStore | None" = None) -> None:
        self._db, self._tenant, self._days, self._objects = db, tenant, days, objects

    async def put(
        self, data: bytes, media_type: str = "application/octet-stream", *, days: float | None = None
    ) -> Body:
        """Keep these bytes for at least so many days; the same bytes are kept once."""
        async with self.writer(media_type, days=days) as out:
            await out.write(data)
        return out.body

    @asynccontextmanager
    async def writer(
        self, media_type: str = "application/octet-stream", *, days: float | None = None
    ) -> AsyncIterator["Writer"]:
        """``async with ctx.bodies.writer("text/csv") as out: await out.write(…)``; then ``out.body`` was kept."""
        out = Writer(media_type)
        yield out
        await self._keep(out.body, out.pack(), days=float(self._days if days is None else days))

    async def _keep(self, body: Body, packed: bytes, *, days: float) -> None:
        digest = bytes.fromhex(body.sha256)
        about = digest, body.size, body.media_type, days
        if self._objects is None or len(packed) <= _SMALL:
            await self._db.call("put_blob", *about, packed, "zlib", tenant=self._tenant)
        elif not await self._db.call("extend_blob_retention", digest, days, tenant=self._tenant):
            # A key of its own for each upload: what somebody else is about to remove is never what we have just put.
            key = f"{self._tenant}/{body.sha256}/{secrets.token_hex(8)}"
            await self._db.call("register_object", key)
            await self._objects.put(key, packed)
            await self._db.call("put_blob", *about, None, "zlib", key, tenant=self._tenant)

    async def get(self, digest: str) -> bytes:
        """The bytes with this digest, or NotFound."""
        return b"".join([piece async for piece in self.chunks(digest)])

    async def chunks(self, digest: str) -> AsyncIterator[bytes]:
        """The same in pieces. Bytes that are not what the digest says are refused with the last piece."""
        row = await self._row(digest)
        packed = row["bytes"] if row["object_key"] is None else await self._object(row["object_key"])
        hashed = sha256()
        for piece in _unpacked(packed, row["coding"], row["size"]):
            hashed.update(piece)
            yield piece
            await asyncio.sleep(0)  # others have their turn
        if hashed.hexdigest() != digest:
            raise Conflict(f"the body {digest} is not what was put", hint="restore it from a backup, or put it again")

    async def look(self, digest: str) -> Body:
        """What is kept under this digest, or NotFound."""
        row = await self._row(digest)
        return Body(sha256=digest, size=row["size"], media_type=row["media_type"])

    async def keep(self, digest: str, *, days: float) -> None:
        """Keep a body for at least so many days from now; NotFound if it is gone."""
        if not await extend_blob_retention(self._db, self._tenant, digest, days=days):
            raise _missing(digest)

    async def remember(self, url: str, ask: "Callable[..., Awaitable[Fetched]]") -> "Fetched":
        """Ask for what has changed since the last time; if nothing has, the body is the one that was kept then.

        The newest body stays; the one before it goes an hour after it was replaced, unless ``keep`` was called for it.
        """
        key = sha256(url.encode()).digest()
        rows = await self._db.call("get_cached_response", key, float(self._days), tenant=self._tenant)
        before = rows[0] if rows else None
        fetched = await ask(**_validators(before) if before else {})
        if fetched.not_modified and before:
            digest = before["sha256"].hex()
            return replace(fetched, body=await self.get(digest), sha256=digest)
        if fetched.status == 200 and not fetched.truncated:
            media_type = (fetched.header("content-type") or "application/octet-stream")[:255]
            body = await self.put(fetched.body, media_type, days=_BRIEF_DAYS)
            values = fetched.status, fetched.etag, fetched.last_modified, media_type, bytes.fromhex(body.sha256)
            await self._db.call("put_cached_response", key, *values, float(self._days), tenant=self._tenant)
        return fetched

    async def _object(self, key: str) -> bytes:
        if self._objects is None:
            raise BadSetting("this body is in an object store", hint="set LEASEHOLD_OBJECTS_URL for this process, too")
        return await self._objects.get(key, max_bytes=MAX_PACKED)

    async def _row(self, digest: str) -> asyncpg.Record:
        rows = await self._db.call("get_blob", _digest(digest), tenant=self._tenant)
        if not rows:
            raise _missing(digest)
        return rows[0]


async def extend_blob_retention(db: Database, tenant: UUID, digest: str, *, days: float) -> bool:
    """Keep a body for at least so many days from now; False if it is gone."""
    return bool(await db.call("extend_blob_retention", _digest(digest), days, tenant=tenant))


async def hold_blob(db: Database, tenant: UUID, name: str, digest: str, *, days: float) -> None:
    """Keep a body as long as this name stands for it; NotFound if it is gone."""
    await db.call("hold_blob", name, _digest(digest), days, tenant=tenant)


async def remove_loose(db: Database, objects: "ObjectStore") -> int:
    """Remove objects that no body names from the object store; how many."""
    keys = list(await db.value("list_orphan_objects"))
    for key in keys:
        await objects.delete(key)
    await db.call("forget_objects", keys)
    return len(keys)


class Writer:
    """Takes the bytes of one body, piece by piece; only what they are when compressed is held."""

    def __init__(self, media_type: str) -> None:
        self._media_type = media_type
        self._size = 0
        self._hash = sha256()
        self._zlib = zlib.compressobj()
        self._packed = bytearray()

    async def write(self, data: bytes) -> None:
        if len(data) > _PIECE:  # it takes a while
            await asyncio.to_thread(self._add, data)
        else:
            self._add(data)

    def _add(self, data: bytes) -> None:
        self._size += len(data)
        self._hash.update(data)
        self._packed += self._zlib.compress(data)
        if self._size > MAX_SIZE or len(self._packed) > MAX_PACKED:
            raise TooLarge(f"a body has at most {MAX_SIZE} bytes, and {MAX_PACKED} when compressed")

    def pack(self) -> bytes:
        self._packed += self._zlib.flush()
        return bytes(self._packed)

    @property
    def body(self) -> Body:
        return Body(sha256=self._hash.hexdigest(), size=self._size, media_type=self._media_type)


def _unpacked(data: bytes, coding: str | None, size: int) -> Iterator[bytes]:
    """Pieces of what was packed, and never more than was put."""
    if coding is None:
        yield data
        return
    unpack = zlib.decompressobj()
    left = size
    while left > 0 and (piece := unpack.decompress(data, min(left, _PIECE))):
        left -= len(piece)
        data = unpack.unconsumed_tail
        yield piece


def _validators(before: asyncpg.Record) -> dict[str, str | None]:
    return {"etag": before["etag"], "last_modified": before["last_modified"]}


def _digest(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise BadInput(f"{text[:80]!r} is no digest", hint="64 hexadecimal digits, as put() gave them") from None


def _missing(digest: str) -> NotFound:
    return NotFound(f"there is no body {digest}", hint="its days may be over")
