"""Plain jobs have a branch of their own in insert_jobs, and a copy in ``ready``. They become what all others do."""

from typing import Any
from uuid import UUID

import asyncpg
import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.errors import BadInput, NotFound, QuotaExceeded
from leasehold.job import AttemptOutcome, ClaimedJob, Enqueued, State
from leasehold.job_options import OPTIONS, plain
from leasehold.json_codec import decode, encode
from tests.cell import Cell
from tests.engine.test_life import end, register
from tests.options.cases import PAYLOAD, SAMPLES

SMALL, MIDDLING, LARGE = ('{"text": "%s"}' % ("x" * size) for size in (10, 2_000, 100_000))
#: Of a job that is made twice, what cannot be the same.
_OWN = "job_id, created_at, run_at, xid, key"
#: What the plain branch says that it can carry.
CARRIED = [option.name for option in OPTIONS if option.short]


async def plainly(db: Database, cell: Cell, payloads: list[str], options: Any = None) -> list[Enqueued]:
    return await jobs.enqueue(db, cell.tenant_a, "t.work", payloads, options or {})


async def rows(cell: Cell, table: str) -> list[str]:
    columns = ", ".join(f"'{name}'" for name in _OWN.split(", "))
    found = await cell.look(
        f"select (to_jsonb(t) - array[{columns}])::text as row from leasehold.{table} t order by t.job_id"
    )
    return [row["row"] for row in found]


async def break_the_plain_branch(cell: Cell) -> None:
    """Whatever takes it from now on fails."""
    await cell.change(
        "create or replace function leasehold.insert_plain_jobs(p_job leasehold.job, p_jobs uuid[], p_tenant uuid,"
        " p_stride bigint, p_lane leasehold.lane, p_payloads jsonb[]) returns text language plpgsql"
        " as $$ begin raise exception 'by the plain branch' using errcode = 'LH400'; end $$"
    )


@pytest.mark.parametrize("payloads", [[SMALL], [MIDDLING], [SMALL, MIDDLING, SMALL]])
@pytest.mark.parametrize("option", [*CARRIED, None])
async def test_the_plain_branch_writes_what_the_other_one_writes(
    cell: Cell, api_db: Database, worker_db: Database, payloads: list[str], option: str | None
) -> None:
    """Each option that it says it can carry; a key makes the other jobs take the other branch."""
    await worker_db.call("create_queue", "mail")
    options = {} if option is None else {option: SAMPLES[option].caller}
    await plainly(api_db, cell, payloads, options)
    short = [await rows(cell, table) for table in ("job", "ready")]
    await cell.change("delete from leasehold.ready; delete from leasehold.job")
    await break_the_plain_branch(cell)
    keys = [f"key {number}" for number in range(len(payloads))]
    await jobs.enqueue(api_db, cell.tenant_a, "t.work", payloads, options, keys=keys)
    assert [await rows(cell, table) for table in ("job", "ready")] == short
    assert len(short[0]) == len(short[1]) == len(payloads)


@pytest.mark.parametrize("option", [option.name for option in OPTIONS if not option.short])
async def test_an_option_that_the_plain_branch_does_not_name_takes_the_other_one(
    cell: Cell, api_db: Database, option: str
) -> None:
    await break_the_plain_branch(cell)
    sample = SAMPLES[option]
    given = plain(dict(sample.beside) | {option: sample.caller})
    for payloads in ([encode(PAYLOAD)], [encode(PAYLOAD)] * 2):
        assert len(await plainly(api_db, cell, payloads, given)) == len(payloads)


async def test_an_option_that_is_added_takes_the_other_branch(cell: Cell) -> None:
    [row] = await cell.look("""select leasehold.is_plain('{"queue": "mail", "new": 1}') as plain""")
    assert row["plain"] is False


@pytest.mark.parametrize("payloads", [[LARGE], [SMALL, LARGE]])
async def test_payloads_that_do_not_fit_into_rows_take_the_other_branch(
    cell: Cell, api_db: Database, payloads: list[str]
) -> None:
    await break_the_plain_branch(cell)
    assert len(await plainly(api_db, cell, payloads)) == len(payloads)
    with pytest.raises(BadInput, match="by the plain branch"):
        await plainly(api_db, cell, [SMALL])


