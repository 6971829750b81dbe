"""PostgreSQL keeps JSON that is nested more deeply than Python reads."""

import json
from typing import Any

import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.errors import BadInput
from tests.cell import Cell


@pytest.fixture(autouse=True)
def shallow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.13 reads all that PostgreSQL keeps with its usual stack; older ones stop at about a thousand."""
    loads = json.loads

    def as_python_3_11(text: str, **options: Any) -> Any:
        if text.startswith("[" * 1000):
            raise RecursionError
        return loads(text, **options)

    monkeypatch.setattr(json, "loads", as_python_3_11)


async def test_one_job_that_cannot_be_read_does_not_hide_the_others(cell: Cell, worker_db: Database) -> None:
    [fine] = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ['{"n": 1}'], {})
    [deep] = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ["[" * 2000 + "]" * 2000], {})
    listed = {job.job_id: job.payload for job in await jobs.list_jobs(worker_db, cell.tenant_a, {})}
    assert listed[fine.job_id] == {"n": 1}
    assert "too deeply" in listed[deep.job_id]["unreadable"]
    with pytest.raises(BadInput, match="too deeply"):
        await jobs.get_job(worker_db, cell.tenant_a, deep.job_id)
