"""Lists: newest first, by page, by filter, and only the tenant's own."""

from typing import Any
from uuid import UUID

import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.errors import BadInput
from leasehold.job import State
from tests.cell import Cell
from tests.engine.test_life import end, enqueue, register


async def ids(db: Database, tenant: UUID, *, before: UUID | None = None, limit: int = 50, **filters: Any) -> list[UUID]:
    return [job.job_id for job in await jobs.list_jobs(db, tenant, filters, before=before, limit=limit)]


async def test_pages_follow_one_another_without_gap_or_overlap(cell: Cell, api_db: Database) -> None:
    made = await enqueue(api_db, cell.tenant_a, 25)
    await enqueue(api_db, cell.tenant_b, 5)
    seen: list[UUID] = []
    while page := await ids(api_db, cell.tenant_a, before=seen[-1] if seen else None, limit=10):
        seen += page
        await enqueue(api_db, cell.tenant_a)  # newer ones do not disturb the walk to the older
    assert seen == made[::-1]


async def test_every_state_has_its_list(cell: Cell, worker_db: Database) -> None:
    worker = await register(worker_db, slots=100)
    outcomes = ("succeeded", "failed", "canceled", "errored", "snoozed", "keep")
    made = await enqueue(worker_db, cell.tenant_a, len(outcomes), max_attempts=1)
    for grant, outcome in zip(await jobs.claim(worker_db, worker, ["default"], 6), outcomes, strict=True):
        if outcome != "keep":
            await end(worker_db, grant, outcome, delay_s=60.0 if outcome == "snoozed" else None)
    waiting = await enqueue(worker_db, cell.tenant_a)
    expected = {
        State.SUCCEEDED: made[0], State.FAILED: made[1], State.CANCELED: made[2], State.DEAD: made[3],
        State.SCHEDULED: made[4], State.RUNNING: made[5], State.QUEUED: waiting[0],
    }  # fmt: skip
    for state, job_id in expected.items():
        assert await ids(worker_db, cell.tenant_a, state=state) == [job_id]
        assert await ids(worker_db, cell.tenant_b, state=state) == []
    assert await ids(worker_db, cell.tenant_a, state="blocked") == []
    assert len(await ids(worker_db, cell.tenant_a)) == 7


async def test_filters_combine(cell: Cell, api_db: Database) -> None:
    [vip] = await enqueue(api_db, cell.tenant_a, tags=["vip", "eu"])
    [other] = await enqueue(api_db, cell.tenant_a, tags=["eu"])
    [keyed] = await jobs.enqueue(api_db, cell.tenant_a, "t.other", ["{}"], {}, keys=["k-1"])
    assert await ids(api_db, cell.tenant_a, tag="eu") == [other, vip]
    assert await ids(api_db, cell.tenant_a, tag="eu", kind="t.other") == []
    assert await ids(api_db, cell.tenant_a, key="k-1", queue="default") == [keyed.job_id]
    assert await ids(api_db, cell.tenant_a, created_after="2000-01-01", created_before="2001-01-01") == []


@pytest.mark.parametrize(
    ("filters", "words"), [({"stat": "queued"}, "known filters"), ({"state": "asleep"}, "states: ")]
)
async def test_an_unknown_filter_is_refused(cell: Cell, api_db: Database, filters: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput) as problem:
        await ids(api_db, cell.tenant_a, **filters)
    assert words in str(problem.value.hint)


async def test_sql_and_python_know_the_same_states(cell: Cell) -> None:
    [row] = await cell.look("select leasehold.states() as states")
    assert row["states"] == [state.value for state in State]