async def test_a_kind_of_jobs_that_are_not_plain_takes_the_other_branch(
    cell: Cell, api_db: Database, worker_db: Database
) -> None:
    await register(worker_db, kinds={"t.work": {"group": "g"}})
    await break_the_plain_branch(cell)
    [made] = await plainly(api_db, cell, ["{}"])
    assert made.state is State.BLOCKED, "it stands in the line of its group"


async def test_the_options_of_a_kind_hold_for_plain_jobs_too(cell: Cell, api_db: Database, worker_db: Database) -> None:
    await register(worker_db, kinds={"t.work": {"max_attempts": 9, "priority": 0}})
    [made] = await plainly(api_db, cell, ["{}"], {"priority": 3})
    job = await jobs.get_job(api_db, cell.tenant_a, made.job_id)
    assert (job.max_attempts, job.priority) == (9, 3)


@pytest.mark.parametrize(
    ("kind", "payloads", "options", "said"),
    [
        ("t.work", ["{}"], {"priority": 7}, "priority 7"),
        ("t.work", ["{}"], {"waits": True}, "no option 'waits'"),
        ("t.work", ["{}", None], {}, "payload 2 is null"),
        ("t.work", [], {}, "1 to 10000 payloads, not 0"),
        ("t.work", None, {}, "1 to 10000 payloads, not 0"),
        ("t.work", ["{}"] * 10_001, {}, "1 to 10000 payloads, not 10001"),
        ("Work", ["{}"], {}, "pack.verb"),
    ],
)
async def test_what_cannot_be_meant_is_refused(
    cell: Cell, api_db: Database, kind: str, payloads: Any, options: Any, said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        await jobs.enqueue(api_db, cell.tenant_a, kind, payloads, options)
    assert await rows(cell, "job") == []


async def test_a_queue_that_is_not_there_is_refused(cell: Cell, api_db: Database) -> None:
    with pytest.raises(NotFound, match="no queue 'nowhere'"):
        await plainly(api_db, cell, ["{}"], {"queue": "nowhere"})


@pytest.mark.parametrize("options", [{}, {"tags": ["a"]}])
async def test_a_tenant_over_its_quota_is_refused(cell: Cell, api_db: Database, options: Any) -> None:
    await cell.exceed_quota(2)
    with pytest.raises(QuotaExceeded):
        await plainly(api_db, cell, ["{}"], options)


async def test_tenants_are_one_for_all_payloads_or_one_for_each(cell: Cell, api_db: Database) -> None:
    async def ask(tenants: list[UUID], n: int, keys: Any = None) -> list[Enqueued]:
        return await jobs.enqueue(api_db, None, "t.work", ["{}"] * n, {}, tenants=tenants, keys=keys)

    a, b = cell.tenant_a, cell.tenant_b
    made = [*await ask([a], 2), *await ask([b, a], 2)]
    found = {UUID(row["job_id"]): UUID(row["tenant_id"]) for row in await cell.look("select * from leasehold.job")}
    assert [found[job.job_id] for job in made] == [a, a, b, a]
    with pytest.raises(BadInput, match="2 tenants for 3 payloads"):
        await ask([a, b], 3)
    with pytest.raises(BadInput, match="0 tenants for 1 payloads"):
        await ask([], 1)
    with pytest.raises(BadInput, match="keys is for one tenant"):
        await ask([a, b], 2, ["k", "l"])
    with pytest.raises(NotFound, match="no tenant"):
        await ask([UUID(int=7)], 1)


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
        late = await connection.fetchval("select job_ids from leasehold.enqueue('t.work', array['{}', '{}']::jsonb[])")
        await plainly(api_db, cell, ["{}"] * 120)
        grants = await jobs.claim(worker_db, worker, ["default"], 40)
    claimed = await drained(worker_db, worker, grants, 40)
    assert len(claimed) == 82
    assert set(late) <= set(claimed)
