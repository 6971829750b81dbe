"""`/readyz` answers, whatever the database does."""

import asyncio
import time
from contextlib import AsyncExitStack

import httpx

from leasehold.database.database import Role
from leasehold.http.app import Services, open_services
from tests.cell import Cell
from tests.http.conftest import client_of, settings_of
from tests.worker.proxy import proxied

READY_SECONDS = 2.0


async def test_whether_a_server_is_ready_is_known_within_two_seconds(cell: Cell) -> None:
    async with proxied(cell.url(Role.API)) as (proxy, url):
        settings = settings_of(cell, api_url=url)
        async with open_services(settings, loopback=True) as services, client_of(services) as client:
            assert (await client.get("/readyz")).status_code == 200
            proxy.abandon()
            proxy.swallow()  # and new connections hang, too
            for _ in range(2):
                began = time.monotonic()
                answers = await asyncio.gather(*(client.get("/readyz") for _ in range(5)))
                assert time.monotonic() - began < READY_SECONDS
                assert [answer.json()["database"] for answer in answers] == [False] * 5
            proxy.flow()
            assert (await client.get("/readyz")).status_code == 200


async def test_a_server_whose_connections_are_all_in_use_is_ready(
    services: Services, stranger: httpx.AsyncClient
) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(services.db.usage().size):
            await stack.enter_async_context(services.db.transaction())
        assert (await stranger.get("/readyz")).status_code == 200
