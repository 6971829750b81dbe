"""Keys: the same request is the same job."""

import asyncio

import asyncpg
import pytest

from leasehold.database.database import Database, Role
from leasehold.engine import jobs
from leasehold.errors import BadInput, Conflict
from leasehold.job import Enqueued
from tests.cell import Cell
from tests.engine.test_life import end, register


async def ask(db: Database, cell: Cell, key: str | None, text: str = '{"n": 1}', **options: object) -> Enqueued:
    tenant = options.pop("tenant", cell.tenant_a)
    return (await jobs.enqueue(db, tenant, "t.work", [text], options, keys=[key]))[0]  # type: ignore[arg-type]


async def test_the_same_key_is_the_same_job_without_a_write(cell: Cell, api_db: Database) -> None:
    first = await ask(api_db, cell, "k")
    async with api_db.transaction() as connection:
        [again] = await jobs.enqueue(
            api_db, cell.tenant_a, "t.work", ['{ "n":1 }'], {}, keys=["k"], connection=connection
        )
        assert await connection.fetchval("select pg_current_xact_id_if_assigned()::text") is None
    assert (first.created, again.created, again.job_id) == (True, False, first.job_id)
    assert len(await cell.look("select * from leasehold.job")) == 1


async def test_the_same_key_with_another_payload_is_a_conflict(cell: Cell, api_db: Database) -> None:
    await ask(api_db, cell, "k")
    with pytest.raises(Conflict, match="another payload"):
        await ask(api_db, cell, "k", '{"n": 2}')


async def test_a_key_is_free_again_after_its_window(cell: Cell, api_db: Database) -> None:
    first = await ask(api_db, cell, "k", key_window_s=60)
    await cell.pass_time(61)
    second = await ask(api_db, cell, "k", '{"n": 2}', key_window_s=60)
    assert second.created
    assert second.job_id != first.job_id


async def test_keys_of_tenants_and_kinds_are_apart(cell: Cell, api_db: Database) -> None:
    await ask(api_db, cell, "k")
    assert (await ask(api_db, cell, "k", '{"n": 2}', tenant=cell.tenant_b)).created
    [other] = await jobs.enqueue(api_db, cell.tenant_a, "t.other", ['{"n": 3}'], {}, keys=["k"])
    assert other.created


async def test_a_batch_mixes_new_existing_and_no_keys(cell: Cell, worker_db: Database) -> None:
    old = await ask(worker_db, cell, "old")
    worker = await register(worker_db)
    [grant] = await jobs.claim(worker_db, worker, ["default"], 1)
    await end(worker_db, grant, "succeeded")
    got = await jobs.enqueue(
        worker_db, cell.tenant_a, "t.work", ['{"n": 0}', '{"n": 1}', '{"n": 2}'], {}, keys=[None, "old", "new"]
    )
    assert [(job.state, job.created) for job in got] == [("queued", True), ("succeeded", False), ("queued", True)]
    assert got[1].job_id == old.job_id
    found = await cell.look("select key, payload from leasehold.job order by job_id")
    assert [(row["key"], row["payload"]["n"]) for row in found] == [("old", 1), (None, 0), ("new", 2)]


@pytest.mark.parametrize("keys", [["a"], ["a", "a"], ["", "b"], ["x" * 256, "b"]])
async def test_keys_that_cannot_be_are_refused(cell: Cell, api_db: Database, keys: list[str]) -> None:
    with pytest.raises(BadInput):
        await jobs.enqueue(api_db, cell.tenant_a, "t.work", ["{}", "{}"], {}, keys=keys)


@pytest.mark.parametrize("other_payloads", [False, True])
async def test_a_hundred_callers_with_one_key_make_one_job(cell: Cell, other_payloads: bool) -> None:
    async with cell.database(Role.API, connections=20) as db:
        texts = [f'{{"n": {n % 2 if other_payloads else 0}}}' for n in range(100)]
        answers = await asyncio.gather(*(ask(db, cell, "k", text) for text in texts), return_exceptions=True)
    jobs_made = {answer.job_id for answer in answers if isinstance(answer, Enqueued)}
    refused = [answer for answer in answers if isinstance(answer, Conflict)]
    assert len(jobs_made) == 1
    assert len(refused) == (50 if other_payloads else 0)
    assert len(await cell.look("select * from leasehold.job")) == 1


async def test_a_rolled_back_enqueue_leaves_the_key_free(cell: Cell, api_db: Database) -> None:
    connection = await asyncpg.connect(cell.url(Role.API))
    await connection.execute("begin")
    await connection.execute("select set_config('leasehold.tenant', $1, true)", str(cell.tenant_a))
    await connection.fetch("select * from leasehold.enqueue('t.work', array['{}'::jsonb], '{}', array['k'])")
    waiting = asyncio.create_task(ask(api_db, cell, "k", '{"other": 1}'))
    await connection.execute("rollback")
    await connection.close()
    assert (await waiting).created
    assert len(await cell.look("select * from leasehold.job")) == 1


async def test_a_key_held_by_an_open_transaction_is_in_progress(cell: Cell, api_db: Database) -> None:
    await cell.change(
        "alter function leasehold.reserve_keys(uuid, text, text[], jsonb[], uuid[], jsonb) set lock_timeout = '100ms'"
    )
    connection = await asyncpg.connect(cell.url(Role.API))
    await connection.execute("begin")
    await connection.execute("select set_config('leasehold.tenant', $1, true)", str(cell.tenant_a))
    await connection.fetch("select * from leasehold.enqueue('t.work', array['{}'::jsonb], '{}', array['k'])")
    with pytest.raises(Conflict, match="being enqueued"):
        await ask(api_db, cell, "k")
    await connection.execute("rollback")
    await connection.close()
