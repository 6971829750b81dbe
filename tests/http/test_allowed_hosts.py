"""A request names the server by one of its own names. A page of a host that the DNS leads here cannot."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from leasehold.http.app import create_app, open_services
from leasehold.http.server import serving
from tests.cell import Cell
from tests.http.conftest import Keys, bearer, settings_of


@asynccontextmanager
async def server(cell: Cell, *, at: str = "127.0.0.1", loopback: bool = True, **settings: Any) -> AsyncIterator[Any]:
    """Asks with this Host; the connection came to the address ``at``."""
    async with open_services(settings_of(cell, **settings), loopback=loopback) as services:
        app = create_app(services)

        async def ask(host: str, path: str = "/v1/queues", key: Any = None, **headers: str) -> httpx.Response:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=f"http://{at}") as client:
                headers = {"Host": host, **(bearer(key) if key else {}), **headers}
                return await client.get(path, headers=headers)

        yield ask


OWN = ["localhost", "LOCALHOST:8080", "127.0.0.1", "127.8.9.10:1", "[::1]:8080", "shop.localhost", "localhost."]
OTHERS = [
    "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[::2]", "",
    "localhost@evil.example", "evil.example/localhost", "localhost:8080:8080", "localhost:", "[::1", "2130706433",
]  # fmt: skip


@pytest.mark.parametrize("host", OWN)
async def test_a_loopback_server_answers_to_loopback_names(cell: Cell, key: Keys, host: str) -> None:
    async with server(cell) as ask:
        assert (await ask(host, key=key.operator)).status_code == 200


@pytest.mark.parametrize("host", OTHERS)
async def test_a_loopback_server_answers_to_no_other_name(cell: Cell, key: Keys, host: str) -> None:
    async with server(cell) as ask:
        for path in ("/v1/queues", "/metrics", "/nothing"):
            refused = await ask(host, path, key=key.operator)
            assert refused.status_code == 421, path
            assert refused.json()["code"] == "misdirected"
            assert refused.headers["x-content-type-options"] == "nosniff"
        assert (await ask(host, "/healthz")).status_code == 200
        assert (await ask(host, "/readyz")).status_code == 200


async def test_a_public_server_answers_to_its_configured_names_and_its_own_address(cell: Cell, key: Keys) -> None:
    names = {"public_url": "https://jobs.example.com", "hosts": "jobs.internal,*.cluster.local"}
    async with server(cell, at="10.1.2.3", loopback=False, **names) as ask:
        for host in ("jobs.example.com", "jobs.internal:8080", "a.b.cluster.local", "10.1.2.3", "10.1.2.3:8080"):
            assert (await ask(host, key=key.operator)).status_code == 200, host
        for host in ("localhost", "127.0.0.1", "cluster.local", "xjobs.internal", "10.1.2.4", "evil.example"):
            refused = await ask(host, key=key.operator)
            assert refused.status_code == 421, host
            assert "LEASEHOLD_HOSTS" in refused.json()["hint"]
    async with server(cell, loopback=False, hosts="*") as ask:
        assert (await ask("whatever.example", key=key.operator)).status_code == 200


async def test_a_server_behind_a_proxy_of_this_machine_answers_to_both_names(cell: Cell, key: Keys) -> None:
    async with server(cell, public_url="https://jobs.example.com") as ask:
        for host in ("jobs.example.com", "127.0.0.1:8080"):
            assert (await ask(host, key=key.operator)).status_code == 200


async def test_a_forwarded_host_and_a_second_host_header_do_not_count(cell: Cell, key: Keys) -> None:
    async with server(cell) as ask:
        forwarded = await ask("evil.example", key=key.operator, **{"X-Forwarded-Host": "localhost"})
        assert forwarded.status_code == 421
    async with serving(settings_of(cell, port=0)) as url:
        host, port = url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET /docs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
        answer = await reader.read()
        writer.close()
        assert answer.split(b" ")[1] in (b"400", b"421")
