"""What a handler of a remote worker knows of its attempt, and what it may say and ask."""

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Unpack
from uuid import UUID

from leasehold.job import ClaimedJob, Enqueued
from leasehold.log import emit
from leasehold.program.outcomes import storable
from leasehold.redact import redact
from leasehold.remote import operations
from leasehold.remote.client import AsyncClient, Client
from leasehold.remote.connection import Call
from leasehold.typed_options import JobOptions

#: As for handlers that have a database; how many lines are kept is for the server to say.
LOG_FIELDS = 16_000
_LEVELS = {"info": 20, "warning": 30, "error": 40}


class Attempt:
    """What both contexts share: the grant, what the worker told it, and how what is said becomes a call."""

    def __init__(self, grant: ClaimedJob, worker_id: str, move_timeout: Callable[[float], object]) -> None:
        self.grant = grant
        self.worker_id = worker_id
        self.move_timeout = move_timeout  # to so many seconds from now; from any thread
        self.cancelled = threading.Event()  # for handlers in threads
        self.told = asyncio.Event()  # for those in the event loop

    def cancel(self) -> None:
        """Call it in the thread of the event loop."""
        self.cancelled.set()
        self.told.set()

    def progress(self, percent: float, message: str | None) -> Call[None]:
        return self._say({"type": "progress", "progress": max(0, min(100, percent)), "message": _told(message)})

    def log(self, level: str, message: str, fields: Mapping[str, Any]) -> Call[None]:
        text = _told(message)
        emit("handler says", level=_LEVELS[level], text=text, fields=dict(fields))
        return self._say({"type": "log", "level": level, "message": text, "fields": _plain(fields)})

    def extend(self, seconds: float) -> Call[datetime]:
        return operations.extend(self.worker_id, self.grant.token, seconds)

    def _say(self, said: Mapping[str, Any]) -> Call[None]:
        return operations.say(self.worker_id, {"token": str(self.grant.token), **said})


class _Facts:
    """What is known of the attempt."""

    def __init__(self, attempt: Attempt) -> None:
        grant = attempt.grant
        self._attempt = attempt
        self.job_id: UUID = grant.job_id
        self.tenant_id: UUID = grant.tenant_id
        self.kind = grant.kind
        self.queue = grant.queue
        self.attempt = grant.attempt
        self.max_attempts = grant.max_attempts
        self.timeout_s = grant.timeout_s
        self.traceparent = grant.traceparent

    @property
    def cancelled(self) -> bool:
        """Somebody asked for the cancel of this job, or the attempt is being ended: leave soon."""
        return self._attempt.cancelled.is_set()


class Log:
    """``await ctx.log.info("asked the bank", order=7)``."""

    def __init__(self, attempt: Attempt, client: AsyncClient) -> None:
        self._attempt = attempt
        self._client = client

    async def info(self, message: str, **fields: Any) -> None:
        await self._write("info", message, fields)

    async def warning(self, message: str, **fields: Any) -> None:
        await self._write("warning", message, fields)

    async def error(self, message: str, **fields: Any) -> None:
        await self._write("error", message, fields)

    async def _write(self, level: str, message: str, fields: dict[str, Any]) -> None:
        await self._client.ask(self._attempt.log(level, message, fields))


class Context(_Facts):
    """For an async handler. What it says raises LeaseLost when the attempt is no longer ours."""

    def __init__(self, attempt: Attempt, client: AsyncClient) -> None:
        super().__init__(attempt)
        self._client = client
        self.log = Log(attempt, client)

    async def progress(self, percent: float, message: str | None = None) -> None:
        """Tell everybody who follows the job how far it is."""
        await self._client.ask(self._attempt.progress(percent, message))

    async def extend(self, seconds: float | None = None) -> datetime:
        """Move the hard timeout to so many seconds from now (default: the job's timeout); the new deadline."""
        wanted = self.timeout_s if seconds is None else seconds
        deadline = await self._client.ask(self._attempt.extend(wanted))
        self._attempt.move_timeout(wanted)
        return deadline

    async def enqueue(
        self,
        kind: str,
        payload: object = None,
        *,
        key: str | None = None,
        **options: Unpack[JobOptions],
    ) -> Enqueued:
        """Ask for a job of the key's tenant; the key needs the scope ``jobs:write`` too."""
        return await self._client.enqueue(kind, payload, key=key, **options)

    async def wait_cancelled(self) -> None:
        """Return when ``cancelled`` becomes true."""
        await self._attempt.told.wait()


class SyncLog:
    """The log of a sync handler: the same, without ``await``."""

    def __init__(self, attempt: Attempt, client: Client) -> None:
        self._attempt = attempt
        self._client = client

    def info(self, message: str, **fields: Any) -> None:
        self._write("info", message, fields)

    def warning(self, message: str, **fields: Any) -> None:
        self._write("warning", message, fields)

    def error(self, message: str, **fields: Any) -> None:
        self._write("error", message, fields)

    def _write(self, level: str, message: str, fields: dict[str, Any]) -> None:
        self._client.ask(self._attempt.log(level, message, fields))


class SyncContext(_Facts):
    """For a sync handler. It runs in a thread, which cannot be interrupted: look at ``cancelled`` now and then."""

    def __init__(self, attempt: Attempt, client: Client) -> None:
        super().__init__(attempt)
        self._client = client
        self.log = SyncLog(attempt, client)

    def progress(self, percent: float, message: str | None = None) -> None:
        self._client.ask(self._attempt.progress(percent, message))

    def extend(self, seconds: float | None = None) -> datetime:
        wanted = self.timeout_s if seconds is None else seconds
        deadline = self._client.ask(self._attempt.extend(wanted))
        self._attempt.move_timeout(wanted)
        return deadline

    def enqueue(
        self,
        kind: str,
        payload: object = None,
        *,
        key: str | None = None,
        **options: Unpack[JobOptions],
    ) -> Enqueued:
        return self._client.enqueue(kind, payload, key=key, **options)

    def wait_cancelled(self, seconds: float) -> bool:
        """Wait at most so long for the cancel; a sync handler's way to sleep."""
        return self._attempt.cancelled.wait(seconds)


def _told(text: str | None) -> str | None:
    """A text as it may leave this machine."""
    return None if text is None else storable(redact(text))[:4000]


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a log line as JSON: what is not JSON becomes text, what is too much is left out."""
    text = json.dumps(redact(dict(fields)), default=str)
    if len(text) > LOG_FIELDS:
        return {"fields": f"left out: more than {LOG_FIELDS} characters"}
    return dict(json.loads(text))
