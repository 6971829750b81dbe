"""How many megabytes a fetcher grows by when servers mean harm. The servers are a process of their own."""

import asyncio
import json
import multiprocessing
import resource
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

from leasehold.errors import FetchError
from leasehold.fetch.fetcher import Fetcher
from leasehold.settings import Settings
from tests.fetch.test_hostile import CHUNKED, MEGABYTE, OK, goes_on, packed, sends
from tests.fetch.world import Handler, page, serving


def _servers() -> dict[str, Handler]:
    return {
        "a gzip bomb": sends(page(packed(512 * MEGABYTE), "Content-Encoding: gzip")),
        "a gzip bomb in a gzip": sends(page(packed(512 * MEGABYTE, times=2), "Content-Encoding: gzip, gzip")),
        "a whole body": sends(page(packed(9 * MEGABYTE), "Content-Encoding: gzip")),
        "chunk extensions": goes_on(CHUNKED, b"1;" + b"e" * 8000 + b"\r\nx\r\n"),
        "early hints": goes_on(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100),
        "nothing": sends(OK + b"Content-Length: 0\r\n\r\n"),
    }


def _serve(pipe: Connection) -> None:
    async def main() -> None:
        ports = {}
        running = []
        for name, handler in _servers().items():
            running.append(serving(handler))
            ports[name] = await running[-1].__aenter__()
        pipe.send(ports)
        await asyncio.Event().wait()

    asyncio.run(main())


async def _growth(ports: dict[str, int]) -> dict[str, float]:
    growth = {}
    async with Fetcher(Settings(fetch_allow="127.0.0.1", fetch_ports="1-65535")) as fetcher:
        await fetcher.get(f"http://127.0.0.1:{ports.pop('nothing')}/")
        idle = _peak()
        for name, port in ports.items():
            with suppress(FetchError):
                await fetcher.get(f"http://127.0.0.1:{port}/", timeout=20)
            growth[name] = _peak() - idle
    return growth


def _peak() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE


def main() -> None:
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    server = context.Process(target=_serve, args=(theirs,), daemon=True)
    server.start()
    print(json.dumps(asyncio.run(_growth(mine.recv()))))
    server.kill()


if __name__ == "__main__":
    main()
