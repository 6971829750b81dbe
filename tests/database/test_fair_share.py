"""Calls that may wait for a lock have half of a pool, and each tenant a share of that half."""

import asyncio
from types import TracebackType
from typing import Self
from uuid import UUID, uuid4

import pytest

from leasehold.database.fair_share import Shares
from leasehold.errors import QuotaExceeded

A, B, C = uuid4(), uuid4(), uuid4()


class Callers:
    """Calls of tenants; each holds its share until it is let go."""

    def __init__(self, shares: Shares) -> None:
        self._shares = shares
        self._calls: list[tuple[UUID, asyncio.Task[None], asyncio.Event]] = []
        self.running: list[UUID] = []  # in the order in which they began

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """None of them outlives its test."""
        for _, task, _ in self._calls:
            task.cancel()
        await asyncio.gather(*(task for _, task, _ in self._calls), return_exceptions=True)

    async def begin(self, tenant: UUID, n: int = 1) -> None:
        for _ in range(n):
            end = asyncio.Event()
            self._calls.append((tenant, asyncio.create_task(self._hold(tenant, end)), end))
        await self.settle()

    async def end(self, tenant: UUID) -> None:
        """The oldest of this tenant."""
        place = next(place for place, (of, _, _) in enumerate(self._calls) if of == tenant)
        _, task, end = self._calls.pop(place)
        end.set()
        await task
        await self.settle()

    def cancel(self, tenant: UUID) -> None:
        """The newest of this tenant."""
        next(task for of, task, _ in reversed(self._calls) if of == tenant).cancel()

    async def settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    async def _hold(self, tenant: UUID, end: asyncio.Event) -> None:
        async with self._shares.of(tenant):
            self.running.append(tenant)
            await end.wait()


async def test_one_tenant_has_its_share_and_all_together_have_half() -> None:
    async with Callers(Shares(10)) as callers:
        await callers.begin(A, 10)
        assert callers.running == [A] * 3
        await callers.begin(B, 10)
        assert callers.running == [A] * 3 + [B] * 2, "five of ten"
        await callers.begin(C)
        for _ in range(4):
            await callers.end(A)
        assert callers.running[5:] == [A, B, C, A], "tenants take turns"


async def test_a_call_that_leaves_the_line_takes_no_turn() -> None:
    async with Callers(Shares(2)) as callers:
        await callers.begin(A)
        await callers.begin(A)
        callers.cancel(A)
        await callers.settle()
        await callers.begin(B)
        await callers.end(A)
        assert callers.running == [A, B]


async def test_a_turn_that_comes_to_a_call_that_leaves_is_passed_on() -> None:
    shares = Shares(2)
    async with Callers(shares) as callers:
        async with shares.of(A):
            await callers.begin(A)
            await callers.begin(B)
        callers.cancel(A)  # its turn has come, and it has not seen it yet
        await callers.settle()
        assert callers.running == [B]


async def test_too_long_a_wait_is_refused() -> None:
    shares = Shares(2)
    shares.patience_s = 0.01
    async with shares.of(A):
        with pytest.raises(QuotaExceeded, match="waiting for locks"):
            async with shares.of(A):
                pass
    async with shares.of(A):
        pass


@pytest.mark.parametrize(("connections", "most", "each"), [(1, 1, 1), (2, 1, 1), (4, 2, 2), (10, 5, 3), (20, 10, 5)])
def test_shares_grow_with_the_pool(connections: int, most: int, each: int) -> None:
    shares = Shares(connections)
    assert (shares.most, shares.each) == (most, each)
