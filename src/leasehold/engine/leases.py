"""Workers: register, beat, end."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from leasehold import json_codec
from leasehold.database.database import Database
from leasehold.job import WorkerInfo


async def register_worker(
    db: Database,
    *,
    name: str,
    version: str,
    queues: Sequence[str],
    kinds: Mapping[str, Mapping[str, Any] | None],
    slots: int,
    lease_s: float,
) -> UUID:
    """The id under which the worker holds leases. ``kinds`` are those it handles, each with its options.

    These options replace what the database knew of the kind. None leaves that as it is: a worker that comes back after
    it was declared lost is no newer than it was.
    """
    worker: UUID = await db.value(
        "register_worker", name, version, queues, json_codec.encode(kinds, what="kinds"), slots, lease_s
    )
    return worker


async def register_kinds(db: Database, queues: Sequence[str], kinds: Mapping[str, Mapping[str, Any]]) -> None:
    """Make these queues and tell of these kinds, unless they are known."""
    await db.call("register_kinds", list(queues), json_codec.encode(kinds, what="kinds"))


async def heartbeat_and_check_leader(db: Database, worker: UUID) -> tuple[set[int], bool]:
    """As ``beat``; and whether any worker leads."""
    row = (await db.call("heartbeat_and_check_leader", worker))[0]
    return set(row["cancel"]), row["is_led"]


async def require_kinds(db: Database, tenant: UUID, kinds: Collection[str]) -> set[str]:
    """Refuse a kind that nobody handles, as far as the database knows; those that are known for every tenant."""
    return set(await db.value("require_kinds", sorted(kinds), tenant=tenant))


async def heartbeat(db: Database, worker: UUID) -> set[int]:
    """Tokens whose cancel was asked for. Raises WorkerLost when the silence was too long."""
    return set(await db.value("heartbeat", worker))


async def end_worker(db: Database, worker: UUID) -> int:
    """How many leases went back."""
    return int(await db.value("end_worker", worker))


async def list_workers(db: Database) -> list[WorkerInfo]:
    return [WorkerInfo(**row) for row in await db.call("list_workers")]
