"""``Client`` and ``AsyncClient``: one tenant's jobs over HTTP. The same methods, with and without ``await``.

A request whose answer is lost is sent again: it is safe to repeat, or carries an ``Idempotency-Key``.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack
from uuid import UUID

import httpx2

from leasehold.errors import LeaseholdError
from leasehold.job import Attempt, Enqueued, Event, Job, Queue, Reason, State
from leasehold.remote import operations, values
from leasehold.remote.connection import Call, failed, lost, path, pauses
from leasehold.remote.sse import Message, Reader
from leasehold.remote.values import Refused, Schedule
from leasehold.typed_options import JobOptions

T = TypeVar("T")

#: The server pings every 15 seconds: a stream without a sign of life for so long is a broken one.
_SILENCE_SECONDS = 45.0
_RECONNECT_SECONDS = 1.0


def _options(url: str, key: str, timeout: float) -> dict[str, Any]:
    return {"base_url": url.rstrip("/"), "headers": {"Authorization": f"Bearer {key}"}, "timeout": timeout}


class _Followed:
    """How far a stream is: what to ask for when it breaks, and whether it is over."""

    def __init__(self, job_id: UUID | str, after: int) -> None:
        self.path = path("jobs", job_id, "events")
        self.last = str(after)  # the id of the last message, or the number of an event
        self.over = False

    @property
    def headers(self) -> dict[str, str]:
        return {"Accept": "text/event-stream", "Last-Event-ID": self.last}

    def take(self, message: Message) -> Event | None:
        """The event in it, if it is one that was not seen before."""
        if message.id:
            self.last = message.id
        self.over = message.event == "end"
        return values.event(message.data) if message.event == "patch" else None


class Client:
    """``with Client("https://jobs.example.com", key) as client``; safe to share between threads."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = 30.0,
        tries: int = 5,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._http = httpx2.Client(**_options(url, key, timeout), transport=transport)
        self._tries = tries

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def ask(self, call: Call[T], *, tries: int | None = None) -> T:
        """Send a call, again where that may help. Raises the error of the last answer."""
        for pause in pauses(tries or self._tries):
            least: float | None = 0.0
            try:
                response = self._http.send(call.request(self._http))
            except httpx2.TransportError as problem:
                error = lost(problem)
            else:
                if response.is_success:
                    return call.answer(response)
                error, least = failed(response)
            if pause is None or least is None:
                raise error
            time.sleep(max(pause, least))
        raise AssertionError("unreachable")

    def enqueue(
        self,
        kind: str,
        payload: object = None,
        *,
        key: str | None = None,
        force: bool = False,
        **options: Unpack[JobOptions],
    ) -> Enqueued:
        """Ask for a job. The same ``key`` of the same kind is the same job; ``force`` allows an unknown kind."""
        return self.ask(operations.enqueue(kind, payload, key, options, force=force))

    def batch(self, jobs: Sequence[Mapping[str, Any]], *, atomic: bool = True) -> list[Enqueued | Refused]:
        """Ask for up to 1000 jobs, each ``{"kind": …, "payload": …, "key": …}``: all or none, unless not ``atomic``."""
        return self.ask(operations.batch(jobs, atomic=atomic))

    def get(self, job_id: UUID | str) -> Job:
        return self.ask(operations.get(job_id))

    def list_jobs(self, **filters: Any) -> Iterator[Job]:
        """The newest jobs first, without payloads and results, page by page as they are read.

        Filters: state, kind, queue, tag, key, created_after, created_before.
        """
        cursor: str | None = None
        while True:
            found, cursor = self.ask(operations.page_of_jobs(filters, cursor))
            yield from found
            if cursor is None:
                return

    def result(self, job_id: UUID | str) -> Any:
        """What the handler of a job that succeeded returned."""
        return self.ask(operations.result(job_id))

    def attempts(self, job_id: UUID | str) -> list[Attempt]:
        return self.ask(operations.attempts(job_id))

    def explain(self, job_id: UUID | str) -> list[Reason]:
        """Why the job is not running."""
        return self.ask(operations.explain(job_id))

    def events(self, job_id: UUID | str, *, after: int = 0) -> Iterator[Event]:
        """What has happened to a job so far."""
        while True:
            found, more = self.ask(operations.page_of_events(job_id, after))
            yield from found
            if not more:
                return
            after = found[-1].seq

    def cancel(self, job_id: UUID | str, reason: str | None = None) -> State:
        """``canceled``, or ``running`` for one that runs: its worker is told."""
        return self.ask(operations.cancel(job_id, reason))

    def retry(self, job_id: UUID | str, run_at: datetime | None = None) -> State:
        """Give a failed, dead or canceled job a new budget of attempts."""
        return self.ask(operations.retry(job_id, run_at))

    def reschedule(self, job_id: UUID | str, run_at: datetime) -> State:
        """Move a job that waits to another time, or retry one that has ended then."""
        return self.ask(operations.reschedule(job_id, run_at))

    def follow(self, job_id: UUID | str, *, after: int = 0) -> Iterator[Event]:
        """Every event of a job after this number, as they come, until it has ended; goes on where a stream broke."""
        return self._follow(job_id, after, until=float("inf"))

    def wait(self, job_id: UUID | str, *, timeout: float | None = None) -> Job:
        """The job when it has ended. Raises TimeoutError when that takes longer than ``timeout`` seconds."""
        until = float("inf") if timeout is None else time.monotonic() + timeout
        for _ in self._follow(job_id, 0, until=until):
            pass
        return self.get(job_id)

    def queues(self) -> list[Queue]:
        """All queues; for a key of the installation."""
        return self.ask(operations.queues())

    def list_schedules(self) -> Iterator[Schedule]:
        cursor: str | None = None
        while True:
            found, cursor = self.ask(operations.page_of_schedules(cursor))
            yield from found
            if cursor is None:
                return

    def get_schedule(self, name: str) -> Schedule:
        return self.ask(operations.get_schedule(name))

    def put_schedule(self, name: str, kind: str, payload: object = None, **options: Any) -> Schedule:
        """Make a schedule, or change it: ``cron="0 3 * * *", zone="Europe/Berlin"``, ``every_s=300`` or ``at=…``."""
        return self.ask(operations.put_schedule(name, kind, payload, options))

    def delete_schedule(self, name: str) -> None:
        self.ask(operations.delete_schedule(name))

    def _follow(self, job_id: UUID | str, after: int, *, until: float) -> Iterator[Event]:
        followed = _Followed(job_id, after)
        while not followed.over:
            try:
                yield from self._stream(followed, until)
            except httpx2.TransportError:
                if time.monotonic() > until:
                    raise TimeoutError(f"job {job_id} has not ended") from None
            if not followed.over:
                time.sleep(_RECONNECT_SECONDS)

    def _stream(self, followed: _Followed, until: float) -> Iterator[Event]:
        """Events until the stream ends, for whatever reason."""
        timeout = httpx2.Timeout(_SILENCE_SECONDS, read=max(0.01, min(_SILENCE_SECONDS, until - time.monotonic())))
        with self._http.stream("GET", followed.path, headers=followed.headers, timeout=timeout) as response:
            if response.status_code == 204:
                followed.over = True
                return
            if not response.is_success:
                response.read()
                error, least = failed(response)
                if least is None:
                    raise error
                time.sleep(least)
                return
            reader = Reader()
            for line in response.iter_lines():
                if time.monotonic() > until:
                    raise TimeoutError("the job has not ended")
                message = reader.take(line)
                if message and (event := followed.take(message)):
                    yield event


