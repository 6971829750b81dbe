"""A worker in this process, and what tests ask about its jobs."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

from leasehold.database.database import Database, Role, Target
from leasehold.engine import jobs
from leasehold.job import Event, Job
from leasehold.program.app import Leasehold
from leasehold.settings import Settings
from leasehold.worker import Worker
from tests.cell import Cell
from tests.waiting import eventually

# The lease is long: a busy machine must not lose an attempt that a test does not want lost.
FAST = Settings(
    lease_seconds=20.0,
    beat_seconds=0.5,
    poll_seconds=0.05,
    grace_seconds=5.0,
    cancel_grace_seconds=0.2,
    overrun_seconds=0.5,
)
SHORT_LEASE = replace(FAST, lease_seconds=2.0)
SLOW_POLL = replace(FAST, poll_seconds=60.0)

#: The same for a real process.
ENVIRONMENT = {
    "LEASEHOLD_LEASE_SECONDS": "2",
    "LEASEHOLD_BEAT_SECONDS": "0.5",
    "LEASEHOLD_POLL_SECONDS": "0.05",
    "LEASEHOLD_CANCEL_GRACE_SECONDS": "0.2",
    "LEASEHOLD_OVERRUN_SECONDS": "0.5",
    "LEASEHOLD_TENANT": "a",
}


@asynccontextmanager
async def running(
    cell: Cell, app: Leasehold, settings: Settings = FAST, *, url: str | None = None, **options: Any
) -> AsyncIterator[Worker]:
    """A worker of this app until the end of the block; then it has stopped in good order."""
    async with Database(Target(url=url or cell.url(Role.WORKER), role=Role.WORKER)) as db:
        worker = Worker(db, app, settings, **options)
        task = asyncio.create_task(worker.run())
        try:
            await eventually(lambda: _registered(worker, task), what="registered")
            yield worker
        finally:
            worker.stop()
            await task


async def _registered(worker: Worker, task: "asyncio.Task[None]") -> bool:
    if task.done():
        task.result()
    return worker.worker_id is not None


class Shop:
    """Enqueues for tenant a and looks at what became of it."""

    def __init__(self, db: Database, cell: Cell) -> None:
        self._db = db
        self._tenant = cell.tenant_a

    async def enqueue(self, kind: str, value: Any = None, **options: Any) -> UUID:
        return (await self.enqueue_many(kind, [value], **options))[0]

    async def enqueue_many(self, kind: str, values: list[Any], **options: Any) -> list[UUID]:
        texts = [json.dumps({} if value is None else value) for value in values]
        return [job.job_id for job in await jobs.enqueue(self._db, self._tenant, kind, texts, options)]

    async def cancel(self, job_id: UUID) -> None:
        assert await jobs.cancel(self._db, self._tenant, job_id) == "requested"

    async def get(self, job_id: UUID) -> Job:
        return await jobs.get_job(self._db, self._tenant, job_id)

    async def ended(self, job_id: UUID) -> Job:
        """The job, once it has its outcome."""

        async def ask() -> Job | None:
            job = await self.get(job_id)
            return job if job.state.is_outcome else None

        job = await eventually(ask, what=f"the outcome of {job_id}")
        assert job is not None
        return job

    async def run(self, kind: str, value: Any = None, **options: Any) -> Job:
        return await self.ended(await self.enqueue(kind, value, **options))

    async def history(self, job_id: UUID) -> list[tuple[int, str]]:
        return [(a.attempt, a.outcome) for a in await jobs.list_attempts(self._db, self._tenant, job_id)]

    async def attempted(self, job_id: UUID, n: int = 1) -> list[tuple[int, str]]:
        """The history, once it has ``n`` attempts."""

        async def ask() -> list[tuple[int, str]] | None:
            history = await self.history(job_id)
            return history if len(history) >= n else None

        found = await eventually(ask, what=f"{n} attempts of {job_id}")
        assert found is not None
        return found

    async def error(self, job_id: UUID) -> dict[str, Any]:
        """The error of the newest attempt."""
        error = (await jobs.list_attempts(self._db, self._tenant, job_id))[-1].error
        assert error is not None
        return error

    async def events(self, job_id: UUID, type_: str) -> list[Event]:
        return [e for e in await jobs.events_since(self._db, self._tenant, job_id) if e.type == type_]
