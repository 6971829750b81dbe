"""Group commit in the client: enqueues that arrive while one is under way share the next transaction.

Each caller still waits for its own durable commit; what is saved is one round trip and one flush for each of them. What
may wait for another transaction never shares one: it is asked for by itself, over a connection of its own. What one
tenant asks wrongly fails for that tenant alone.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from leasehold import json_codec
from leasehold.database.database import Database
from leasehold.database.wakeups import Notifier
from leasehold.engine import jobs
from leasehold.errors import LeaseholdError, Unreachable
from leasehold.job import Enqueued

#: Payloads in one transaction at most, and their characters.
_MOST = 1000
_MOST_CHARACTERS = 1_000_000
#: A payload of more than 64 KiB is stored in a row that others may have locked. JSON takes at most six times as many
#: bytes there as it has characters.
_LONG = 10_000
#: The option whose jobs lock what another transaction may have locked, as keys and large payloads do.
_LOCKING = "unique"
#: Of the event loop, from an answer until whoever got it has been able to ask again.
_ROUNDS = 2


@dataclass(slots=True)
class _Request:
    tenant: UUID
    kind: str
    payloads: Sequence[str]
    options: Mapping[str, Any]
    answer: asyncio.Future[list[Enqueued] | None]  # None: it is to go by itself

    @property
    def group(self) -> tuple[str, str]:
        """Requests of one group are one call."""
        return self.kind, json_codec.encode(self.options, what="options") if self.options else ""


class EnqueueBatcher:
    """Enqueues for many concurrent callers over one connection at a time."""

    def __init__(self, db: Database, notifier: Notifier) -> None:
        self._db = db
        self._notifier = notifier
        self._waiting: list[_Request] = []
        self._busy = False  # an enqueue is under way
        self._running: asyncio.Task[None] | None = None  # serves those who wait

    async def enqueue(
        self,
        tenant: UUID,
        kind: str,
        payloads: Sequence[str],
        options: Mapping[str, Any],
        keys: Sequence[str | None] | None = None,
    ) -> tuple[list[Enqueued], bool]:
        """The jobs, and whether the workers of their queue were told with the commit. If not, the caller sees to it."""
        may_wait = keys is not None or _LOCKING in options or any(len(payload) > _LONG for payload in payloads)
        if may_wait or len(payloads) > _MOST:
            return await self._alone(tenant, kind, payloads, options, keys=keys)
        if self._busy:
            answer = asyncio.get_running_loop().create_future()
            self._waiting.append(_Request(tenant, kind, payloads, options, answer))
            made = await answer
            return (made, False) if made is not None else await self._alone(tenant, kind, payloads, options)
        self._busy = True
        try:  # those who come meanwhile share the next commit
            return await self._alone(None, kind, payloads, options, tenants=[tenant])
        finally:
            self._busy = False
            self._go_on()

    async def _alone(
        self, tenant: UUID | None, kind: str, payloads: Sequence[str], options: Mapping[str, Any], **how: Any
    ) -> tuple[list[Enqueued], bool]:
        """In a transaction of its own, which wakes workers too if it is time to."""
        wake = self._notifier.take_turn(str(options.get("queue") or "")) if len(payloads) == 1 else None
        try:
            made = await jobs.enqueue(self._db, tenant, kind, payloads, options, wake=wake, **how)
            return made, wake is not None and wake.is_sent
        finally:
            if wake and not wake.is_sent:  # those before us who wait for it still do
                self._notifier.notify(wake.queue)

    def _go_on(self) -> None:
        """Serve those who came while the one before them was served."""
        if self._waiting:
            self._busy = True
            self._running = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while self._waiting:
            batch = self._take()
            try:
                await self._serve(batch)
                await self._let_them_ask_again()
            except Unreachable as problem:
                _answer_all(batch, problem)
            except BaseException as problem:
                _answer_all([*batch, *self._waiting], problem)
                self._waiting.clear()
                self._busy = False
                raise
        self._busy = False

    async def _serve(self, batch: list[_Request]) -> None:
        """Together if that goes, else half by half. Where only requests of one tenant are left, each goes by itself."""
        try:
            await self._together(batch)
        except Unreachable:
            raise
        except LeaseholdError:
            tenants = sorted({request.tenant for request in batch})
            if len(tenants) == 1:
                for request in batch:
                    _answer(request, None)
                return
            first = set(tenants[: len(tenants) // 2])
            await self._serve([request for request in batch if request.tenant in first])
            await self._serve([request for request in batch if request.tenant not in first])

    async def _let_them_ask_again(self) -> None:
        """Those who were just answered may have more to ask; or the first of them would go alone, before the others."""
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)

    def _take(self) -> list[_Request]:
        payloads = characters = n = 0
        for request in self._waiting:
            payloads += len(request.payloads)
            characters += sum(map(len, request.payloads))
            if n and (payloads > _MOST or characters > _MOST_CHARACTERS):
                break
            n += 1
        batch, self._waiting = self._waiting[:n], self._waiting[n:]
        return batch

    async def _together(self, batch: list[_Request]) -> None:
        groups: dict[tuple[str, str], list[_Request]] = {}
        for request in batch:
            groups.setdefault(request.group, []).append(request)
        if len(groups) == 1:
            answers = [await self._call(batch)]
        else:
            async with self._db.transaction() as connection:
                answers = [await self._call(requests, connection) for requests in groups.values()]
        for requests, made in zip(groups.values(), answers, strict=True):
            for request in requests:
                _answer(request, made[: len(request.payloads)])
                del made[: len(request.payloads)]

    async def _call(self, requests: list[_Request], connection: Any = None) -> list[Enqueued]:
        first = requests[0]
        payloads = [payload for request in requests for payload in request.payloads]
        if all(request.tenant == first.tenant for request in requests):
            tenants = [first.tenant]
        else:
            tenants = [request.tenant for request in requests for _ in request.payloads]
        given = (first.kind, payloads, first.options)
        return await jobs.enqueue(self._db, None, *given, tenants=tenants, connection=connection)


def _answer(request: _Request, made: list[Enqueued] | None) -> None:
    if not request.answer.done():  # else its caller was canceled and does not wait any more
        request.answer.set_result(made)


def _answer_all(batch: list[_Request], problem: BaseException) -> None:
    for request in batch:
        if not request.answer.done():
            request.answer.set_exception(problem)
