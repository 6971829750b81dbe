"""Plain jobs take a short way in, and a copy in ``ready`` out. What they are and become is the same on the long way."""

from typing import Any
from uuid import UUID

import asyncpg
import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.errors import BadInput, LeaseholdError, NotFound
from leasehold.job import AttemptOutcome, ClaimedJob, State
from leasehold.json_codec import decode
from tests.cell import Cell
from tests.engine.test_life import end, register

SMALL, MIDDLING, LARGE = ('{"text": "%s"}' % ("x" * size) for size in (10, 2_000, 100_000))
#: Of a job that is made twice, what cannot be the same.
_OWN = "job_id, created_at, run_at, xid"


async def plainly(db: Database, cell: Cell, payloads: list[str], options: str = "{}") -> Any:
    made, woken = await jobs.enqueue_plainly(db, cell.tenant_a, "t.work", payloads, options, None)
    assert not woken
    return made


async def rows(cell: Cell, table: str) -> list[str]:
    columns = ", ".join(f"'{name}'" for name in _OWN.split(", "))
    found = await cell.look(
        f"select (to_jsonb(t) - array[{columns}])::text as row from leasehold.{table} t order by t.job_id"
    )
    return [row["row"] for row in found]


@pytest.mark.parametrize("payloads", [[SMALL], [MIDDLING], [SMALL, MIDDLING, SMALL]])
@pytest.mark.parametrize(
    "options", ["{}", '{"priority": 1, "max_attempts": 3, "timeout_s": 7, "version": 2, "traceparent": "00-a-b-01"}']
)
async def test_the_short_way_writes_what_the_long_one_writes(
    cell: Cell, api_db: Database, payloads: list[str], options: str
) -> None:
    await plainly(api_db, cell, payloads, options)
    short = [await rows(cell, table) for table in ("job", "ready")]
    await cell.change("delete from leasehold.ready; delete from leasehold.job")
    await cell.change(
        "select leasehold.insert_jobs(array['{}'::uuid], 't.work', array[{}]::jsonb[], '{}', null)".format(
            cell.tenant_a, ", ".join(f"'{payload}'" for payload in payloads), options
        )
    )
    assert [await rows(cell, table) for table in ("job", "ready")] == short
    assert len(short[0]) == len(short[1]) == len(payloads)


@pytest.mark.parametrize(
    "options",
    [
        '{"delay_s": 60}', '{"run_at": "2020-01-01T00:00:00Z"}', '{"expires_at": "2030-01-01T00:00:00Z"}',
        '{"tags": ["a"]}', '{"group": "g"}', '{"gate": "g"}', '{"unique": "u"}', '{"queue": "nowhere"}',
    ],
)  # fmt: skip
async def test_whatever_is_not_plain_is_left_alone(cell: Cell, api_db: Database, options: str) -> None:
    assert await plainly(api_db, cell, ["{}"], options) is None
    assert await plainly(api_db, cell, ["{}", "{}"], options) is None
    assert await rows(cell, "job") == []


@pytest.mark.parametrize("payloads", [None, [], [None], ["{}", None], [LARGE], [SMALL, LARGE], ["{}"] * 10_001])
async def test_payloads_that_have_something_to_be_said_about_them_are_left_alone(
    cell: Cell, api_db: Database, payloads: Any
) -> None:
    assert await plainly(api_db, cell, payloads) is None
    assert await rows(cell, "job") == []


async def test_a_kind_of_jobs_that_are_not_plain_is_left_alone(
    cell: Cell, api_db: Database, worker_db: Database
) -> None:
    await register(worker_db, kinds={"t.work": {"group": "g"}})
    assert await plainly(api_db, cell, ["{}"]) is None
    [made] = await jobs.enqueue(api_db, cell.tenant_a, "t.work", ["{}"], {})
    assert made.state is State.BLOCKED, "it stands in the line of its group"


async def test_the_options_of_a_kind_hold_for_plain_jobs_too(cell: Cell, api_db: Database, worker_db: Database) -> None:
    await register(worker_db, kinds={"t.work": {"max_attempts": 9, "priority": 0}})
    [made] = await plainly(api_db, cell, ["{}"], '{"priority": 3}')
    job = await jobs.get_job(api_db, cell.tenant_a, made.job_id)
    assert (job.max_attempts, job.priority) == (9, 3)


async def test_what_is_wrong_is_said_by_the_long_way(cell: Cell, api_db: Database) -> None:
    with pytest.raises(BadInput, match="priority 7"):
        await plainly(api_db, cell, ["{}"], '{"priority": 7}')
    with pytest.raises(BadInput, match="no option 'waits'"):
        await plainly(api_db, cell, ["{}"], '{"waits": true}')
    with pytest.raises(NotFound, match="no queue 'nowhere'"):
        await jobs.enqueue(api_db, cell.tenant_a, "t.work", ["{}"], {"queue": "nowhere"})
    with pytest.raises(BadInput, match="payload 2 is null"):
        await jobs.enqueue(api_db, cell.tenant_a, "t.work", ["{}", None], {})  # type: ignore[list-item]
    with pytest.raises(BadInput, match="pack.verb"):
        await jobs.enqueue(api_db, cell.tenant_a, "Work", ["{}"], {})


