"""The id under which a worker holds leases."""

import time
from collections.abc import Collection
from uuid import UUID

from leasehold.database.database import Database, own_version
from leasehold.engine import leases
from leasehold.log import emit
from leasehold.program.app import Leasehold
from leasehold.settings import Settings
from leasehold.worker.heartbeat import Heartbeat


class Registration:
    """Registers a worker, and again under another id after it was declared lost."""

    def __init__(
        self,
        db: Database,
        app: Leasehold,
        settings: Settings,
        heartbeat: Heartbeat,
        *,
        name: str,
        queues: Collection[str],
    ) -> None:
        self.worker_id: UUID | None = None  # None while it is not registered, or was declared lost
        self._db = db
        self._app = app
        self._settings = settings
        self._heartbeat = heartbeat
        self._name = name
        self._queues = list(queues)
        self._former_ids: list[UUID] = []  # under which it may still hold leases
        self._has_sent_kinds = False

    async def register(self) -> None:
        for former in self._former_ids:  # leases that no other worker has taken yet are free at once
            await leases.end_worker(self._db, former)
        self._former_ids.clear()
        since = time.monotonic()
        self.worker_id = await leases.register_worker(
            self._db,
            name=self._name,
            version=own_version(),
            queues=self._queues,
            kinds={
                kind: None if self._has_sent_kinds else handler.job_options
                for kind, handler in self._app.handlers.items()
            },
            slots=self._settings.slots,
            lease_s=self._settings.lease_seconds,
        )
        self._has_sent_kinds = True
        self._heartbeat.follow(self.worker_id, since=since)
        slots = self._settings.slots
        emit("worker started", worker=self._name, worker_id=self.worker_id, slots=slots)

    def drop(self) -> None:
        """Stop to use the id: its leases may be another worker's by now."""
        self._heartbeat.pause()
        if self.worker_id is not None:
            self._former_ids.append(self.worker_id)
        self.worker_id = None

    async def end(self) -> int:
        """End all ids of this worker; how many leases went back to their queues."""
        ids = [*self._former_ids, *([self.worker_id] if self.worker_id else [])]
        return sum([await leases.end_worker(self._db, worker_id) for worker_id in ids])
