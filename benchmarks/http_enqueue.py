"""Enqueue over HTTP, beside a route of twenty lines that calls the same SQL function and does nothing else.

    python benchmarks/http_enqueue.py [--jobs 4000] [--connections 16] [--reps 3]

Both servers are one process each with the same event loop and HTTP parser; connections are kept alive and send one job
at a time. The two are measured in turn, and the medians and their ratio are printed. The bare route knows no key,
tenant check, idempotency, limit or validation.
"""

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from leasehold import tokens as keys
from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.engine import tenants
from leasehold.features.api_keys import store as engine
from leasehold.settings import Settings
from leasehold.tokens import Peppers
from leasehold_bench.server import TENANTS, find_server

PEPPER = "a pepper for this benchmark alone that is long enough"
BARE = """
import os, sys, asyncpg, uvicorn
from fastapi import FastAPI, Request

app = FastAPI()
SQL = ("select f.* from (select set_config('leasehold.tenant', $1, true) t offset 0) s,"
       " lateral leasehold.enqueue($2, $3, $4) f where s.t <> ''")

@app.post("/v1/jobs", status_code=202)
async def create(request: Request):
    body = await request.json()
    global pool
    pool = pool or await asyncpg.create_pool(os.environ["URL"], max_size=10, server_settings={"role": "leasehold_api"})
    payload = __import__("json").dumps(body["payload"])
    made = await pool.fetchrow(SQL, os.environ["TENANT"], body["kind"], [payload], "{}")
    return {"job_id": made["job_ids"][0], "state": made["states"][0], "created": made["created"][0]}

pool = None
print("serving http://127.0.0.1:%s/v1" % sys.argv[1], file=sys.stderr, flush=True)
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
"""


async def main(jobs: int, connections: int, reps: int) -> None:
    async with find_server(Settings.from_env()) as server, server.database() as settings:
        async with Database(target(settings, Role.OPERATOR), connections=1) as db:
            tenant = await tenants.find_tenant(db, TENANTS[0])
            key = keys.make("live")
            wanted = {"name": "bench", "scopes": ["jobs:write"], "expires_at": None}
            await engine.create_key(db, tenant, key, Peppers([PEPPER]), **wanted)
            await tenants.set_tenant(db, tenant, weight=None, max_running=None, max_queued=10**9)
        env = {"LEASEHOLD_DATABASE_URL": str(settings.database_url), "LEASEHOLD_KEY_PEPPER": PEPPER}
        env |= {"LEASEHOLD_PACKS": "none", "LEASEHOLD_KEY_REQUESTS": "100000000", "LEASEHOLD_IP_REQUESTS": "100000000"}
        bare_env = {"URL": str(settings.database_url), "TENANT": str(tenant)}
        async with (
            served([sys.executable, "-m", "leasehold", "serve", "--port", "0"], env) as ours,
            served([sys.executable, "-c", BARE, str(free_port())], bare_env) as bare,
        ):
            found: dict[str, list[float]] = {"leasehold": [], "bare": []}
            for url in (ours, bare):
                await load(url, key.text, jobs // 10, connections)  # warm
            for _ in range(reps):
                for name, url in (("leasehold", ours), ("bare", bare)):
                    found[name].append(await load(url, key.text, jobs, connections))
    ours_rate, bare_rate = (statistics.median(found[name]) for name in ("leasehold", "bare"))
    print(f"{connections} connections, {jobs} jobs, median of {reps}")
    print(f"leasehold  {ours_rate:8.0f} jobs/s   {[round(one) for one in found['leasehold']]}")
    print(f"bare route {bare_rate:8.0f} jobs/s   {[round(one) for one in found['bare']]}")
    print(f"ratio      {ours_rate / bare_rate:8.2f}")


async def load(url: str, key: str, jobs: int, connections: int) -> float:
    """Jobs a second, over connections that are kept alive and wait for each answer."""
    parts = urlsplit(url)
    body = json.dumps({"kind": "bench.noop", "payload": {"n": 1}}).encode()
    head = (
        f"POST /v1/jobs HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    request = head.encode() + body
    left = iter(range(jobs))

    async def send() -> None:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        for _ in left:
            writer.write(request)
            answer = await reader.readuntil(b"\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 202"), answer
            length = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
            assert length
            await reader.readexactly(int(length[1]))
        writer.close()

    began = time.monotonic()
    await asyncio.gather(*(send() for _ in range(connections)))
    return jobs / (time.monotonic() - began)


@asynccontextmanager
async def served(command: list[str], env: dict[str, str]) -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(*command, env=os.environ | env, stderr=subprocess.PIPE)
    try:
        assert process.stderr
        found, said = None, ""
        while not found and (line := (await process.stderr.readline()).decode()):
            found, said = re.search(r"serving (http://[^/]+)/v1", line), said + line
        assert found, said
        await until_it_listens(found[1])
        yield found[1]
    finally:
        process.terminate()
        await process.wait()


async def until_it_listens(url: str) -> None:
    parts = urlsplit(url)
    for _ in range(200):
        try:
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return


def free_port() -> int:
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, usual in (("jobs", 4000), ("connections", 16), ("reps", 3)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    asyncio.run(main(**vars(parser.parse_args())))