async def test_a_tenant_over_its_quota_is_refused_on_both_ways(cell: Cell, api_db: Database) -> None:
    await cell.exceed_quota(2)
    assert await plainly(api_db, cell, ["{}"]) is None
    with pytest.raises(LeaseholdError):
        await jobs.enqueue(api_db, cell.tenant_a, "t.work", ["{}"], {})


async def test_a_claim_hands_out_the_payload_wherever_it_is_kept(
    cell: Cell, api_db: Database, worker_db: Database
) -> None:
    """Small ones in ready, middling ones in the job, large ones beside it."""
    worker = await register(worker_db, kinds={"t.work": {"timeout_s": 7.0, "version": 3}})
    for payload in (SMALL, MIDDLING, LARGE):
        await jobs.enqueue(api_db, cell.tenant_a, "t.work", [payload], {"traceparent": "00-a-b-01"})
    copies = await cell.look("select kind is null as left_out from leasehold.ready order by job_id")
    assert [row["left_out"] for row in copies] == [False, True, True]
    for batch in (1, 2):  # one with its copy, then those without
        for grant in await jobs.claim(worker_db, worker, ["default"], batch):
            job = await jobs.get_job(worker_db, cell.tenant_a, grant.job_id)
            assert (grant.kind, grant.queue, grant.version, grant.timeout_s) == ("t.work", "default", 3, 7.0)
            assert grant.traceparent == "00-a-b-01"
            assert job.payload == decode(grant.payload)


async def test_a_job_that_comes_back_is_handed_out_as_before(cell: Cell, api_db: Database, worker_db: Database) -> None:
    worker = await register(worker_db)
    await plainly(api_db, cell, [SMALL, SMALL])
    first, second = await jobs.claim(worker_db, worker, ["default"], 2)
    await end(worker_db, first, "lost")
    await plainly(api_db, cell, [SMALL])
    again = await jobs.claim(worker_db, worker, ["default"], 5)  # one without a copy, one with
    assert [grant.payload for grant in again] == [second.payload] * 2
    assert {grant.attempt for grant in again} == {1, 2}


async def test_another_payload_is_the_one_that_is_handed_out(cell: Cell, api_db: Database, worker_db: Database) -> None:
    worker = await register(worker_db)
    for n in (1, 2):
        options = {"unique": "u", "on_duplicate": "replace"}
        await jobs.enqueue(api_db, cell.tenant_a, "t.work", [f'{{"n": {n}}}'], options)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 5)
    assert decode(grant.payload) == {"n": 2}


async def drained(db: Database, worker: UUID, grants: list[ClaimedJob], n: int) -> list[UUID]:
    """What a busy worker is granted from now on: it reports a batch and asks for another until there is none."""
    claimed = []
    while grants:
        done = [AttemptOutcome(token=grant.token, outcome="succeeded") for grant in grants]
        _, grants = await jobs.exchange(db, worker, ["default"], n, done)
        claimed += [grant.job_id for grant in grants]
    return claimed


async def test_a_busy_worker_finds_what_another_claim_let_go(cell: Cell, api_db: Database, worker_db: Database) -> None:
    """A claim that is rolled back has moved the clock all the same, and its jobs stand behind it."""
    worker = await register(worker_db, slots=1000)
    made = [job.job_id for job in await plainly(api_db, cell, ["{}"] * 240)]
    first = await jobs.claim(worker_db, worker, ["default"], 40)
    tokens = [grant.token for grant in first]
    for _ in range(8):  # whether a claim begins at the clock, it throws dice for
        connection = await asyncpg.connect(worker_db.target.url)
        begun = connection.transaction()
        await begun.start()
        arguments = (worker, ["default"], 40, tokens, None, None, None, None)
        taken = await connection.fetch("select * from leasehold.exchange($1, $2, $3, $4, $5, $6, $7, $8)", *arguments)
        assert len(taken) == 40
        await begun.rollback()
        await connection.close()
    assert sorted(await drained(worker_db, worker, first, 40)) == made[40:]


async def test_a_busy_worker_leaves_nothing_that_came_late(cell: Cell, api_db: Database, worker_db: Database) -> None:
    worker = await register(worker_db, slots=1000)
    async with api_db.transaction(tenant=cell.tenant_a) as connection:
        late = await connection.fetch("select * from leasehold.enqueue('t.work', array['{}', '{}']::jsonb[])")
        await plainly(api_db, cell, ["{}"] * 120)
        grants = await jobs.claim(worker_db, worker, ["default"], 40)
    claimed = await drained(worker_db, worker, grants, 40)
    assert len(claimed) == 82
    assert {row["job_id"] for row in late} <= set(claimed)
