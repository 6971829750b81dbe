"""``python -m tests.chaos.attacks WHAT PORT SECONDS``: a tenant that asks for too much, at the server on loopback.

The key of the tenant comes from the environment, and for locks the login of the api role.
"""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

import asyncpg
import httpx

SOCKETS = 300
CALLERS = 20
_KEY = os.environ.get("CHAOS_KEY", "")


async def headers(port: int, seconds: float) -> None:
    """Requests that never become whole, and some with headers without an end."""
    until = time.monotonic() + seconds
    await asyncio.gather(*(_drip(port, until) for _ in range(SOCKETS)), *(_flood(port, until) for _ in range(3)))


async def _drip(port: int, until: float) -> None:
    with suppress(OSError):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        while time.monotonic() < until:
            writer.write(b"X-More: 1\r\n")
            await writer.drain()
            await asyncio.sleep(1.0)
        writer.transport.abort()


async def _flood(port: int, until: float) -> None:
    while time.monotonic() < until:
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            for _ in range(100):
                writer.write(b"X-More: " + b"x" * 65_536 + b"\r\n")
                await writer.drain()
            writer.transport.abort()
        await asyncio.sleep(0.2)


def bodies() -> list[bytes]:
    """Small to send, large to read."""
    return [
        b'{"kind": "c.probe", "payload": [' + b"[]," * 1_000_000 + b"[]]}",
        b'{"kind": "c.probe", "payload": {' + b",".join(b'"%d":0' % n for n in range(300_000)) + b"}}",
        b'{"kind": "c.probe", "payload": ' + b"[" * 500_000 + b"]" * 500_000 + b"}",
        b'{"kind": "c.probe", "payload": "' + b"\\u0041" * 1_000_000 + b'"}',
        b'{"kind": "c.probe", "payload": ' + b"9" * 1_000_000 + b"}",
        b"[" + b'{"kind":"c.probe"},' * 100_000 + b'{"kind":"c.probe"}]',
    ]


async def worst_bodies(port: int, seconds: float) -> None:
    """With a key and without one."""
    until, made = time.monotonic() + seconds, bodies()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:

        async def send(first: int, given: dict[str, str]) -> None:
            turn = first
            while time.monotonic() < until:
                with suppress(httpx.TransportError):
                    await http.post("/v1/jobs", content=made[turn % len(made)], headers=given)
                turn += 1

        key = {"Authorization": f"Bearer {_KEY}"}
        await asyncio.gather(send(0, key), send(3, key), send(0, {}))


async def locks(port: int, seconds: float) -> None:
    """A transaction that keeps a unique key and an idempotency key to itself, and requests that wait for them."""
    from tests.chaos.app import app

    mark = f"held-{time.monotonic()}"
    connection = await asyncpg.connect(os.environ["LEASEHOLD_API_URL"])
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", timeout=60, headers={"Authorization": f"Bearer {_KEY}"}
    ) as http:

        async def ask(n: int) -> None:
            way = {"unique": mark} if n % 2 else {"key": mark}
            with suppress(httpx.TransportError):
                await http.post("/v1/jobs", json={"kind": "c.unique" if n % 2 else "c.plain", "payload": {}, **way})

        try:
            transaction = connection.transaction()
            await transaction.start()
            await app.enqueue("c.unique", {}, tenant="a", unique=mark, conn=connection)
            await app.enqueue("c.plain", {}, tenant="a", key=mark, conn=connection)
            asking = [asyncio.create_task(ask(n)) for n in range(CALLERS)]
            await asyncio.sleep(seconds)
            await transaction.rollback()
            await asyncio.gather(*asking)
        finally:
            connection.terminate()
            await app.close()


WAYS: dict[str, Callable[[int, float], Awaitable[None]]] = {
    "slow headers": headers,
    "worst bodies": worst_bodies,
    "hold locks": locks,
}

if __name__ == "__main__":
    asyncio.run(WAYS[sys.argv[1]](int(sys.argv[2]), float(sys.argv[3])))  # type: ignore[arg-type]
