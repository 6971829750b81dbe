"""Concurrent enqueues of one process share commits, and each caller gets its own answer."""

import asyncio
from typing import Any

import asyncpg
import pytest

from leasehold.database.database import Database, Role, Target
from leasehold.errors import BadInput, NotFound
from leasehold.job import Enqueued
from leasehold.program.client import Backend, Client
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


class Counting(Database):
    """Counts the calls that the callers of all tenants share."""

    shared = 0

    async def call(self, function: str, *args: Any, **options: Any) -> list[asyncpg.Record]:
        self.shared += function == "enqueue" and args[-1] is not None  # it names the tenants
        return await super().call(function, *args, **options)


async def test_what_one_tenant_asks_wrongly_again_and_again_costs_the_others_few_calls(cell: Cell) -> None:
    async with Counting(Target(url=cell.url(Role.API), role=Role.API), fair=True) as db:
        backend = Backend(Settings(), db)
        a, b = (Client(backend, tenant) for tenant in (cell.tenant_a, cell.tenant_b))
        wrong = [a.enqueue("t.work", queue="nowhere") for _ in range(100)]
        right = [b.enqueue("t.work") for _ in range(100)]
        mixed = [one for both in zip(wrong, right, strict=True) for one in both]
        made = await asyncio.gather(*mixed, return_exceptions=True)
        await backend.send_waiting()
    assert [type(one) for one in made] == [NotFound, Enqueued] * 100
    # the first alone; all the others; those of each tenant. What is wrong is found out elsewhere,
    # one by one.
    assert db.shared <= 6


async def test_a_large_payload_and_one_of_many_go_by_themselves(cell: Cell, clients: list[Client]) -> None:
    small = [clients[0].enqueue("t.work", {"n": n}) for n in range(3)]
    large = clients[1].enqueue("t.work", {"text": "x" * 70_000})
    many = clients[1].enqueue_many("t.work", [{}] * 1001)
    await asyncio.gather(*small, large, many)
    rows = await cell.look("select count(*) as n from leasehold.job group by xid order by n")
    assert [row["n"] for row in rows] == [1, 1, 2, 1001]
