"""``python -m tests.dashboard.million``: how long pages take with 1,000,000 jobs in the database, and what they read.

    python -m tests.dashboard.million [--jobs 1000000] [--requests 60]

One request after the other over one connection, as a tenant's person and as the operator, who sees all jobs. The
times are those of the whole answer, as a browser waits for it.
"""

import argparse
import asyncio
import os
import statistics
import time

import httpx

from leasehold.dashboard import app
from leasehold.database.database import Role
from leasehold.features.jobs import store as look
from leasehold.http.server import serving
from tests.cell import Cell, apart
from tests.features.jobs.test_search import MOST_ROWS, fill, rows_read
from tests.features.people.signed_in import invite, member, signed_in
from tests.http.conftest import settings_of

BOUND_MS = 200


async def main(jobs: int, requests: int) -> None:
    async with apart() as cell:
        began = time.monotonic()
        await fill(cell, jobs)
        print(f"{jobs:,} jobs made in {time.monotonic() - began:.0f} s")
        read = await rows_read(cell)
        (role, call), most = max(read.items(), key=lambda one: one[1])
        print(f"most rows read by one look: {most:,} of {MOST_ROWS:,} ({call} as {role})")
        await _time(cell, requests)
        assert most <= MOST_ROWS


async def _time(cell: Cell, requests: int) -> None:
    settings = settings_of(cell, port=0, host="127.0.0.1", ip_requests=1_000_000, key_requests=1_000_000)
    await invite(cell, None, "olga@leasehold.example")
    operator, _ = await signed_in(cell, "olga@leasehold.example")
    person, _ = await member(cell, cell.tenant_a, "admin", "ada@acme.example")
    async with cell.database(Role.OPERATOR, connections=1) as db:
        [job, *_] = (await look.find_jobs(db, cell.tenant_a, {"state": "dead"}, limit=1)).jobs
    pages = {"Overview": "/", "Jobs": "/jobs", "Jobs, dead": "/jobs?state=dead", "Job": f"/jobs/{job}"}
    pages |= {"Failures": "/failures", "Flows": "/flows", "Groups and gates": "/gates", "Approvals": "/approvals"}
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, which the times below have in them")
    print(
        f"{'':26}{'p50':>8}{'p95':>8}{'cpu':>8}   ms, {requests} requests each; cpu is that of server and client alone"
    )
    async with serving(settings, mount=app.mount) as url:
        cookie = f"leasehold_session_{url.rpartition(':')[2]}"
        for who, token in (("tenant", person), ("operator", operator)):
            async with httpx.AsyncClient(base_url=url, cookies={cookie: token.text}, timeout=60) as client:
                for name, path in pages.items():
                    for _ in range(3):
                        await _one(client, path)
                    busy = time.process_time()
                    times = [await _one(client, path) for _ in range(requests)]
                    cpu = (time.process_time() - busy) * 1000 / requests
                    p95 = statistics.quantiles(times, n=20)[-1]
                    mark = "" if p95 <= BOUND_MS else f"   above {BOUND_MS}"
                    print(f"{who + ' ' + name:26}{statistics.median(times):8.0f}{p95:8.0f}{cpu:8.0f}{mark}")


async def _one(client: httpx.AsyncClient, path: str) -> float:
    began = time.perf_counter()
    answer = await client.get(path)
    assert answer.status_code == 200, path
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=60)
    given = parser.parse_args()
    asyncio.run(main(given.jobs, given.requests))
