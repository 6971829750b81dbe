"""A dump under load has the rows of one moment and the sequences of a later one: its copy goes on."""

import asyncio
import os
import subprocess
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from leasehold.database import migrate
from leasehold.database.database import Database, Role
from leasehold.engine import jobs, maintenance, tenants
from leasehold.features.flows.model import chain, step
from leasehold.features.flows.store import Flows, tend_flows
from leasehold.features.limits.store import Gates
from leasehold.features.schedules.store import Schedules, fire_due
from leasehold.job import State
from leasehold.postgres import find_binaries
from leasehold.worker import leader as leader_module
from leasehold.worker.leader import Leader
from tests.cell import Cell
from tests.engine.test_life import end, register

#: The server of the tests lets in whoever says so.
_NAMED = {"PGAPPNAME": "leasehold-migrate"}


@pytest.fixture(autouse=True)
def _tokens_with_each_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leader walks them once a second; nobody here waits that long."""
    monkeypatch.setattr(leader_module, "_TOKENS_SECONDS", 0.0)


@asynccontextmanager
async def copied(cell: Cell, folder: Path, meanwhile: Callable[[], Awaitable[object]]) -> AsyncIterator[Cell]:
    """A copy of this moment, dumped after ``meanwhile`` has happened."""
    admin_url = cell.cluster.url(cell.name)
    moment = await asyncpg.connect(admin_url, server_settings={"application_name": "leasehold-migrate"})
    dump, copy = folder / "leasehold.dump", Cell(cluster=cell.cluster, name=f"{cell.name}_copy")
    url = cell.cluster.url(copy.name)
    try:
        async with moment.transaction(isolation="repeatable_read"):
            snapshot = await moment.fetchval("select pg_export_snapshot()")
            await meanwhile()
            await _run("pg_dump", "-Fc", f"--snapshot={snapshot}", "-f", str(dump), "-d", admin_url)
        await migrate.create_database(cell.cluster.admin_url, copy.name)
        await _run("pg_restore", "--exit-on-error", "-d", url, str(dump))
        assert (await migrate.migrate(url)).applied == []
        roles = ", ".join(f"leasehold_{role}" for role in Role)
        await cell.cluster.administer(copy.name, f'grant connect on database "{copy.name}" to {roles}')
        yield copy
    finally:
        await moment.close()
        await cell.cluster.administer("postgres", f'drop database if exists "{copy.name}" with (force)')


async def _run(program: str, *arguments: str) -> None:
    of_server = os.environ.get("LEASEHOLD_PG_BIN")  # a newer one says what an older server does not know
    binaries = find_binaries(Path(of_server) if of_server else None)
    command = [str(binaries.bin / program), *arguments]
    done = await asyncio.to_thread(subprocess.run, command, env=os.environ | _NAMED, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


async def ask(db: Database, tenant: UUID, n: int = 1, **options: Any) -> list[UUID]:
    return [job.job_id for job in await jobs.enqueue(db, tenant, "t.work", ["{}"] * n, options)]


async def lead(db: Database) -> None:
    """What one who leads from now on finds."""
    leader = Leader(db)
    for _ in range(3):
        await leader.tick()


async def work_off(db: Database, worker: UUID, n: int = 3) -> list[UUID]:
    """Run all that may run, few at a time, and say in which order they started."""
    started: list[UUID] = []
    while grants := await jobs.claim(db, worker, ["default"], n):
        started += [grant.job_id for grant in grants]
        for grant in reversed(grants):
            await end(db, grant)
    return started


async def test_the_order_of_groups_is_kept(cell: Cell, worker_db: Database, tmp_path: Path) -> None:
    """Some stand in line, run, back off; when the sequences were read, all of them had ended."""
    limits = {"one": 1, "two": 2, "five": 5}
    worker = await register(worker_db, slots=100, lease_s=2.0)
    asked: dict[str, list[UUID]] = defaultdict(list)
    for _ in range(6):
        for group, limit in limits.items():
            asked[group] += await ask(worker_db, cell.tenant_a, 2, group=group, group_limit=limit)
    running = await jobs.claim(worker_db, worker, ["default"], 6)
    for grant in running[:2]:
        await end(worker_db, grant, "errored")
    have_started = {grant.job_id for grant in running}

    async def meanwhile() -> None:
        for grant in running[2:]:
            await end(worker_db, grant)
        await work_off(worker_db, worker)
        await lead(worker_db)

    async with copied(cell, tmp_path, meanwhile) as copy, copy.database(Role.WORKER) as db:
        await copy.pass_time(60)
        await lead(db)
        assert await maintenance.rescue_silent_workers(db) == len(running) - 2
        await maintenance.dispatch_due_jobs(db)
        started = await work_off(db, await register(db))
    for order in asked.values():
        waited = [job for job in order if job not in have_started]
        assert [job for job in started if job in waited] == waited
    assert set(started) == {job for order in asked.values() for job in order}


async def test_who_ran_counts_and_is_taken_from_who_is_silent(cell: Cell, worker_db: Database, tmp_path: Path) -> None:
    """When the sequences were read, no lease was left below the token that was published."""
    worker = await register(worker_db, slots=100, lease_s=2.0)
    async with cell.database(Role.OPERATOR) as operator:
        await tenants.set_tenant(operator, cell.tenant_b, max_running=2)
    await ask(worker_db, cell.tenant_b, 6)
    running = await jobs.claim(worker_db, worker, ["default"], 10)
    assert len(running) == 2

    async def meanwhile() -> None:
        for grant in running:
            await end(worker_db, grant)
        await lead(worker_db)

    async with copied(cell, tmp_path, meanwhile) as copy, copy.database(Role.WORKER) as db:
        again = await register(db)
        await lead(db)
        assert await jobs.claim(db, again, ["default"], 10) == []
        await copy.pass_time(5)
        assert await maintenance.rescue_silent_workers(db) == 2
        await maintenance.unpark(db)
        assert len(await jobs.claim(db, again, ["default"], 10)) == 2


async def test_keys_gates_flows_and_schedules_go_on_from_the_moment(
    cell: Cell, worker_db: Database, api_db: Database, tmp_path: Path
) -> None:
    a = cell.tenant_a
    worker = await register(worker_db, slots=100, lease_s=2.0)
    schedules = Schedules(api_db, a, lambda _: None)
    await schedules.put("hourly", "t.tick", {}, every=3600)
    await Gates(api_db, a).set("slow", rate=1, burst=1)
    flow = await Flows(api_db, a, lambda: None).start(chain(step("t.one", {}), step("t.two", {})))
    [keyed] = await jobs.enqueue(api_db, a, "t.work", ["{}"], {}, keys=["order 17"])
    [unique] = await ask(api_db, a, unique="one at a time", delay_s=30.0)
    gated = await ask(api_db, a, 3, gate="slow")
    assert len(await jobs.claim(worker_db, worker, ["default"], 10)) == 3, "the step, the keyed one, one at the gate"

    async def meanwhile() -> None:
        for _ in range(4):
            await cell.pass_time(3600)
            await maintenance.dispatch_due_jobs(worker_db)
            await maintenance.ring_gates(worker_db)
            await fire_due(worker_db)
            await work_off(worker_db, await register(worker_db))
            await lead(worker_db)
        assert (await jobs.get_job(api_db, a, unique)).state is State.SUCCEEDED

    async with (
        copied(cell, tmp_path, meanwhile) as copy,
        copy.database(Role.WORKER) as db,
        copy.database(Role.API) as api,
    ):
        [again] = await jobs.enqueue(api, a, "t.work", ["{}"], {}, keys=["order 17"])
        assert (again.job_id, again.created) == (keyed.job_id, False)
        assert await ask(api, a, unique="one at a time") == [unique]
        await copy.pass_time(3601)
        assert await fire_due(db) == 1
        await lead(db)
        assert await maintenance.rescue_silent_workers(db) == 3
        kinds: list[str] = []
        for _ in range(4):
            await maintenance.dispatch_due_jobs(db)
            await maintenance.ring_gates(db)
            await tend_flows(db)
            starts = await work_off(db, await register(db))
            assert len(set(starts) & set(gated)) <= 1, "the gate lets one pass in a second"
            kinds += [(await jobs.get_job(api, a, job)).kind for job in starts]
            await copy.pass_time(1)
        assert sorted(kinds) == ["t.one", "t.tick", "t.two", *["t.work"] * 5]
        assert (await Flows(api, a, lambda: None).get(flow)).state == "succeeded"
