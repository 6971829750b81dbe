"""A tenant that holds a lock, or many, makes its own requests wait, and no other tenant's."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.http.app import open_services
from tests.cell import Cell
from tests.http.conftest import Keys, client_of, problem, settings_of
from tests.waiting import eventually

#: What a request of another tenant may take on a busy machine; a lock is waited for much longer.
PROMPT_SECONDS = 1.0
LARGE = {"text": "x" * 100_000}
#: Requests that wait for what an open transaction of the same tenant holds.
WAITING: dict[str, dict[str, Any]] = {
    "unique": {"kind": "t.work", "unique": "u"},
    "key": {"kind": "t.work", "key": "k"},
    "large payload": {"kind": "t.work", "payload": LARGE},
}


@asynccontextmanager
async def holding(cell: Cell, db: Database) -> AsyncIterator[None]:
    """A program of tenant a has enqueued under the same keys in a transaction that is still open."""
    async with db.transaction(tenant=cell.tenant_a) as connection:
        held = {"connection": connection}
        await jobs.enqueue(db, cell.tenant_a, "t.work", ["{}"], {"unique": "u"}, **held)
        await jobs.enqueue(db, cell.tenant_a, "t.work", ["{}"], {}, keys=["k"], **held)
        await jobs.enqueue(db, cell.tenant_a, "t.work", [json.dumps(LARGE)], {}, **held)
        yield


async def waiting_calls(cell: Cell) -> int:
    [row] = await cell.look(
        "select count(distinct pid) as n from pg_locks l join pg_stat_activity a using (pid)"
        " where a.datname = current_database() and not l.granted"
    )
    return int(row["n"])


async def wait_for_locks(cell: Cell, n: int) -> None:
    async def is_so() -> bool:
        return await waiting_calls(cell) >= n

    await eventually(is_so, what=f"{n} calls that wait for a lock")


async def check_prompt(ask: Callable[[], Awaitable[httpx.Response]], times: int = 3) -> None:
    for _ in range(times):
        began = time.monotonic()
        response = await ask()
        took = time.monotonic() - began
        assert response.status_code in (200, 202), response.text
        assert took < PROMPT_SECONDS, f"{response.request.method} {response.request.url} took {took:.1f} s"


@asynccontextmanager
async def asking(client: httpx.AsyncClient, body: dict[str, Any], times: int) -> AsyncIterator[None]:
    """So many requests of tenant a are under way, and are given up at the end."""
    tasks = [asyncio.create_task(client.post("/v1/jobs", json=body)) for _ in range(times)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("body", WAITING.values(), ids=WAITING)
async def test_a_lock_that_one_tenant_waits_for_delays_no_other_tenant(
    cell: Cell, api_db: Database, a: httpx.AsyncClient, b: httpx.AsyncClient, body: dict[str, Any]
) -> None:
    async with holding(cell, api_db), asking(a, body, 1):
        await wait_for_locks(cell, 1)
        await check_prompt(lambda: b.post("/v1/jobs", json={"kind": "t.work"}))


async def test_a_tenant_whose_every_request_waits_leaves_the_others_connections(
    cell: Cell, api_db: Database, a: httpx.AsyncClient, b: httpx.AsyncClient
) -> None:
    asks: list[Callable[[], Awaitable[httpx.Response]]] = [
        lambda: b.post("/v1/jobs", json={"kind": "t.work"}),
        lambda: b.post("/v1/jobs", json={"kind": "t.work", "key": "k"}),
        lambda: b.post("/v1/jobs", json={"kind": "t.work"}, headers={"Idempotency-Key": "once"}),
        lambda: b.post("/v1/jobs:batch", json={"jobs": [{"kind": "t.work", "unique": "u"}]}),
        lambda: b.get("/v1/jobs"),
    ]
    async with holding(cell, api_db), asking(a, WAITING["key"], 40), asking(a, WAITING["unique"], 40):
        await wait_for_locks(cell, 2)
        for ask in asks:
            await check_prompt(ask)
        assert (await a.get("/v1/jobs")).status_code == 200, "what takes no lock waits for none"


async def test_requests_that_hold_a_transaction_are_bounded_for_each_tenant(
    cell: Cell, api_db: Database, a: httpx.AsyncClient, b: httpx.AsyncClient
) -> None:
    """A batch, a cancel and whatever names an Idempotency-Key run in a transaction of their own."""
    batch = {"jobs": [{"kind": "t.work", "unique": "u"}]}
    async with holding(cell, api_db):
        tasks = [asyncio.create_task(a.post("/v1/jobs:batch", json=batch)) for _ in range(40)]
        await wait_for_locks(cell, 2)
        await check_prompt(lambda: b.post("/v1/jobs:batch", json=batch))
        await check_prompt(lambda: b.post("/v1/jobs", json={"kind": "t.work"}))
    made = {response.status_code for response in await asyncio.gather(*tasks)}
    assert made == {200}, "they were only waiting"


async def test_whoever_waits_too_long_behind_its_own_requests_is_told_to_come_back(
    cell: Cell, api_db: Database, key: Keys
) -> None:
    async with (
        open_services(settings_of(cell), loopback=True) as services,
        client_of(services, key.a) as a,
        holding(cell, api_db),
        asking(a, WAITING["key"], 10),
    ):
        await wait_for_locks(cell, 2)
        assert services.db.shares
        services.db.shares.patience_s = 0.1
        refused = await a.post("/v1/jobs", json=WAITING["key"])
        problem(refused, 429, "quota_exceeded")
        assert refused.headers["retry-after"]
