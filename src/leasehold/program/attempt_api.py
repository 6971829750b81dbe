"""What an attempt says and asks goes straight to the database, under its token."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from leasehold.database.actor import ActorTransaction
from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.errors import BadInput, LeaseLost, Unreachable
from leasehold.features.blobs.store import Bodies
from leasehold.job import Enqueued
from leasehold.program.app import Leasehold
from leasehold.program.context import PendingEvent
from leasehold.program.running_attempt import RunningAttempt, Stop, scrubbed

if TYPE_CHECKING:
    from leasehold.features.flows.model import Parent
    from leasehold.fetch.fetcher import Fetcher
    from leasehold.program.transaction import AttemptTransaction
    from leasehold.sealing import Keys


class DatabaseAttemptApi:
    """How an attempt in the worker's own process reaches the engine."""

    __slots__ = ("_app", "_attempt", "_db", "_tell", "_wake")

    def __init__(
        self,
        db: Database,
        app: Leasehold,
        attempt: RunningAttempt,
        wake: Callable[[], None],
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        self._db = db
        self._app = app
        self._attempt = attempt
        self._wake = wake  # tells workers that there may be work
        self._tell = tell  # tells those who follow jobs that there is news

    async def say(
        self, type_: str, *, message: str | None = None, progress: float | None = None, data: str | None = None
    ) -> None:
        """Store an event. A database that is away for a moment is waited for: that is no fault of the handler."""
        token = self._attempt.job.token
        if self._attempt.completing:  # its lease is deleted in a transaction that is still open: we would wait for it
            raise BadInput("the job is complete: say it before tx.complete()")
        while True:
            if self._attempt.stop is Stop.LOST:
                raise LeaseLost(f"the lease with token {token} is gone")
            try:
                await jobs.append_event(self._db, token, type_, message=message, progress=progress, data=data)
                self._tell()
                return
            except Unreachable:
                await asyncio.sleep(self._db.outage.pause_seconds())

    async def extend(self, seconds: float) -> datetime:
        deadline = await jobs.extend(self._db, self._attempt.job.token, seconds)
        self._attempt.extend(seconds)
        return deadline

    async def enqueue(
        self, kind: str, payloads: Sequence[object], *, keys: Sequence[str | None] | None, options: Mapping[str, object]
    ) -> list[Enqueued]:
        texts, plain = self._app.prepare(kind, payloads, options)
        plain = self._attempt.child_options(plain)
        made = await jobs.enqueue(self._db, self._attempt.job.tenant_id, kind, texts, plain, keys=keys)
        self._wake()
        return made

    @asynccontextmanager
    async def transaction(self) -> "AsyncIterator[AttemptTransaction]":
        """Commits at the end of the block if the lease is still ours; else raises LeaseLost and nothing was written."""
        from leasehold.program.transaction import AttemptTransaction  # here, as below: few attempts need it

        attempt, job = self._attempt, self._attempt.job
        async with ActorTransaction.open(self._db, tenant=job.tenant_id, actor=f"job {job.job_id}") as db:
            tx = AttemptTransaction(
                db,
                self._app,
                job,
                encode_result=lambda result: scrubbed(attempt.handler.encode_result(result), attempt.secrets),
                on_complete=attempt.begin_completing,
                events=attempt.emitted,
                secrets=attempt.secrets,
            )
            try:
                with db.connection.waiting_for(self._db.target.limits.long_call):  # the handler's own statements
                    yield tx
            except BaseException:
                attempt.completing = False  # rolled back: the attempt goes on
                raise
            if not tx.is_complete:
                await jobs.hold(db, job.token)
        attempt.completed = tx.is_complete
        if tx.has_made_jobs:
            self._wake()

    async def emit(self, emitted: PendingEvent) -> None:
        if self._attempt.completing or self._attempt.completed:
            raise BadInput("the job is complete: emit it before tx.complete()")
        self._attempt.emitted.append(emitted)

    async def complete(self, result: str | None) -> None:
        """End the attempt as succeeded, in one transaction with the events that it emitted."""
        async with self.transaction() as tx:
            await tx.succeed(result)

    async def ask_leave(self, url: str, agent: str | None, rules_since: datetime | None) -> float:
        from leasehold.features.fetching.gate_keeper import ask_leave
        from leasehold.fetch.connect import on_share_of

        with on_share_of(str(self._attempt.job.tenant_id)):  # also for a process that has no such block
            return await ask_leave(self._db, self._app, url, agent, rules_since)

    async def secret(self, name: str) -> str:
        from leasehold.features.secrets import store as secrets

        return await secrets.open_secret(self._db, self._attempt.job.tenant_id, name, self.secret_keys)

    async def parents(self) -> "list[Parent]":
        from leasehold.features.flows import store as flows

        return await flows.list_parents(self._db, self._attempt.job.token)

    @property
    def bodies(self) -> Bodies:
        days, tenant = self._app.settings.body_days, self._attempt.job.tenant_id
        return Bodies(self._db, tenant, days=days, objects=self._app.objects)

    @property
    def fetcher(self) -> "Fetcher":
        return self._app.fetcher

    @property
    def db(self) -> Database:
        return self._db

    @property
    def secret_keys(self) -> "Keys":
        return self._app.secret_keys


def read_parents(found: "list[dict[str, Any]]") -> "list[Parent]":
    """The results of the steps before, as an isolated attempt gets them from its worker."""
    from leasehold.features.flows.model import Parent

    return [Parent(**one | {"job_id": UUID(one["job_id"])}) for one in found]
