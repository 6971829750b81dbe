"""Remote workers: the functions of ``engine.workers`` and ``engine.jobs`` for whoever works under a key.

``Key`` says who asks: the database as the key's role, the key, and its tenant (None for one that serves all tenants).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from leasehold.database.database import Database
from leasehold.job import AttemptOutcome, ClaimedJob


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """Who asks: a tenant's key through the api role, or one of the installation through the operator's."""

    db: Database
    key_id: str
    tenant: UUID | None

    async def call(self, function: str, *args: Any) -> list[asyncpg.Record]:
        return await self.db.call(function, *args, tenant=self.tenant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beaten:
    """The answer to a beat: tokens whose cancel was asked for, and tokens that are another's by now."""

    cancel: list[int]
    lost: list[int]


async def register(
    key: Key,
    *,
    name: str,
    version: str,
    queues: Sequence[str] | None,
    kinds: Sequence[str],
    slots: int,
    lease_s: float,
) -> UUID:
    """The id under which the worker holds leases; without queues, all that the key may work on."""
    function = "register_operator_worker" if key.tenant is None else "register_own_worker"
    rows = await key.call(function, key.key_id, name, version, queues, kinds, slots, lease_s)
    worker: UUID = rows[0][0]
    return worker


async def claim(
    key: Key, worker: UUID, queues: Sequence[str] | None, n: int, *, held: Sequence[int]
) -> list[ClaimedJob]:
    """What the worker was granted before and does not name as held goes back first."""
    return [ClaimedJob._make(row) for row in await key.call("remote_claim", worker, key.key_id, queues, n, held)]


async def beat(key: Key, worker: UUID, held: Sequence[int]) -> Beaten:
    return Beaten(**(await key.call("remote_beat", worker, key.key_id, held))[0])


async def finish(key: Key, worker: UUID, jobs: Sequence[UUID], ended: Sequence[AttemptOutcome]) -> dict[int, str]:
    """What became of each report, by token: ``accepted``, ``recorded`` (it had come before) or ``lost``."""
    columns = zip(*ended, strict=True) if ended else [()] * len(AttemptOutcome._fields)
    rows = await key.call("remote_finish", worker, key.key_id, jobs, *columns)
    return {row["token"]: row["verdict"] for row in rows}


async def append_event(
    key: Key, worker: UUID, token: int, type_: str, *, message: str | None, progress: float | None, data: str | None
) -> None:
    await key.call("remote_event", worker, key.key_id, token, type_, message, progress, data)


async def extend(key: Key, worker: UUID, token: int, seconds: float) -> datetime:
    deadline: datetime = (await key.call("remote_extend", worker, key.key_id, token, seconds))[0][0]
    return deadline


async def end(key: Key, worker: UUID) -> int:
    """How many leases went back."""
    return int((await key.call("remote_end", worker, key.key_id))[0][0])
