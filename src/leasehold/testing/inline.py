"""Inline: an enqueue runs what is queued before it returns. Real rows, leases and outcomes, but no worker beside it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from contextvars import ContextVar
from functools import partial
from types import TracebackType
from typing import Any, Self

from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.engine import jobs, leases
from leasehold.job import AttemptOutcome, ClaimedJob, Enqueued
from leasehold.program.app import Leasehold
from leasehold.program.attempt_api import DatabaseAttemptApi
from leasehold.program.context import Context
from leasehold.program.outcomes import Cancel, Snooze
from leasehold.program.running_attempt import RunningAttempt
from leasehold.settings import Settings
from leasehold.typed_options import JobOptions
from leasehold.worker.attempt import context, run_attempt

_LEASE_SECONDS = 86400.0  # nobody beats: a test may be stopped in a debugger for long
_inside: ContextVar[bool] = ContextVar("inside an attempt", default=False)


class Inline:
    """``async with kit.inline(app)``. Jobs for later stay; jobs of a caller's open transaction run after its commit,
    with the next enqueue or at the end of the block."""

    def __init__(self, app: Leasehold, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self._resources: Mapping[str, Any] = {}
        self._one_at_a_time = asyncio.Lock()

    async def __aenter__(self) -> Self:
        self._stack = AsyncExitStack()
        self._db = await self._stack.enter_async_context(Database(target(self._settings, Role.WORKER)))
        self._resources = await self._stack.enter_async_context(self._app.open_resources())
        self._worker = await leases.register_worker(
            self._db,
            name="inline",
            version="0",
            queues=self._app.queues,
            kinds={kind: handler.job_options for kind, handler in self._app.handlers.items()},
            slots=1,
            lease_s=_LEASE_SECONDS,
        )
        self._stack.push_async_callback(leases.end_worker, self._db, self._worker)
        usual = self._app._enqueue

        async def enqueue(
            kind: str, payloads: Sequence[object], tenant: Any, keys: Any, conn: object, options: JobOptions
        ) -> list[Enqueued]:
            made = await usual(kind, payloads, tenant, keys, conn, options)
            if conn is None and not _inside.get():  # what a handler enqueues is run by the loop that runs the handler
                await self.run_queued()
            return made

        self._app.__dict__["_enqueue"] = enqueue
        self._stack.callback(self._app.__dict__.pop, "_enqueue", None)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                await self.run_queued()
        finally:
            await self._stack.aclose()

    async def run_queued(self) -> None:
        """Run until nothing that the app handles is queued; raise the first error of a handler."""
        async with self._one_at_a_time:
            others: list[AttemptOutcome] = []  # of kinds that another program handles: given back when we are through
            try:
                while claimed := await jobs.claim(self._db, self._worker, self._app.queues, 1):
                    if claimed[0].kind in self._app.handlers:
                        await self._run(claimed[0])
                    else:
                        others.append(AttemptOutcome(token=claimed[0].token, outcome="released", delay_s=0.0))
            finally:
                if others:
                    await jobs.finish(self._db, others)

    async def _run(self, job: ClaimedJob) -> None:
        attempt = RunningAttempt(job, self._app.handlers[job.kind])
        problems: list[BaseException] = []
        token = _inside.set(True)
        try:
            attempt.begin()
            link = DatabaseAttemptApi(self._db, self._app, attempt, _wake_nobody)
            ctx = context(link, attempt, self._resources)
            ended = await run_attempt(attempt, partial(self._call, problems), ctx)
        finally:
            _inside.reset(token)
        if ended:
            await jobs.finish(self._db, [ended])
        for problem in problems:
            raise problem

    async def _call(self, problems: list[BaseException], attempt: RunningAttempt, ctx: Context) -> str | None:
        """The handler inside the app's middleware; its error is kept for the caller of enqueue."""
        call: Callable[[], Awaitable[str | None]] = partial(self._handle, attempt, ctx)
        for middleware in reversed(self._app.middlewares):
            call = partial(middleware, ctx, call)
        try:
            return await call()
        except (Snooze, Cancel):
            raise
        except BaseException as problem:
            problems.append(problem)
            raise

    async def _handle(self, attempt: RunningAttempt, ctx: Context) -> str | None:
        payload = attempt.handler.upcast(attempt.job.payload, attempt.job.version)
        return await attempt.handler.run(ctx, payload)


def _wake_nobody() -> None:
    """The loop that runs the handler looks for what it enqueued anyway."""
