"""Remote workers as real processes: light ones, and ones that are killed."""

import asyncio
import json
import signal
import sys

from leasehold.job import State
from leasehold.remote import AsyncClient, operations
from tests.cell import Cell
from tests.cli.program import leasehold, started
from tests.remote.conftest import Keys
from tests.waiting import PATIENCE_SECONDS, eventually
from tests.worker.running import ENVIRONMENT


async def test_client_and_worker_run_where_nothing_compiled_can_be_imported(url: str, key: Keys) -> None:
    command = (sys.executable, "-m", "tests.remote.light")
    said = await asyncio.to_thread(leasehold, url, key.a.text, command=command)
    assert (said.code, said.out) == (0, "Hello, Ada!\ndone\ncompiled: []\n"), said.err


async def test_the_jobs_of_a_killed_remote_worker_are_finished_by_a_database_worker(
    client: AsyncClient, cell: Cell, url: str, key: Keys
) -> None:
    jobs = [(await client.enqueue("demo.hello", {"name": "Ada", "steps": 1})).job_id for _ in range(3)]
    command = (sys.executable, "-m", "tests.remote.slow_worker")
    with started(url, key.a.text, "demo.hello", command=command) as remote:

        async def all_run() -> list[dict[str, object]]:
            rows = await cell.look(
                "select token::text, job_id, worker_id from leasehold.lease where events > started_seq"
            )
            return rows if len(rows) == 3 else []

        leases = await eventually(all_run)
        remote.kill(signal.SIGKILL)
        said = remote.ended()
    assert said.code == -signal.SIGKILL
    lines = [json.loads(line) for line in said.err.splitlines()]
    assert [line["message"] for line in lines] == ["worker started"]
    env = cell.environment() | ENVIRONMENT
    with started("worker", "--name", "database", env=env) as database:
        for job_id in jobs:
            done = await client.wait(job_id, timeout=PATIENCE_SECONDS)
            assert (done.state, done.result) == (State.SUCCEEDED, "Hello, Ada!")
            history = [(attempt.outcome, attempt.worker) for attempt in await client.attempts(job_id)]
            assert history == [("lost", "remote"), ("succeeded", "database")]
        await asyncio.to_thread(database.stopped)
    ended = [
        {"job_id": lease["job_id"], "token": lease["token"], "outcome": "succeeded", "result": "late"}
        for lease in leases
    ]
    items = await client.ask(operations.finish(str(leases[0]["worker_id"]), ended))
    assert [(item["status"], item["code"]) for item in items] == [(409, "lease_lost")] * 3
    assert [(await client.get(job_id)).result for job_id in jobs] == ["Hello, Ada!"] * 3


async def test_sigterm_ends_a_remote_worker_in_good_order(client: AsyncClient, url: str, key: Keys) -> None:
    made = await client.enqueue("t.slow")
    with started(url, key.a.text, "t.slow", command=(sys.executable, "-m", "tests.remote.slow_worker")) as remote:
        async for event in client.follow(made.job_id):
            if event.type == "progress":
                break
        remote.kill(signal.SIGTERM)
        remote.kill(signal.SIGINT)  # at once
        said = await asyncio.to_thread(remote.ended)
    assert said.code == 0
    last = json.loads(said.err.splitlines()[-1])
    assert (last["message"], last["released"]) == ("worker stopped", 1)
    job = await client.get(made.job_id)
    assert (job.state, job.attempt) == (State.QUEUED, 0)
