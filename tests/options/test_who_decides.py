"""Who decides about an option: the caller, else what the newest release told the database, else the default."""

from dataclasses import replace
from typing import Any

import asyncpg
import pytest

from leasehold import Leasehold, Settings
from leasehold.database.database import Database, Role
from leasehold.engine import jobs
from leasehold.engine.leases import end_worker, register_kinds, register_worker
from leasehold.errors import BadInput
from leasehold.job import Job
from leasehold.program.context import Context
from leasehold.worker import Worker
from tests.cell import Cell
from tests.waiting import eventually
from tests.worker.running import SHORT_LEASE, running

KIND = "t.work"


async def register(db: Database, kinds: dict[str, Any]) -> Any:
    return await register_worker(db, name="w", version="1", queues=["default"], kinds=kinds, slots=1, lease_s=60.0)


def app_of(cell: Cell, settings: Settings, **options: Any) -> Leasehold:
    app = Leasehold(replace(settings, api_url=cell.url(Role.API), worker_url=cell.url(Role.WORKER), tenant="a"))

    @app.handler(KIND, **options)
    async def work(ctx: Context) -> None: ...

    return app


async def asked(app: Leasehold, **options: Any) -> Job:
    made = await app.enqueue(KIND, **options)
    return await (await app.client()).get(made.job_id)


async def test_the_caller_comes_first_then_the_database_then_the_default(
    cell: Cell, worker_db: Database, fast: Settings
) -> None:
    await register(worker_db, {KIND: {"max_attempts": 7, "timeout_s": 70}})
    async with app_of(cell, fast, attempts=3, priority=1) as older:  # the database knows a newer release
        job = await asked(older)
        assert (job.max_attempts, job.priority) == (7, 2)
        assert (await asked(older, attempts=2)).max_attempts == 2


async def test_a_program_tells_of_its_handlers_unless_they_are_known(
    cell: Cell, worker_db: Database, fast: Settings
) -> None:
    async with app_of(cell, fast, attempts=3, queue="money") as app:
        job = await asked(app)
        assert (job.max_attempts, job.queue) == (3, "money")

        @app.handler("t.late", attempts=4)  # the database is open already
        async def late(ctx: Context) -> None: ...

        made = await app.enqueue("t.late")
        assert (await (await app.client()).get(made.job_id)).max_attempts == 4
    [made] = await jobs.enqueue(worker_db, cell.tenant_a, KIND, ["{}"], {})
    assert (await jobs.get_job(worker_db, cell.tenant_a, made.job_id)).max_attempts == 3, "for whoever asks"
    async with app_of(cell, fast, attempts=9) as newer:
        assert (await asked(newer)).max_attempts == 3, "no worker runs that release yet"
    await register(worker_db, {KIND: {"max_attempts": 9}})
    async with app_of(cell, fast, attempts=3) as older:
        assert (await asked(older)).max_attempts == 9


async def test_a_transaction_of_the_callers_own_brings_options_and_writes_none(
    cell: Cell, worker_db: Database, fast: Settings
) -> None:
    """Another process that tells of the same kind must not wait for the end of that transaction."""
    app = app_of(cell, fast, attempts=3)
    connection = await asyncpg.connect(cell.url(Role.API))
    try:
        async with connection.transaction():
            made = await app.enqueue(KIND, conn=connection)
            await register_kinds(worker_db, ["default"], {KIND: {"max_attempts": 8}})
            again = await app.enqueue(KIND, conn=connection)
    finally:
        await connection.close()
    found = [await jobs.get_job(worker_db, cell.tenant_a, one.job_id) for one in (made, again)]
    assert [job.max_attempts for job in found] == [3, 8]


async def test_the_worker_that_started_last_decides(cell: Cell, worker_db: Database) -> None:
    old = await register(worker_db, {KIND: {"max_attempts": 1}, "t.other": {"priority": 1}})
    new = await register(worker_db, {KIND: {"max_attempts": 2}})
    rows = await cell.look("select kind, options from leasehold.kind order by kind")
    assert rows == [{"kind": "t.other", "options": {"priority": 1}}, {"kind": KIND, "options": {"max_attempts": 2}}]
    for worker in (old, new):
        await end_worker(worker_db, worker)
    await register(worker_db, {KIND: {"max_attempts": 1}})  # a roll-back
    assert await cell.look(f"select options from leasehold.kind where kind = '{KIND}'") == [
        {"options": {"max_attempts": 1}}
    ]


async def test_a_worker_that_comes_back_is_no_newer_than_it_was(
    cell: Cell, worker_db: Database, fast: Settings
) -> None:
    async with running(cell, app_of(cell, fast, attempts=1), SHORT_LEASE) as worker:
        before = worker.worker_id
        assert before is not None
        await register(worker_db, {KIND: {"max_attempts": 2}})
        await end_worker(worker_db, before)  # as if it had been silent for too long

        async def is_back() -> bool:
            return _is_another(worker, before)

        await eventually(is_back, what="a new id")
        assert await cell.look(f"select kinds from leasehold.worker where worker_id = '{worker.worker_id}'") == [
            {"kinds": [KIND]}
        ]
    assert await cell.look("select options from leasehold.kind") == [{"options": {"max_attempts": 2}}]


def _is_another(worker: Worker, before: Any) -> bool:
    return worker.worker_id not in (None, before)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"run_at": "2031-01-01T00:00:00Z"}, "kind t.work cannot have the option 'run_at'"),
        ({"unique": "u"}, "kind t.work cannot have the option 'unique'"),
        ({"colour": "red"}, "there is no option 'colour'"),
        ({"gate": "stripe:{customer"}, "cannot be made by the template"),
        ({"priority": 9}, "priority 9"),
    ],
)
async def test_what_a_kind_cannot_have_is_refused(
    cell: Cell, worker_db: Database, api_db: Database, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        await register(worker_db, {KIND: options})
    with pytest.raises(BadInput, match=words):
        await register_kinds(api_db, ["default"], {KIND: options})
    assert await cell.look("select * from leasehold.kind") == []


async def test_the_version_is_that_of_whoever_makes_the_payload(
    cell: Cell, worker_db: Database, fast: Settings
) -> None:
    """An old program's payload has the old shape, whatever the newest release reads."""
    await register(worker_db, {KIND: {"version": 3}})
    async with app_of(cell, fast, version=2) as older:
        assert (await asked(older)).version == 2
        older.schedule("nightly", KIND, every=60)
        [declared] = older.declared_schedules()
        assert declared.options == {"version": 2}
    [made] = await jobs.enqueue(worker_db, cell.tenant_a, KIND, ["{}"], {})
    assert (await jobs.get_job(worker_db, cell.tenant_a, made.job_id)).version == 3


async def test_two_names_of_one_option_and_functions_are_refused_everywhere(cell: Cell, fast: Settings) -> None:
    async with app_of(cell, fast) as app:
        client = await app.client()
        two: dict[str, Any] = {"attempts": 1, "max_attempts": 2}
        for enqueue in (app.enqueue, client.enqueue):
            with pytest.raises(BadInput, match="max_attempts is the same option as attempts"):
                await enqueue(KIND, **two)
            with pytest.raises(BadInput, match="the option gate is a function"):
                await enqueue(KIND, gate=lambda payload: "g")  # type: ignore[arg-type]
