"""Group commit in the client: enqueues that arrive while one is under way share the next transaction.

Each caller still waits for its own durable commit; what is saved is one round trip and one flush for each of them. What
may wait for another transaction never shares one: it is asked for by itself, over a connection of its own. What one
tenant asks wrongly fails for that tenant alone.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from leasehold.database.database import Database
from leasehold.database.wakeups import Notifier
from leasehold.engine import jobs
from leasehold.errors import LeaseholdError, Unreachable
from leasehold.job import Enqueued

#: Payloads in one transaction at most, and their characters.
_MOST = 1000
_MOST_CHARACTERS = 1_000_000
#: A longer payload may be kept as a body, whose row others may have locked: see enqueue_for.sql.
_LONG = 16_384
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
    answer: asyncio.Future[list[Enqueued] | None]  # None: it may wait, and is to be asked for by itself

    @property
    def group(self) -> tuple[str, str]:
        """Requests of one group are one call."""
        return self.kind, self.options


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
        waits: bool = False,
    ) -> tuple[list[Enqueued], bool]:
        """The jobs, and whether the workers of this queue were told with the commit. If not, the caller sees to it.

        ``plain``: neither the options nor keys ask for more than a place in a queue. ``waits``: the options ask for
        what another transaction may have locked, as keys do.
        """
        if not (waits or keys or len(payloads) > _MOST or any(len(payload) > _LONG for payload in payloads)):
            if self._busy:
                answer = asyncio.get_running_loop().create_future()
                self._waiting.append(_Request(tenant, kind, payloads, options, answer))
                made, woken = await answer, False
            else:
                made, woken = await self._lone(tenant, kind, payloads, options, queue, plain)
            if made is not None:
                return made, woken
        return await self._apart(tenant, kind, payloads, options, keys, queue)

    async def _lone(
        self, tenant: UUID, kind: str, payloads: Sequence[str], options: str, queue: str, plain: bool
    ) -> tuple[list[Enqueued] | None, bool]:
        """Nobody shares the commit of a first one; those who come meanwhile share the next."""
        self._busy = True
        wake = self._notifier.take_turn(queue) if len(payloads) == 1 else None
        woken = False
        try:
            if plain and kind not in self._special:
                made, woken = await jobs.enqueue_plainly(self._db, tenant, kind, payloads, options, wake)
                if made is not None:
                    return made, woken
                self._remember(kind)
            made, woken = await jobs.enqueue_for(self._db, [tenant], kind, payloads, options, wake=wake)
            return made, woken
        finally:
            if wake and not woken:  # those before us who wait for it still do
                self._notifier.notify(wake.queue)
            self._busy = False
            self._go_on()

    async def _apart(
        self,
        tenant: UUID,
        kind: str,
        payloads: Sequence[str],
        options: str,
        keys: Sequence[str | None] | None,
        queue: str,
    ) -> tuple[list[Enqueued], bool]:
        wake = self._notifier.take_turn(queue) if len(payloads) == 1 else None
        if wake is None:
            return await jobs.enqueue_text(self._db, tenant, kind, payloads, options, keys=keys), False
        woken = False
        try:
            made, woken = await jobs.enqueue_and_wake(self._db, tenant, kind, payloads, options, wake, keys=keys)
            return made, woken
        finally:
            if not woken:
                self._notifier.notify(wake.queue)

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
                _answer(request, made and made[: len(request.payloads)])
                if made is not None:
                    del made[: len(request.payloads)]

    async def _call(self, requests: list[_Request], connection: Any = None) -> list[Enqueued] | None:
        first = requests[0]
        payloads = [payload for request in requests for payload in request.payloads]
        if all(request.tenant == first.tenant for request in requests):
            tenants = [first.tenant]
        else:
            tenants = [request.tenant for request in requests for _ in request.payloads]
        made, _ = await jobs.enqueue_for(self._db, tenants, first.kind, payloads, first.options, connection=connection)
        return made


def _answer(request: _Request, made: list[Enqueued] | None) -> None:
    if not request.answer.done():  # else its caller was canceled and does not wait any more
        request.answer.set_result(made)


def _answer_all(batch: list[_Request], problem: BaseException) -> None:
    for request in batch:
        if not request.answer.done():
            request.answer.set_exception(problem)
