"""What one tenant may ask for."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack
from uuid import UUID

from leasehold import json_codec, tracing
from leasehold.database.amqp_wakeups import Broker
from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.database.wakeups import NEWS_SECONDS, Notifier, news_channel
from leasehold.durations import Duration, seconds_of
from leasehold.engine import jobs, leases, tenants
from leasehold.engine.enqueue_batcher import EnqueueBatcher
from leasehold.features.jobs import store_bulk
from leasehold.features.jobs.model import Selection
from leasehold.job import Attempt, Enqueued, Event, Job, LogLine, Reason, State
from leasehold.job_options import plain
from leasehold.json_codec import plain_options
from leasehold.settings import Settings
from leasehold.typed_options import JobOptions

if TYPE_CHECKING:
    from leasehold.features.flows.store import Flows
    from leasehold.features.limits.store import Gates
    from leasehold.features.schedules.store import Schedules
    from leasehold.sealing import Keys

_FOLLOW_SECONDS = 0.1


class Backend:
    """The database as the api role, open for any tenant. Concurrent enqueues share commits; workers are woken after."""

    def __init__(self, settings: Settings, db: Database | None = None) -> None:
        self._settings = settings
        self.db = db or Database(target(settings, Role.API), fair=True)
        self._notifier = Notifier(self.db)
        self._news = Notifier(self.db, channel=news_channel(self.db.target.schema), every_s=NEWS_SECONDS)
        self._batcher = EnqueueBatcher(self.db, self._notifier)
        self._broker = Broker(settings) if settings.amqp_url else None
        self._clients: dict[str | UUID | None, Client] = {}  # of tenants that were asked for

    async def __aenter__(self) -> Self:
        await self.db.__aenter__()
        if self._broker:
            await self._broker.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._notifier.close()
        await self._news.close()
        if self._broker:
            await self._broker.__aexit__(kind, error, trace)
        await self.db.__aexit__(kind, error, trace)

    def reading(self, db: Database) -> "Backend":
        """The same, but that what is looked at comes from this database."""
        other = copy(self)
        other.db = db
        other._clients = {}
        return other

    @property
    def is_development(self) -> bool:
        """Whether the installation is one that only this machine reaches, under no public name."""
        from leasehold.fetch.public_addresses import is_loopback  # here: few programs ask

        return self._settings.public_url is None and is_loopback(self._settings.host)

    @property
    def secret_keys(self) -> "Keys":
        """What tenants' secrets are sealed with."""
        from leasehold.installation_keys import secret_keys  # here: it loads a library of ciphers

        return secret_keys(self._settings)

    async def client(self, tenant: str | UUID | None = None) -> "Client":
        """One tenant's view; by default that of ``LEASEHOLD_TENANT``, else of the only one there is."""
        return self.known_client(tenant) or await self._find(tenant)

    def known_client(self, tenant: str | UUID | None) -> "Client | None":
        """That of a tenant that was asked for before."""
        return self._clients.get(tenant)

    async def enqueue(
        self,
        tenant: UUID,
        kind: str,
        payloads: Sequence[str],
        options: Mapping[str, Any],
        keys: Sequence[str | None] | None,
    ) -> list[Enqueued]:
        if tracing.is_on():
            parent = options.get("traceparent")
            with tracing.span(f"enqueue {kind}", "producer", parent=parent, leasehold__kind=kind):
                options = {**options, "traceparent": tracing.traceparent()}
                made, woken = await self._batcher.enqueue(tenant, kind, payloads, options, keys)
        else:
            made, woken = await self._batcher.enqueue(tenant, kind, payloads, options, keys)
        for job in made:
            if job.created and job.state is not State.SCHEDULED:
                self.announce(options.get("queue"), woken=woken)
                break
        else:
            if any(job.created for job in made):
                self._news.notify()  # to the leader, who sees to it in time
        return made

    def announce(self, queue: str | None = None, *, woken: bool = False) -> None:
        """Wake workers, unless they are: call it after jobs were committed. Without a queue, those of every queue."""
        if not woken:
            self._notifier.notify(queue or "")
        if self._broker:
            self._broker.trigger()

    async def send_waiting(self) -> None:
        """Send the wake-ups that wait, before this process sleeps."""
        await self._notifier.close()
        await self._news.close()

    async def _find(self, tenant: str | UUID | None) -> "Client":
        named = tenant or self._settings.tenant
        tenant_id = named if isinstance(named, UUID) else await tenants.find_tenant(self.db, named)
        self._clients[tenant] = Client(self, tenant_id)
        return self._clients[tenant]


