"""Group commit in the client: enqueues that arrive while one is under way share the next transaction.

Each caller still waits for its own durable commit; what is saved is one round trip and one flush for each of them. What
one caller asks wrongly fails for that caller alone.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from leasehold.engine import jobs
from leasehold.engine.database import Database
from leasehold.engine.wakeups import Notifier
from leasehold.errors import LeaseholdError, Unreachable
from leasehold.job import Enqueued

#: Payloads in one transaction at most.
_MOST = 1000
#: Kinds that are remembered; whoever asks for wrong things may ask for any kind.
_MOST_SPECIAL = 1000
#: Of the event loop, from an answer until whoever got it has been able to ask again.
_ROUNDS = 2


@dataclass(slots=True)
class _Request:
    tenant: UUID
    kind: str
    payloads: Sequence[str]
    options: str
    keys: Sequence[str | None] | None
    answer: asyncio.Future[list[Enqueued]] | None = None  # for those who wait

    @property
    def group(self) -> tuple[Any, ...]:
        """Requests of one group become one call. A key may conflict, so a request with keys stands alone."""
        return (self.kind, self.options, id(self) if self.keys else None)


class GroupCommit:
    """Enqueues for many concurrent callers over one connection at a time."""

    def __init__(self, db: Database, notifier: Notifier) -> None:
        self._db = db
        self._notifier = notifier
        self._waiting: list[_Request] = []
        self._busy = False  # an enqueue is under way
        self._running: asyncio.Task[None] | None = None  # serves those who wait
        self._special: set[str] = set()  # kinds whose own options make their jobs other than plain

    async def enqueue(
        self,
        tenant: UUID,
        kind: str,
        payloads: Sequence[str],
        options: str,
        keys: Sequence[str | None] | None = None,
        *,
        queue: str = "",
        plain: bool = False,
    ) -> tuple[list[Enqueued], bool]:
        """The jobs, and whether the workers of this queue were told with the commit. If not, the caller sees to it.

        ``plain``: neither the options nor keys ask for more than a place in a queue.
        """
        if self._busy:
            answer = asyncio.get_running_loop().create_future()
            self._waiting.append(_Request(tenant, kind, payloads, options, keys, answer))
            return await answer, False
        self._busy = True
        wake = self._notifier.take_turn(queue) if len(payloads) == 1 else None
        woken = False
        try:
            asked = (self._db, tenant, kind, payloads, options)
            if plain and kind not in self._special:
                made, woken = await jobs.enqueue_plainly(*asked, wake)
                if made is not None:
                    return made, woken
                self._remember(kind)
            if wake:
                made, woken = await jobs.enqueue_and_wake(*asked, wake, keys=keys)
                return made, woken
            return await jobs.enqueue_text(*asked, keys=keys), False
        finally:
            if wake and not woken:  # those before us who wait for it still do
                self._notifier.notify(wake.queue)
            self._busy = False
            self._go_on()

    def _remember(self, kind: str) -> None:
        """Not to ask in vain twice, as long as this process lives."""
        if len(self._special) < _MOST_SPECIAL:
            self._special.add(kind)

    def _go_on(self) -> None:
        """Serve those who came while the one before them was served."""
        if self._waiting:
            self._busy = True
            self._running = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while self._waiting:
            batch = self._take()
            try:
                await self._together(batch)
                await self._let_them_ask_again()
            except Unreachable as problem:
                _answer_all(batch, problem)
            except LeaseholdError:
                for request in batch:  # find out whose fault it was
                    await self._alone(request)
            except BaseException as problem:
                _answer_all([*batch, *self._waiting], problem)
                self._waiting.clear()
                self._busy = False
                raise
        self._busy = False

    async def _let_them_ask_again(self) -> None:
        """Those who were just answered may have more to ask; or the first of them would go alone, before the others."""
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)

    def _take(self) -> list[_Request]:
        size = n = 0
        while n < len(self._waiting) and (n == 0 or size + len(self._waiting[n].payloads) <= _MOST):
            size += len(self._waiting[n].payloads)
            n += 1
        batch, self._waiting = self._waiting[:n], self._waiting[n:]
        return batch

    async def _together(self, batch: list[_Request]) -> None:
        groups: dict[tuple[Any, ...], list[_Request]] = {}
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
        kind, options = first.kind, first.options
        payloads = [payload for request in requests for payload in request.payloads]
        if all(request.tenant == first.tenant for request in requests):
            return await jobs.enqueue_text(
                self._db, first.tenant, kind, payloads, options, keys=first.keys, connection=connection
            )
        tenants = [request.tenant for request in requests for _ in request.payloads]
        return await jobs.enqueue_for(self._db, tenants, kind, payloads, options, connection=connection)

    async def _alone(self, request: _Request) -> None:
        try:
            _answer(request, await self._call([request]))
        except LeaseholdError as problem:
            _answer_all([request], problem)


def _answer(request: _Request, made: list[Enqueued]) -> None:
    if request.answer and not request.answer.done():  # else its caller was canceled and does not wait any more
        request.answer.set_result(made)


def _answer_all(batch: list[_Request], problem: BaseException) -> None:
    for request in batch:
        if request.answer and not request.answer.done():
            request.answer.set_exception(problem)
