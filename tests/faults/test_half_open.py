"""Connections that stay open and carry nothing, and a database that is frozen: nothing waits without an end."""

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from leasehold.database.database import Role
from leasehold.errors import Unreachable
from leasehold.job import Job, State
from tests.cell import Cell
from tests.cli.program import Program, Said, leasehold, started
from tests.faults.conftest import Own
from tests.faults.frozen import frozen
from tests.faults.sink import effects, more_than
from tests.http.conftest import PEPPER, bearer, make_key
from tests.waiting import eventually
from tests.worker.proxy import proxied
from tests.worker.running import ENVIRONMENT, Shop

pytestmark = pytest.mark.long

APP = "tests.faults.apps:app"
CALLERS = 20
#: An answer of the server comes within: a turn, a connection and a call.
ANSWER_SECONDS = 20.0
READY_SECONDS = 2.0
SHORT = {"LEASEHOLD_CONNECT_SECONDS": "2", "LEASEHOLD_CALL_SECONDS": "2", "LEASEHOLD_LONG_CALL_SECONDS": "3"}


@contextmanager
def serving(cell: Cell, **urls: str) -> Iterator[Program]:
    env = cell.environment() | SHORT | {"LEASEHOLD_TENANT": "a", "LEASEHOLD_KEY_PEPPER": PEPPER} | urls
    with started("serve", "--port", "0", env=env) as server:
        yield server


@contextmanager
def working(cell: Cell, **urls: str) -> Iterator[Program]:
    env = cell.environment() | ENVIRONMENT | SHORT | {"LEASEHOLD_LEASE_SECONDS": "20"} | urls
    with started("worker", APP, env=env) as worker:
        yield worker


async def has_said(program: Program, words: str) -> None:
    """Without stopping the event loop, which a proxy may live in."""
    await asyncio.to_thread(program.said, words)


async def ended(program: Program) -> Said:
    return await asyncio.to_thread(program.stopped)


@asynccontextmanager
async def asking(cell: Cell, server: Program) -> AsyncIterator[httpx.AsyncClient]:
    key = await make_key(cell, cell.tenant_a)
    await has_said(server, "serving")
    found = re.search(r"serving (http://\S+)/v1", server.err)
    assert found
    limits = httpx.Limits(max_connections=2 * CALLERS)
    async with httpx.AsyncClient(
        base_url=found[1], headers=bearer(key), timeout=ANSWER_SECONDS, limits=limits
    ) as client:
        yield client


async def enqueue(client: httpx.AsyncClient) -> httpx.Response:
    """Now in the way that shares a commit, now in one that may wait for locks."""
    key: dict[str, str] = random.choice(({}, {"key": str(uuid4())}))
    once = random.choice(({}, {"Idempotency-Key": str(uuid4())}))
    return await client.post("/v1/jobs", json={"kind": "t.work"} | key, headers=once)


def is_refusal(response: httpx.Response) -> bool:
    return response.status_code == 503 and int(response.headers["Retry-After"]) > 0


def lines(err: str) -> list[str]:
    """What it has logged about the database, in order; what failed beside it is no line of its own."""
    said = re.findall(r"^\S+ (?:info|warning|error) +(\w[\w -]*?)(?: \w+=.*)?$", err, re.MULTILINE)
    return [line for line in said if not line.startswith(("worker", "serving", "attempt", "schedule"))]