class Client:
    """One tenant's view of its jobs: ``async with Client.connect(settings) as client``."""

    def __init__(self, backend: Backend, tenant_id: UUID) -> None:
        self.backend = backend
        self._db = backend.db
        self.tenant_id = tenant_id

    @classmethod
    @asynccontextmanager
    async def connect(cls, settings: Settings) -> "AsyncIterator[Client]":
        """Open the database for the tenant that the settings name."""
        async with Backend(settings) as backend:
            yield await backend.client()

    async def enqueue(
        self, kind: str, payload: object = None, *, key: str | None = None, **options: Unpack[JobOptions]
    ) -> Enqueued:
        """Ask for one job."""
        return (await self.enqueue_many(kind, [payload], keys=None if key is None else [key], **options))[0]

    async def enqueue_many(
        self,
        kind: str,
        payloads: Sequence[object],
        *,
        keys: Sequence[str | None] | None = None,
        **options: Unpack[JobOptions],
    ) -> list[Enqueued]:
        """Ask for one job for each payload, all or none."""
        texts = [json_codec.encode({} if payload is None else payload) for payload in payloads]
        return await self.backend.enqueue(self.tenant_id, kind, texts, plain(options), keys)

    async def require_kind(self, kind: str) -> None:
        """Refuse a kind that nobody handles, as far as the database knows."""
        await leases.require_kinds(self._db, self.tenant_id, [kind])

    async def emit(self, type_: str, subject_type: str, subject_id: str, data: Any = None) -> UUID:
        """Tell the tenant's endpoints that something happened; the event's id."""
        from leasehold.features.webhooks import store as webhooks  # here, as below: most clients enqueue, and no more

        about = {"subject_type": subject_type, "subject_id": subject_id, "data": data}
        event = await webhooks.emit_event(self._db, self.tenant_id, type_, **about)
        self.backend.announce()
        return event

    @property
    def schedules(self) -> "Schedules":
        """The tenant's schedules: put, add, edit, get, list, ticks, pause, resume, run, delete."""
        from leasehold.features.schedules.store import Schedules

        return Schedules(self._db, self.tenant_id, self.backend.announce)

    @property
    def flows(self) -> "Flows":
        """The tenant's flows: start, get, list, steps, cancel, retry, events, wait; approvals and signals."""
        from leasehold.features.flows.store import Flows

        return Flows(self._db, self.tenant_id, self.backend.announce)

    @property
    def gates(self) -> "Gates":
        """The tenant's gates: list, get, set, remove, hold, reset."""
        from leasehold.features.limits.store import Gates

        return Gates(self._db, self.tenant_id)

    async def get(self, job_id: UUID) -> Job:
        return await jobs.get_job(self._db, self.tenant_id, job_id)

    async def list_jobs(self, *, before: UUID | None = None, limit: int = 50, **filters: Any) -> list[Job]:
        """The newest jobs first; filters: state, kind, queue, tag, key, created_after, created_before."""
        return await jobs.list_jobs(self._db, self.tenant_id, plain_options(filters), before=before, limit=limit)

    async def cancel(self, job_id: UUID, reason: str | None = None) -> str:
        """``canceled``; ``requested`` when it runs (its worker is told); or the outcome that it had already."""
        return await jobs.cancel(self._db, self.tenant_id, job_id, reason)

    async def retry(self, job_id: UUID, run_at: datetime | None = None) -> State:
        """Give a failed, dead or canceled job a new budget of attempts."""
        return await jobs.retry(self._db, self.tenant_id, job_id, run_at)

    async def reschedule(self, job_id: UUID, run_at: datetime) -> State:
        """Move a job that waits to another time, or retry one that has ended then."""
        return await jobs.reschedule(self._db, self.tenant_id, job_id, run_at)

    async def count_to_act(self, action: str, **filters: Any) -> int:
        """How many jobs ``act_on_jobs`` would retry, cancel or delete now."""
        return await store_bulk.count_to_act(self._db, self.tenant_id, action, plain_options(filters))

    async def select_jobs(self, action: str, **filters: Any) -> Selection:
        """The jobs that fit the filters of ``list_jobs`` now, counted, for ``act_on`` to act on within an hour."""
        [selection] = await store_bulk.select_jobs(self._db, self.tenant_id, action, plain_options(filters))
        return selection

    async def act_on(self, selection: Selection, *, reason: str | None = None) -> Enqueued:
        """Retry, cancel or delete the selected jobs and no others: the job that does it."""
        made, _ = await store_bulk.begin(self._db, self.tenant_id, selection.selection_id, reason)
        self.backend.announce()
        return made

    async def act_on_jobs(self, action: str, *, reason: str | None = None, **filters: Any) -> Enqueued:
        """Retry, cancel or delete all jobs that fit the filters now: the job that does it."""
        return await self.act_on(await self.select_jobs(action, **filters), reason=reason)

    async def explain(self, job_id: UUID) -> list[Reason]:
        """Why the job is not running."""
        return await jobs.explain(self._db, self.tenant_id, job_id)

    async def attempts(self, job_id: UUID) -> list[Attempt]:
        return await jobs.list_attempts(self._db, self.tenant_id, job_id)

    async def events(self, job_id: UUID, *, after: int = 0) -> list[Event]:
        return await jobs.events_since(self._db, self.tenant_id, job_id, after)

    async def logs(self, job_id: UUID, *, after: int = 0) -> list[LogLine]:
        """What the handlers of a job logged, oldest first."""
        return await jobs.job_logs(self._db, self.tenant_id, job_id, after)

    async def follow_logs(self, job_id: UUID) -> AsyncIterator[LogLine]:
        """The same as it comes, until the job has ended."""
        after = 0
        async for event in self.follow(job_id):
            if event.type == "log":
                for line in await self.logs(job_id, after=after):
                    after = line.seq
                    yield line

    async def follow(self, job_id: UUID) -> AsyncIterator[Event]:
        """Every event of a job from its first to its outcome, as they come."""
        after = 0
        while True:
            # The state is read before the events: an outcome seen here has its event in the list that follows.
            ended = (await self.get(job_id)).state.is_outcome
            for event in await self.events(job_id, after=after):
                after = event.seq
                yield event
            if ended:
                return
            await asyncio.sleep(_FOLLOW_SECONDS)

    async def wait(self, job_id: UUID, *, timeout: Duration | None = None) -> Job:
        """The job when it has ended. Raises TimeoutError when that takes longer than ``timeout``."""
        async with asyncio.timeout(None if timeout is None else seconds_of(timeout, "timeout")):
            async for _ in self.follow(job_id):
                pass
        return await self.get(job_id)

    async def new_jobs(self) -> AsyncIterator[Job]:
        """Jobs as they are made, from now on, for ever."""
        newest = await self.list_jobs(limit=1)
        last = newest[0].job_id if newest else None
        while True:
            fresh = [job for job in await self.list_jobs(limit=1000) if last is None or job.job_id > last]
            for job in reversed(fresh):
                last = job.job_id
                yield job
            await asyncio.sleep(_FOLLOW_SECONDS)
