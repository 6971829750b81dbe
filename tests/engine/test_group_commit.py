"""Concurrent enqueues of one process share commits, and each caller gets its own answer."""

import asyncio

import pytest

from leasehold.client import Backend, Client
from leasehold.engine.database import Database
from leasehold.errors import BadInput
from leasehold.settings import Settings
from tests.cell import Cell

CALLERS, CALLS = 20, 5


@pytest.fixture
def clients(cell: Cell, api_db: Database) -> list[Client]:
    backend = Backend(Settings(), api_db)
    return [Client(backend, cell.tenant_a), Client(backend, cell.tenant_b)]


async def test_callers_that_ask_again_go_together_again(cell: Cell, clients: list[Client]) -> None:
    async def caller(number: int) -> None:
        for _ in range(CALLS):
            await clients[number % 2].enqueue("t.work", {"n": number})

    await asyncio.gather(*map(caller, range(CALLERS)))
    rows = await cell.look("select count(*) as n from leasehold.job group by xid order by xid")
    # the very first goes alone; after that nobody goes before the others
    assert [row["n"] for row in rows] == [1, *[CALLERS] * (CALLS - 1), CALLERS - 1]


async def test_a_caller_that_is_canceled_leaves_the_others_their_answers(cell: Cell, clients: list[Client]) -> None:
    tasks = [asyncio.create_task(clients[0].enqueue("t.work", {"n": n})) for n in range(4)]
    await asyncio.sleep(0)
    tasks[2].cancel()
    made = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(made[2], asyncio.CancelledError)
    assert len({job.job_id for job in made if not isinstance(job, BaseException)}) == 3
    assert (await clients[0].enqueue("t.work")).created


async def test_what_one_asks_wrongly_fails_for_that_one_alone(clients: list[Client]) -> None:
    kinds = ["t.work", "t.work", "no kind", "t.work"]
    made = await asyncio.gather(*(clients[0].enqueue(kind) for kind in kinds), return_exceptions=True)
    assert [isinstance(job, BadInput) for job in made] == [False, False, True, False]