class Callers:
    """They enqueue one job after another, and count the answers by their status."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.answers: list[tuple[float, int]] = []
        self._client = client

    async def __aenter__(self) -> "Callers":
        self._tasks = [asyncio.create_task(self._call()) for _ in range(CALLERS)]
        return self

    async def __aexit__(self, *_: Any) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        for task in self._tasks:
            if not task.cancelled():
                task.result()

    def accepted_after(self, at: float) -> int:
        return sum(status == 202 for when, status in self.answers if when > at)

    async def _call(self) -> None:
        while True:
            response = await enqueue(self._client)
            assert response.status_code == 202 or is_refusal(response), response.text
            self.answers.append((time.monotonic(), response.status_code))
            await asyncio.sleep(0.01)


async def test_a_server_whose_connections_are_half_open_serves_over_new_ones(cell: Cell) -> None:
    async with proxied(cell.url(Role.API)) as (proxy, url):
        with serving(cell, LEASEHOLD_API_URL=url) as server:
            async with asking(cell, server) as client, Callers(client) as callers:

                async def all_call() -> bool:
                    return callers.accepted_after(0) > 10 * CALLERS

                await eventually(all_call, what="enqueues")
                proxy.abandon()
                began = time.monotonic()

                async def all_call_again() -> bool:
                    return callers.accepted_after(began) > 10 * CALLERS

                await eventually(all_call_again, what="enqueues over new connections", seconds=ANSWER_SECONDS)
                assert (await client.get("/readyz")).status_code == 200


async def test_a_server_whose_database_is_frozen_refuses_in_time_and_serves_when_it_thaws(own: Own) -> None:
    with serving(own.cell) as server:
        async with asking(own.cell, server) as client:
            assert all([(await enqueue(client)).status_code == 202 for _ in range(3)])
            assert (await client.get("/readyz")).status_code == 200
            with frozen(own.endpoint.pid):
                for _ in range(2):  # over a connection that stood, and over a new one
                    answers = await asyncio.gather(*(enqueue(client) for _ in range(CALLERS)))
                    assert [answer for answer in answers if not is_refusal(answer)] == []
                began = time.monotonic()
                ready, alive = await asyncio.gather(client.get("/readyz"), client.get("/healthz"))
                assert time.monotonic() - began < READY_SECONDS
                assert (ready.status_code, alive.status_code) == (503, 200)

            async def accepted() -> bool:
                return (await enqueue(client)).status_code == 202

            await eventually(accepted, what="an enqueue after the thaw")
            assert (await client.get("/readyz")).status_code == 200
            assert lines(server.err)[:2] == ["database unreachable", "database is back"]


async def test_a_server_starts_before_its_database_and_says_that_it_is_not_ready(cell: Cell) -> None:
    async with proxied(cell.url(Role.API)) as (proxy, url):
        proxy.refuses = True
        with serving(cell, LEASEHOLD_API_URL=url) as server:
            async with asking(cell, server) as client:
                assert (await client.get("/healthz")).status_code == 200
                assert (await client.get("/readyz")).status_code == 503
                assert is_refusal(await enqueue(client))
                proxy.refuses = False
                assert (await client.get("/readyz")).status_code == 200
                assert (await enqueue(client)).status_code == 202


async def test_a_server_whose_login_is_refused_does_not_start(cell: Cell) -> None:
    env = {"LEASEHOLD_API_URL": f"{cell.url(Role.API)}_that_is_not_there", "LEASEHOLD_KEY_PEPPER": PEPPER}
    said = await asyncio.to_thread(leasehold, "serve", "--port", "0", env=env)
    assert (said.code, "refuses the login" in said.err) == (6, True)


async def test_a_worker_starts_before_its_database_and_waits_for_it(cell: Cell, shop: Shop, tmp_path: Path) -> None:
    async with proxied(cell.url(Role.WORKER)) as (proxy, url):
        proxy.refuses = True
        with working(cell, LEASEHOLD_WORKER_URL=url) as worker:
            await has_said(worker, "database unreachable")
            await asyncio.sleep(1.0)  # for several tries
            proxy.refuses = False
            await has_said(worker, "worker started")
            assert (await shop.run("f.work", {"sink": str(tmp_path / "sink")})).state is State.SUCCEEDED
            said = await ended(worker)
    assert said.code == 0
    assert lines(said.err) == ["database unreachable", "database is back"]


async def test_a_worker_whose_registration_is_cut_registers_again(cell: Cell) -> None:
    async with proxied(cell.url(Role.WORKER)) as (proxy, url):
        proxy.lose(b"register_worker")
        with working(cell, LEASEHOLD_WORKER_URL=url) as worker:
            await has_said(worker, "worker started")
            said = await ended(worker)
    assert (said.code, "Traceback" in said.err) == (0, False)


@pytest.mark.parametrize(
    ("url", "code", "words"),
    [
        ("{}_that_is_not_there", 6, "refuses the login"),
        ("postgresql://127.0.0.1:port/x", 2, "no number where the port stands"),
    ],
)
async def test_a_worker_ends_with_one_line_where_waiting_would_not_help(
    cell: Cell, url: str, code: int, words: str
) -> None:
    env = {"LEASEHOLD_WORKER_URL": url.format(cell.url(Role.WORKER))}
    said = await asyncio.to_thread(leasehold, "worker", APP, env=env)
    assert (said.code, words in said.err, "Traceback" in said.err) == (code, True, False)


async def test_a_worker_outlives_a_database_that_is_frozen(own: Own, tmp_path: Path) -> None:
    """Its handlers hold transactions, its claims, beats and upkeep are under way, and it listens."""
    cell, sink = own.cell, tmp_path / "sink"
    async with cell.database(Role.WORKER) as db:
        shop = Shop(db, cell)
        with working(cell) as worker:
            await has_said(worker, "worker started")
            made = await shop.enqueue_many("f.work", [{"sink": str(sink), "seconds": 0.05}] * 40)
            made += await shop.enqueue_many("f.holds", [{"sink": str(sink), "seconds": 1.0}] * 10)
            await eventually(more_than(15, lambda: len(effects(sink))), what="work")
            with frozen(own.endpoint.pid):
                await has_said(worker, "database unreachable")
                await asyncio.sleep(3.0)  # for every part of it to find out
            await has_said(worker, "database is back")
            for job_id in made:
                assert (await patiently(shop, job_id)).state is State.SUCCEEDED
            said = await ended(worker)
    assert (said.code, "Traceback" in said.err) == (0, False)
    assert lines(said.err)[:2] == ["database unreachable", "database is back"]
    assert set(lines(said.err)) <= {"database unreachable", "database is back", "finish refused"}


async def patiently(shop: Shop, job_id: UUID) -> Job:
    """The shop's own connections stood while the database was frozen."""
    while True:
        with suppress(Unreachable):
            return await shop.ended(job_id)