class AsyncClient:
    """``async with AsyncClient("https://jobs.example.com", key) as client``."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = 30.0,
        tries: int = 5,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx2.AsyncClient(**_options(url, key, timeout), transport=transport)
        self._tries = tries

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def ask(self, call: Call[T], *, tries: int | None = None) -> T:
        """Send a call, again where that may help. Raises the error of the last answer."""
        for pause in pauses(tries or self._tries):
            least: float | None = 0.0
            try:
                response = await self._http.send(call.request(self._http))
            except httpx2.TransportError as problem:
                error: LeaseholdError = lost(problem)
            else:
                if response.is_success:
                    return call.answer(response)
                error, least = failed(response)
            if pause is None or least is None:
                raise error
            await asyncio.sleep(max(pause, least))
        raise AssertionError("unreachable")

    async def enqueue(
        self,
        kind: str,
        payload: object = None,
        *,
        key: str | None = None,
        force: bool = False,
        **options: Unpack[JobOptions],
    ) -> Enqueued:
        """Ask for a job. The same ``key`` of the same kind is the same job; ``force`` allows an unknown kind."""
        return await self.ask(operations.enqueue(kind, payload, key, options, force=force))

    async def batch(self, jobs: Sequence[Mapping[str, Any]], *, atomic: bool = True) -> list[Enqueued | Refused]:
        """Ask for up to 1000 jobs, each ``{"kind": …, "payload": …, "key": …}``: all or none, unless not ``atomic``."""
        return await self.ask(operations.batch(jobs, atomic=atomic))

    async def get(self, job_id: UUID | str) -> Job:
        return await self.ask(operations.get(job_id))

    async def list_jobs(self, **filters: Any) -> AsyncIterator[Job]:
        """The newest jobs first, without payloads and results, page by page as they are read.

        Filters: state, kind, queue, tag, key, created_after, created_before.
        """
        cursor: str | None = None
        while True:
            found, cursor = await self.ask(operations.page_of_jobs(filters, cursor))
            for job in found:
                yield job
            if cursor is None:
                return

    async def result(self, job_id: UUID | str) -> Any:
        """What the handler of a job that succeeded returned."""
        return await self.ask(operations.result(job_id))

    async def attempts(self, job_id: UUID | str) -> list[Attempt]:
        return await self.ask(operations.attempts(job_id))

    async def explain(self, job_id: UUID | str) -> list[Reason]:
        """Why the job is not running."""
        return await self.ask(operations.explain(job_id))

    async def events(self, job_id: UUID | str, *, after: int = 0) -> AsyncIterator[Event]:
        """What has happened to a job so far."""
        while True:
            found, more = await self.ask(operations.page_of_events(job_id, after))
            for event in found:
                yield event
            if not more:
                return
            after = found[-1].seq

    async def cancel(self, job_id: UUID | str, reason: str | None = None) -> State:
        """``canceled``, or ``running`` for one that runs: its worker is told."""
        return await self.ask(operations.cancel(job_id, reason))

    async def retry(self, job_id: UUID | str, run_at: datetime | None = None) -> State:
        """Give a failed, dead or canceled job a new budget of attempts."""
        return await self.ask(operations.retry(job_id, run_at))

    async def reschedule(self, job_id: UUID | str, run_at: datetime) -> State:
        """Move a job that waits to another time, or retry one that has ended then."""
        return await self.ask(operations.reschedule(job_id, run_at))

    async def follow(self, job_id: UUID | str, *, after: int = 0) -> AsyncIterator[Event]:
        """Every event of a job after this number, as they come, until it has ended; goes on where a stream broke."""
        followed = _Followed(job_id, after)
        while not followed.over:
            try:
                async for event in self._stream(followed):
                    yield event
            except httpx2.TransportError:
                pass
            if not followed.over:
                await asyncio.sleep(_RECONNECT_SECONDS)

    async def wait(self, job_id: UUID | str, *, timeout: float | None = None) -> Job:
        """The job when it has ended. Raises TimeoutError when that takes longer than ``timeout`` seconds."""
        async with asyncio.timeout(timeout):
            async for _ in self.follow(job_id):
                pass
        return await self.get(job_id)

    async def queues(self) -> list[Queue]:
        """All queues; for a key of the installation."""
        return await self.ask(operations.queues())

    async def list_schedules(self) -> AsyncIterator[Schedule]:
        cursor: str | None = None
        while True:
            found, cursor = await self.ask(operations.page_of_schedules(cursor))
            for schedule in found:
                yield schedule
            if cursor is None:
                return

    async def get_schedule(self, name: str) -> Schedule:
        return await self.ask(operations.get_schedule(name))

    async def put_schedule(self, name: str, kind: str, payload: object = None, **options: Any) -> Schedule:
        """Make a schedule, or change it: ``cron="0 3 * * *", zone="Europe/Berlin"``, ``every_s=300`` or ``at=…``."""
        return await self.ask(operations.put_schedule(name, kind, payload, options))

    async def delete_schedule(self, name: str) -> None:
        await self.ask(operations.delete_schedule(name))

    async def _stream(self, followed: _Followed) -> AsyncIterator[Event]:
        """Events until the stream ends, for whatever reason."""
        async with self._http.stream(
            "GET", followed.path, headers=followed.headers, timeout=_SILENCE_SECONDS
        ) as response:
            if response.status_code == 204:
                followed.over = True
                return
            if not response.is_success:
                await response.aread()
                error, least = failed(response)
                if least is None:
                    raise error
                await asyncio.sleep(least)
                return
            reader = Reader()
            async for line in response.aiter_lines():
                message = reader.take(line)
                if message and (event := followed.take(message)):
                    yield event
