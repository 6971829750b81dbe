"""A pool lends no more connections than it has, in the order in which they were asked for."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from leasehold.database.connection import Connection
from leasehold.database.database import Role
from leasehold.database.pool import Pool, Usage
from tests.cell import Cell


@pytest.fixture
async def pool(cell: Cell) -> AsyncIterator[Pool]:
    pool = Pool(lambda: asyncpg.connect(cell.url(Role.WORKER), connection_class=Connection), 2)
    yield pool
    pool.terminate()


async def asking(pool: Pool, n: int) -> list[asyncio.Task[asyncpg.Connection]]:
    """So many who wait for their turn."""
    tasks = [asyncio.create_task(pool.take()) for _ in range(n)]
    await asyncio.sleep(0)
    return tasks


async def test_whoever_is_at_hand_is_lent_without_a_wait(pool: Pool) -> None:
    assert pool.take_idle() is None, "none is open"
    first = await pool.take()
    assert pool.take_idle() is None, "it is in use"
    pool.give_back(first)
    assert pool.take_idle() is first
    assert pool.usage() == Usage(size=2, used=1, idle=0, waiting=0)


async def test_those_who_wait_come_before_those_who_come(pool: Pool) -> None:
    first, second = await pool.take(), await pool.take()
    third, fourth = await asking(pool, 2)
    assert pool.usage().waiting == 2
    pool.give_back(first)
    assert pool.take_idle() is None, "it belongs to whoever waited"
    assert await third is first
    pool.give_back(second)
    assert await fourth is second
    assert pool.usage() == Usage(size=2, used=2, idle=0, waiting=0)


async def test_a_turn_of_somebody_who_has_left_is_the_next_ones(pool: Pool) -> None:
    first, _ = await pool.take(), await pool.take()
    left, patient = await asking(pool, 2)
    left.cancel()
    pool.give_back(first)  # before the one who left has noticed
    assert await patient is first
    assert left.cancelled() or await asyncio.wait([left])
    assert pool.usage() == Usage(size=2, used=2, idle=0, waiting=0)


async def test_a_turn_that_comes_to_somebody_who_is_leaving_is_passed_on(pool: Pool) -> None:
    first, _ = await pool.take(), await pool.take()
    leaving, patient = await asking(pool, 2)
    pool.give_back(first)
    leaving.cancel()  # its turn has come, and it has not seen it yet
    assert await patient is first
    assert leaving.cancelled()


async def test_a_turn_is_not_lost_with_a_server_that_cannot_be_reached(cell: Cell) -> None:
    async def fail() -> asyncpg.Connection:
        raise OSError("nobody there")

    pool = Pool(fail, 1)
    for _ in range(3):
        with pytest.raises(OSError, match="nobody there"):
            await pool.take()
    assert pool.usage() == Usage(size=1, used=0, idle=0, waiting=0)


async def test_one_whose_call_was_cut_off_is_not_lent_again(pool: Pool) -> None:
    first = await pool.take()
    pool.give_up(first, asyncpg.UniqueViolationError("the server said so: it is ready for more"))
    assert not first.is_closed()
    pool.give_up(first, asyncio.CancelledError())
    pool.give_back(first)
    assert first.is_closed()
    assert pool.usage() == Usage(size=2, used=0, idle=0, waiting=0)
