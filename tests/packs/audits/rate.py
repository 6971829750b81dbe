"""``python -m tests.packs.audits.rate``: pages a second, beside a plain script that does the same without the engine.

Both have one process, the same server and the same PostgreSQL, one after the other. The plain script knows all pages
beforehand, fetches ten at a time with the same fetcher, judges them by the same checks, and inserts one row for each.
"""

import argparse
import asyncio
import json
import os
import sys
import time

import asyncpg

from leasehold.database.database import Role
from leasehold.fetch.fetcher import Fetcher
from leasehold.settings import Settings
from leasehold_packs.audits.crawl import AGENT, MAX_BYTES, facts, read
from tests.cell import Cell, apart
from tests.fetch.world import Site
from tests.packs.audits.manual import PAGES, answers, crew, manual

_AT_ONCE = 10


async def main(workers: int, pages: int) -> None:
    site = Site(answers(manual()))
    async with apart() as cell, crew(cell, site, workers=workers) as made:
        await _prepare(cell)
        plain = await _plain(cell, made.base, [path for path in site.pages if path.endswith(".html")][:pages])
        await made.audit(max_pages=1)  # the workers are there, and have imported everything
        began = time.monotonic()
        run = await made.audit(max_pages=pages)
        ours = run.pages / (time.monotonic() - began)
        assert run.pages == pages
    print(
        f"{ours:.0f} pages a second by {workers} worker process(es), {plain:.0f} by a plain script:"
        f" {ours / plain:.2f} of it, on {os.cpu_count()} cores (load {os.getloadavg()[0]:.1f})"
    )


async def _prepare(cell: Cell) -> None:
    await cell.cluster.administer(
        cell.name,
        "create schema plain; create table plain.page (url text primary key, row jsonb, issues jsonb);"
        " grant usage on schema plain to leasehold_api; grant insert on plain.page to leasehold_api",
    )


async def _plain(cell: Cell, base: str, paths: list[str]) -> float:
    command = [sys.executable, "-m", "tests.packs.audits.rate", "--plain", base, cell.url(Role.API)]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate("\n".join(paths).encode())
    assert process.returncode == 0
    return float(out)


async def plain_script(base: str, url: str, paths: list[str]) -> None:
    port = base.rpartition(":")[2]
    waiting = iter(paths)
    began = time.monotonic()
    async with (
        Fetcher(Settings(fetch_allow=f"127.0.0.1:{port}")) as fetcher,
        asyncpg.create_pool(url, min_size=_AT_ONCE, max_size=_AT_ONCE) as pool,
    ):

        async def work() -> None:
            for path in waiting:
                fetched = await fetcher.request(
                    "GET", base + path, headers={"User-Agent": AGENT}, max_bytes=MAX_BYTES, truncate=True
                )
                visited = read(base + path, fetched)
                row = {name: str(value) for name, value in facts(visited).items()}
                await pool.execute(
                    "insert into plain.page values ($1, $2, $3)",
                    base + path, json.dumps(row), json.dumps(visited.issues()),
                )  # fmt: skip

        await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
    print(len(paths) / (time.monotonic() - began))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--plain", nargs=2, default=())
    given = parser.parse_args()
    if given.plain:
        base, database = given.plain
        asyncio.run(plain_script(base, database, sys.stdin.read().splitlines()))
    else:
        asyncio.run(main(given.workers, given.pages))
