"""One run's own database: filled by a program, emptied by workers, and looked at from outside."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple, Self
from uuid import UUID

from pydantic import BaseModel

from leasehold.database import wakeups
from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.engine import tenants
from leasehold.engine.leases import list_workers
from leasehold.errors import LeaseholdError
from leasehold.features.limits import store as limits_store
from leasehold.job import Enqueued
from leasehold.program.app import Leasehold
from leasehold.settings import Settings
from leasehold_bench import handlers
from leasehold_bench.server import TENANTS, BenchmarkServer
from leasehold_bench.worker_processes import Workers, started

BULK = 1000
QUEUE = "default"
#: Tenants whose jobs are asked for in turn.
TURN = TENANTS[:20]
#: A look may take this share of the time at most: counting is not free, and what is measured is the work.
_LOOK_SHARE = 0.05
_LOOK_SECONDS = 0.05
_SILENCE_SECONDS = 60.0


class Rows(NamedTuple):
    """How many rows the tables of the history have."""

    job: int
    attempt: int
    outcome: int

    def since(self, before: "Rows") -> "Rows":
        return Rows(*(now - then for now, then in zip(self, before, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Starts:
    """Attempts that started within some time, by the database's clock."""

    n: int
    first: datetime | None
    last: datetime | None

    @property
    def per_second(self) -> float:
        if self.first is None or self.last is None:
            raise LeaseholdError("no attempt started")
        return _per_second(self.n - 1, self.first, self.last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What the server has written and committed up to a moment; the difference of two is what something cost."""

    wal_bytes: int
    commits: int


class ScratchDatabase:
    """A fresh database, and an app that asks for work in it as any program does."""

    def __init__(self, settings: Settings, db: Database, app: Leasehold) -> None:
        self.settings = settings
        self.app = app
        self._db = db
        self._turn = itertools.cycle(TURN)
        self._first: UUID | None = None  # of the jobs that were asked for
        self._own_commits = 0

    @classmethod
    @asynccontextmanager
    async def open(cls, server: BenchmarkServer) -> AsyncIterator[Self]:
        async with (
            server.database() as settings,
            Database(target(settings, Role.OPERATOR), connections=1) as db,
            producer(settings) as app,
        ):
            yield cls(settings, db, app)

    # -- asking for work ----------------------------------------------------------------------------------------

    async def enqueue(self, jobs: int) -> float:
        """Ask for jobs one by one, of twenty tenants in turn; the seconds it took."""
        began = time.monotonic()
        for number in range(jobs):
            self._note(await self.app.enqueue(handlers.NOOP, handlers.Noop(number=number), tenant=next(self._turn)))
        return time.monotonic() - began

    async def enqueue_at_once(self, jobs: int, *, callers: int) -> float:
        """The same from many callers, each waiting for its own."""
        numbers = iter(range(jobs))

        async def call() -> None:
            for number in numbers:
                await self.app.enqueue(handlers.NOOP, handlers.Noop(number=number), tenant=next(self._turn))

        began = time.monotonic()
        await asyncio.gather(*(call() for _ in range(callers)))
        return time.monotonic() - began

    async def enqueue_bulk(
        self,
        jobs: int,
        kind: str = handlers.NOOP,
        payload: Callable[[int], BaseModel] = lambda number: handlers.Noop(number=number),
        *,
        tenant: str | None = None,
    ) -> float:
        """Ask for jobs a thousand at a time, each thousand for the next tenant."""
        began = time.monotonic()
        for start in range(0, jobs, BULK):
            payloads = [payload(number) for number in range(start, min(jobs, start + BULK))]
            made = await self.app.enqueue_many(kind, payloads, tenant=tenant or next(self._turn))
            self._note(made[0])
        return time.monotonic() - began

    async def enqueue_grouped(self, jobs: int, *, groups: int) -> None:
        """Ask for jobs of so many groups, each group of the next tenant."""
        for number in range(min(jobs, groups)):
            share = len(range(number, jobs, groups))
            payloads = [handlers.Noop(number=number)] * share
            made = await self.app.enqueue_many(
                handlers.NOOP, payloads, tenant=next(self._turn), group=f"group-{number}"
            )
            self._note(made[0])

    def _note(self, job: Enqueued) -> None:
        self._first = self._first or job.job_id

    @property
    def operator(self) -> Database:
        return self._db

    async def emit(self, tenant: str, data: Any) -> None:
        """Tell the tenant's endpoints."""
        client = await self.app.client(tenant)
        await client.emit("bench.sent", "run", "1", data)

    async def allow(self, tenant: str, *, max_queued: int) -> None:
        await tenants.set_tenant(self._db, await tenants.find_tenant(self._db, tenant), max_queued=max_queued)

    # -- workers ------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def workers(
        self,
        processes: int,
        *,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> AsyncIterator[Workers]:
        """Worker processes that have registered; the queue is paused, so that all begin at once."""
        await self.pause()
        async with started(self.settings, processes, environment) as workers:
            while sum(worker.ended_at is None for worker in await list_workers(self._db)) < processes:
                workers.require_alive()
                await asyncio.sleep(_LOOK_SECONDS)
            yield workers

    async def pause(self) -> None:
        await limits_store.pause_queue(self._db, QUEUE, paused=True)
        self._own_commits += 1

    async def resume(self) -> datetime:
        """Let the queue go on, and wake the workers; the time it was, by the database's clock."""
        now: datetime = await self._ask("select clock_timestamp()")
        await limits_store.pause_queue(self._db, QUEUE, paused=False)
        await self._db.notify(wakeups.ready_channel(self.settings.schema), [QUEUE])
        self._own_commits += 2
        return now

    async def attempted(self, jobs: int, since: datetime, workers: Workers, *, limit_s: float) -> bool:
        """Wait until so many attempts have ended; False when the time was up before."""
        return await self._until(jobs, lambda: self._count_attempts(since), workers, limit_s=limit_s)

    async def started(self, jobs: int, names: Sequence[str], workers: Workers, *, limit_s: float) -> bool:
        """Wait until so many jobs of these tenants have had an attempt."""

        async def count() -> int:
            return len(await self.waits(names))

        return await self._until(jobs, count, workers, limit_s=limit_s)

    async def _until(self, jobs: int, count: Callable[[], Awaitable[int]], workers: Workers, *, limit_s: float) -> bool:
        began = moved_at = time.monotonic()
        seen = 0
        while True:
            asked_at = time.monotonic()
            n = await count()
            now = time.monotonic()
            if n >= jobs or now - began > limit_s:
                return n >= jobs
            if n > seen:
                seen, moved_at = n, now
            elif now - moved_at > _SILENCE_SECONDS:
                raise LeaseholdError(f"{n} of {jobs} jobs ran, and then none; a worker said: {workers.last_words}")
            workers.require_alive()
            await asyncio.sleep(max(_LOOK_SECONDS, (now - asked_at) / _LOOK_SHARE))

    # -- looking ------------------------------------------------------------------------------------------------

    async def rows(self) -> Rows:
        tables = ", ".join(f"(select count(*) from leasehold.{table})" for table in Rows._fields)
        return Rows(*await self._row(f"select {tables}"))

    async def starts(self, since: datetime) -> Starts:
        row = await self._row(
            "select count(*) as n, min(started_at) as first, max(started_at) as last from leasehold.attempt"
            " where job_id >= $1 and started_at >= $2",
            self._first,
            since,
        )
        return Starts(**row)

    async def rates(self, since: datetime, size: int) -> list[float]:
        """Attempts a second, for every so many of them in the order of their starts."""
        lasts = await self._rows(
            "select started_at from ("
            "  select started_at, row_number() over (order by started_at) as place"
            "  from leasehold.attempt where job_id >= $1 and started_at >= $2"
            ") a where place = 1 or place % $3::bigint = 0 order by place",
            self._first,
            since,
            size,
        )
        return [_per_second(size, earlier[0], later[0]) for earlier, later in itertools.pairwise(lasts)]

    async def waits(self, names: Sequence[str]) -> list[float]:
        """Milliseconds from run_at to the first start, for the jobs of these tenants that started."""
        rows = await self._rows(
            "select extract(epoch from min(a.started_at) - min(j.run_at))::float8 * 1000"
            " from leasehold.attempt a join leasehold.job j on j.job_id = a.job_id"
            " join leasehold.tenant t on t.tenant_id = j.tenant_id where t.name = any($1) group by a.job_id",
            list(names),
        )
        return [row[0] for row in rows]

    async def spent(self) -> Spent:
        """Bytes are the whole server's, commits this database's, without our own."""
        await self._ask("select pg_stat_force_next_flush()")
        wal, commits = await self._row(
            "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint, xact_commit"
            " from pg_stat_database where datname = current_database()"
        )
        return Spent(wal_bytes=wal, commits=commits - self._own_commits)

    async def megabytes(self) -> float:
        """Tables with their indexes."""
        size = "select sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r' and not relisshared"
        return float(await self._ask(size)) / 1e6

    @asynccontextmanager
    async def old_snapshot(self) -> AsyncIterator[None]:
        """Somebody else looks at this database as it is now, and goes on looking: no dead row can be removed."""
        async with Database(self._db.target, connections=1) as other, other.transaction() as connection:
            await connection.execute("set transaction isolation level repeatable read")
            await connection.execute("select 1")
            yield

    async def _count_attempts(self, since: datetime) -> int:
        return (await self.starts(since)).n

    async def _ask(self, query: str, *args: Any) -> Any:
        return (await self._row(query, *args))[0]

    async def _row(self, query: str, *args: Any) -> Any:
        return (await self._rows(query, *args))[0]

    async def _rows(self, query: str, *args: Any) -> list[Any]:
        async with self._db.transaction() as connection:
            self._own_commits += 1
            await connection.execute("set local max_parallel_workers_per_gather = 0; set local jit = off")
            return list(await connection.fetch(query, *args))


def _per_second(n: int, first: datetime, last: datetime) -> float:
    if first == last:
        raise LeaseholdError(f"{n} attempts started at one moment, in one batch: too few for a rate")
    return n / (last - first).total_seconds()


@asynccontextmanager
async def producer(settings: Settings) -> AsyncIterator[Leasehold]:
    """A program of its own that asks for work, with the connections it has open."""
    app = Leasehold(settings)
    app.include(handlers.app)
    async with app:
        for tenant in TURN:
            await app.client(tenant)
        yield app
