"""Workers are killed while a flow fans out and in again: the barrier opens once."""

from uuid import UUID

import pytest

from tests.cell import Cell
from tests.faults.apps import TABLE
from tests.faults.fanned import drive, violations

pytestmark = pytest.mark.long

FLOW, BARRIER, LEAF = UUID(int=1), UUID(int=2), UUID(int=3)
#: A barrier that began a second before the end of its leaf.
EARLY = """
insert into leasehold.job (job_id, tenant_id, kind, queue, priority, payload, created_at, run_at, max_attempts,
  retry_base_s, retry_cap_s, timeout_s, version)
select job_id, '{tenant}', kind, 'default', 2, '{{}}', now(), now(), 5, 1, 1, 1, 1
from (values ('{leaf}'::uuid, 'f.leaf'), ('{barrier}', 'f.sum')) v(job_id, kind);
insert into leasehold.step (job_id, flow_id, tenant_id, place, what)
select job_id, '{flow}', tenant_id, 0, 'job' from leasehold.job;
insert into leasehold.outcome (job_id, tenant_id, state, finished_at, result, seq)
select job_id, tenant_id, 'succeeded', now(), case kind when 'f.sum' then '1' else '0' end::jsonb, 3
from leasehold.job;
insert into leasehold.attempt_row (
  job_id, token, tenant_id, attempt, worker_id, started_at, finished_at, outcome, started_seq, finished_seq
)
select job_id, 1, tenant_id, 1, '{flow}', now(), now() + interval '1 s', 'succeeded', 2, 3 from leasehold.job;
"""


async def test_a_barrier_opens_once_whoever_dies(cell: Cell) -> None:
    found, killed = await drive(cell, width=60, seeds=[1, 2], kills=3)
    assert found == []
    assert killed >= 2


async def test_the_checker_sees_a_barrier_that_opened_early_and_twice(cell: Cell) -> None:
    await cell.change(TABLE + EARLY.format(tenant=cell.tenant_a, leaf=LEAF, barrier=BARRIER, flow=FLOW))
    await cell.change(f"insert into leasehold_test.effect values ('{BARRIER}', 1), ('{BARRIER}', 1)")
    assert await violations(cell, FLOW, 1) == [
        "1 leaves ended after the barrier opened", "the barrier completed 2 times"
    ]  # fmt: skip
