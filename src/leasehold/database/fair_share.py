"""Who may use how much of a pool for calls that may wait for a lock.

Half of the connections are never used for them, so whatever waits for no lock is answered however long others wait.
Of the other half one tenant has a share: its own locks make its own requests wait.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from leasehold.errors import QuotaExceeded, Unreachable
from leasehold.outage import Outage


class Shares:
    """At most half of ``connections`` are lent at a time, and about half of those to one tenant.

    A call stands in its tenant's line a little longer than those before it may take, ``call_s``: where they wait for
    a database that is away, and not for locks, ``outage`` knows it by then.
    """

    def __init__(self, connections: int, *, call_s: float = 10.0, outage: Outage | None = None) -> None:
        self.most = max(1, connections // 2)
        self.each = self.most if self.most < 3 else (self.most + 1) // 2
        self.patience_s = call_s + 1.0
        self._outage = outage or Outage()
        self._used: Counter[UUID] = Counter()
        self._lines: dict[UUID, deque[asyncio.Future[None]]] = {}  # the tenant whose turn is next comes first

    @asynccontextmanager
    async def of(self, tenant: UUID) -> AsyncIterator[None]:
        """One of the tenant's share for the block. Raises QuotaExceeded after too long a wait for it."""
        await self._take(tenant)
        try:
            yield
        finally:
            self._give(tenant)

    async def _take(self, tenant: UUID) -> None:
        if tenant not in self._lines and self._has_room(tenant):
            self._used[tenant] += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._lines.setdefault(tenant, deque()).append(turn)
        try:
            async with asyncio.timeout(self.patience_s):
                await turn
        except BaseException as problem:
            if turn.done() and not turn.cancelled():  # the turn came at the same moment
                self._give(tenant)
            else:
                self._leave(tenant, turn)
            if isinstance(problem, TimeoutError):
                if self._outage.since is not None:
                    raise Unreachable("the database does not answer those who came before", hint="try again") from None
                raise QuotaExceeded(
                    f"{self.each} calls of this tenant are waiting for locks, and others wait behind them",
                    hint="end the transaction that holds the lock, and try again",
                ) from None
            raise

    def _give(self, tenant: UUID) -> None:
        self._used[tenant] -= 1
        if not self._used[tenant]:
            del self._used[tenant]
        self._call_next()

    def _leave(self, tenant: UUID, turn: asyncio.Future[None]) -> None:
        line = self._lines.get(tenant)
        if line and turn in line:
            line.remove(turn)
        if not line:
            self._lines.pop(tenant, None)

    def _call_next(self) -> None:
        """Tenants take turns, so that one with a long line makes the others wait no longer."""
        while (tenant := next((one for one in self._lines if self._has_room(one)), None)) is not None:
            line = self._lines.pop(tenant)
            turn = line.popleft()
            if line:
                self._lines[tenant] = line  # last
            if not turn.done():  # else its caller has left
                self._used[tenant] += 1
                turn.set_result(None)

    def _has_room(self, tenant: UUID) -> bool:
        return self._used[tenant] < self.each and self._used.total() < self.most
