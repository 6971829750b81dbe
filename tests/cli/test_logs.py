"""`leasehold jobs logs`."""

import asyncio
import json

from leasehold.database.database import Database
from leasehold.engine import jobs, leases
from leasehold.job import AttemptOutcome
from tests.cell import Cell
from tests.cli.program import leasehold, started


async def test_the_lines_of_a_job_are_shown_and_followed_to_its_end(
    cell: Cell,
    worker_db: Database,
) -> None:
    env = cell.environment() | {"LEASEHOLD_TENANT": "a"}
    worker = await leases.register_worker(
        worker_db, name="w", version="0", queues=["default"], kinds={}, slots=1, lease_s=60.0
    )
    [made] = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ["{}"], {})
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)

    async def log(text: str, level: str) -> None:
        data = json.dumps({"level": level, "order": 7})
        await jobs.append_event(worker_db, grant.token, "log", message=text, data=data)

    await log("asked the bank", "info")
    with started("jobs", "logs", str(made.job_id), "--follow", "--jsonl", env=env) as following:
        await asyncio.to_thread(following.said, "asked the bank")
        await log("the bank refuses", "error")
        await jobs.finish(worker_db, [AttemptOutcome(token=grant.token, outcome="failed")])
        said = await asyncio.to_thread(following.ended)
    lines = [json.loads(line) for line in said.out.splitlines()]
    assert [(line["message"], line["level"], line["attempt"]) for line in lines] == [
        ("asked the bank", "info", 1),
        ("the bank refuses", "error", 1),
    ]
    shown = await asyncio.to_thread(leasehold, "jobs", "logs", str(made.job_id), env=env)
    assert "#1 error   the bank refuses order=7" in shown.out
    other = await asyncio.to_thread(leasehold, "jobs", "logs", str(made.job_id), "--tenant", "b", env=env)
    assert other.code == 3
