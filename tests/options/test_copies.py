"""What a copy of a job takes over, and what it leaves out."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.engine.leases import register_worker
from leasehold.errors import Conflict
from leasehold.features.jobs.store import copy_job
from leasehold.job import Job
from leasehold.json_codec import plain_options
from tests.cell import Cell


async def made(db: Database, cell: Cell, key: str | None = None, **options: Any) -> UUID:
    keys = None if key is None else [key]
    [job] = await jobs.enqueue(db, cell.tenant_a, "t.work", ['{"n": 1}'], plain_options(options), keys=keys)
    return job.job_id


async def copied(db: Database, cell: Cell, job_id: UUID, value: Any = 1) -> Job:
    return await jobs.get_job(db, cell.tenant_a, await copy_job(db, cell.tenant_a, job_id, value))


async def left_out(cell: Cell) -> list[str]:
    [row] = await cell.look("select detail -> 'left_out' as names from leasehold.audit where action = 'job.copy'")
    return list(row["names"])


async def test_what_is_left_out_is_logged(cell: Cell, api_db: Database) -> None:
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    job_id = await made(api_db, cell, key="k", delay_s=60, traceparent=trace, tags=["vip"])
    copy = await copied(api_db, cell, job_id)
    assert (copy.key, copy.traceparent, copy.tags, copy.copied_from, copy.state) == (
        None,
        None,
        ["vip"],
        job_id,
        "queued",
    )
    assert await left_out(cell) == ["key", "traceparent", "run_at"]


async def test_it_expires_with_the_first_job_unless_that_moment_has_passed(cell: Cell, api_db: Database) -> None:
    soon = await api_db.value("now") + timedelta(hours=1)
    job_id = await made(api_db, cell, expires_at=soon)
    assert (await copied(api_db, cell, job_id)).expires_at == soon
    assert await left_out(cell) == []
    await cell.change("delete from leasehold.audit")
    await cell.pass_time(3700)
    assert (await copied(api_db, cell, job_id)).expires_at is None
    assert await left_out(cell) == ["expires_at"]


@pytest.mark.parametrize("policy", ["keep", "replace"])
async def test_it_has_the_unique_key_and_is_refused_while_a_job_waits_under_it(
    cell: Cell, api_db: Database, policy: str
) -> None:
    unique = {"unique": "u", "on_duplicate": policy}
    job_id = await made(api_db, cell, **unique)
    with pytest.raises(Conflict, match=f"job {job_id} waits or runs under the unique key 'u'"):
        await copied(api_db, cell, job_id)
    await jobs.cancel(api_db, cell.tenant_a, job_id)
    copy = await copied(api_db, cell, job_id, 2)
    [again] = await jobs.enqueue(api_db, cell.tenant_a, "t.work", ["3"], unique)
    assert (again.job_id, again.created) == (copy.job_id, False)
    rows = await cell.look("select distinct group_key, unique_key, group_limit from leasehold.job")
    assert len(rows) == 1, "both have the same group, or none"
    with pytest.raises(Conflict, match=f"job {copy.job_id} has the unique key"):
        await jobs.retry(api_db, cell.tenant_a, job_id)


async def test_the_gate_of_its_kind_is_made_of_its_own_payload(
    cell: Cell, api_db: Database, worker_db: Database
) -> None:
    async def tell(gate: str) -> None:
        kinds = {"t.work": {"gate": gate}}
        await register_worker(worker_db, name="w", version="1", queues=["default"], kinds=kinds, slots=1, lease_s=60.0)

    await tell("n:{n}")
    own, named = await made(api_db, cell), await made(api_db, cell, gate="by hand")
    assert (await copied(api_db, cell, own, {"n": 2})).gate == "n:2"
    assert (await copied(api_db, cell, named, {"n": 2})).gate == "by hand"
    await tell("m:{m}")
    assert (await copied(api_db, cell, own, {"n": 2})).gate == "n:1", "that is all that is known of it by now"
