"""`leasehold doctor` finds what was really broken, says why, and names the command that helps."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

import asyncpg
import pytest

from leasehold.cli import doctor
from leasehold.database.database import Database, Role
from leasehold.engine import diagnostics, jobs, leases
from leasehold.engine.diagnostics import Finding
from leasehold.program.app import Leasehold
from leasehold.settings import Settings
from tests.cell import Cell, Cluster
from tests.cli.program import LEASEHOLD, leasehold
from tests.faults import bouncer
from tests.waiting import eventually
from tests.worker.running import running

VERSION = version("leasehold")


def settings_of(cell: Cell, **more: object) -> Settings:
    urls = {f"{role}_url": cell.url(role) for role in (Role.API, Role.WORKER, Role.OPERATOR)}
    return Settings.from_env({}, **urls | more)


async def found(cell: Cell, check: str, *, old_s: float = 300.0, settings: Settings | None = None) -> list[Finding]:
    """What is wrong with this; every finding has a reason and a command."""
    findings = await diagnostics.examine(settings or settings_of(cell), old_s=old_s)
    wrong = [finding for finding in findings if finding.way_out]
    assert all(finding.why for finding in wrong)
    return [finding for finding in wrong if finding.check == check]


async def register(db: Database, *, kinds: list[str], of: str = VERSION) -> None:
    await leases.register_worker(
        db, name="w", version=of, queues=["default"], kinds={kind: {} for kind in kinds}, slots=10, lease_s=60.0
    )


async def test_nothing_is_wrong_with_what_works(cell: Cell) -> None:
    async with running(cell, Leasehold()):
        findings = await diagnostics.examine(settings_of(cell))
    assert [finding for finding in findings if finding.way_out] == []
    assert {"database", "schema", "clock", "wake-ups", "partitions", "vacuum", "workers", "versions"} == {
        finding.check for finding in findings
    }


async def test_no_worker_is_grave_and_ends_the_command_with_one(cell: Cell) -> None:
    said = await asyncio.to_thread(leasehold, "doctor", env=cell.environment())
    assert said.code == 1
    assert "✗\tworkers\tnone is alive\tleasehold worker module:app" in said.out.splitlines()
    assert "why: jobs are stored and wait" in said.err


async def test_a_pooler_in_the_way_of_listen_is_found_by_its_silence(
    cell: Cell,
    cluster: Cluster,
) -> None:
    if not bouncer.PROGRAM:
        pytest.skip("no pgbouncer here")
    passwords = {f"leasehold_{role}": word for role, word in cluster.passwords.items()}
    with bouncer.bouncing(cell.url(Role.WORKER), passwords) as pooler:
        through = settings_of(cell, worker_url=pooler.through(cell.url(Role.WORKER)))
        [deaf] = await found(cell, "wake-ups", settings=through)
        assert "LEASEHOLD_LISTEN_URL" in str(deaf.way_out)
        past = settings_of(cell, worker_url=through.worker_url, pooled=True, listen_url=cell.url(Role.WORKER))
        assert await found(cell, "wake-ups", settings=past) == [], "what it advises helps"


async def test_a_pooler_without_a_way_past_it_is_found_too(cell: Cell) -> None:
    assert len(await found(cell, "wake-ups", settings=settings_of(cell, pooled=True))) == 1


def test_a_clock_that_goes_wrong_is_found(cell_environment: dict[str, str]) -> None:
    faketime = shutil.which("faketime")
    if not faketime:
        pytest.skip("no faketime here")
    said = leasehold("doctor", "--json", env=cell_environment, command=(faketime, "-f", "+90s", *LEASEHOLD))
    [clock] = [one for one in said.json if one["check"] == "clock"]
    [seconds] = re.findall(r"differs by \+([\d.]+) s", clock["text"])
    assert float(seconds) == pytest.approx(90, abs=5), "a busy machine measures a round trip less sharply"
    assert clock["way_out"] == "timedatectl set-ntp true"


@pytest.fixture
async def cell_environment(cell: Cell) -> dict[str, str]:
    return cell.environment()


async def test_a_day_without_a_partition_is_found_and_so_is_what_fell_into_the_default(
    cell: Cell, api_db: Database, worker_db: Database
) -> None:
    await cell.pass_time(30 * 86_400)
    assert "today has no partition" in (await found(cell, "partitions"))[0].text
    await jobs.enqueue(api_db, cell.tenant_a, "t.work", ["{}"], {})
    await cell.pass_time(86_400)
    await worker_db.call("make_partitions")
    assert "holds 1 jobs" in (await found(cell, "partitions"))[0].text


@asynccontextmanager
async def forgotten(cell: Cell) -> AsyncIterator[int]:
    """A transaction that somebody left open; its pid."""
    connection = await asyncpg.connect(
        cell.url(Role.READONLY), server_settings={"application_name": "a forgotten shell"}
    )
    try:
        await connection.execute("begin isolation level repeatable read; select 'a secret question'")
        yield connection.get_server_pid()
    finally:
        connection.terminate()


async def test_the_session_that_holds_the_horizon_is_named_without_its_words(cell: Cell) -> None:
    async with forgotten(cell) as pid:
        [guilty] = await found(cell, "vacuum", old_s=0)
        assert f"pid {pid}, user leasehold_readonly, application a forgotten shell: idle in transaction" in guilty.text
        assert guilty.way_out == f"psql -c 'select pg_terminate_backend({pid})'"
        assert "secret" not in repr(await diagnostics.examine(settings_of(cell), old_s=0))
        assert await found(cell, "vacuum") == [], "five minutes are nothing yet"


async def test_a_hot_table_full_of_dead_rows_is_found(cell: Cell) -> None:
    async with forgotten(cell):  # or autovacuum might be quicker than we
        await cell.change(
            "insert into leasehold.deferred (run_at, job_id, tenant_id, lane, attempt, max_attempts, events, why)"
            " select now(), gen_random_uuid(), gen_random_uuid(), 1, 0, 1, 1, 'scheduled'"
            " from generate_series(1, 30000); delete from leasehold.deferred; select pg_stat_force_next_flush()"
        )

        async def told() -> list[Finding]:
            return await found(cell, "vacuum")

        [bloated] = await eventually(told, what="the statistics of PostgreSQL") or []
    # A few more where another test has used the table before.
    assert re.search(r"table deferred has 3\d{4} dead rows", bloated.text)
    assert bloated.way_out == "psql -c 'vacuum (verbose) leasehold.deferred'"


async def test_leases_that_nobody_holds_any_more_are_found(
    cell: Cell,
    api_db: Database,
    worker_db: Database,
) -> None:
    await register(worker_db, kinds=["t.work"])
    await jobs.enqueue(api_db, cell.tenant_a, "t.work", ["{}"], {})
    [worker] = await cell.look("select worker_id from leasehold.worker")
    assert len(await jobs.claim(worker_db, worker["worker_id"], ["default"], 1)) == 1
    assert await found(cell, "leases") == []
    await cell.pass_time(3 * 3600)  # its worker says nothing
    assert "worker w has been silent for 3 h and holds 1 leases" in (await found(cell, "leases"))[0].text
    await cell.change("update leasehold.worker set ended_at = leasehold.now()")
    assert "1 leases are past their deadline, or their worker has ended" in (await found(cell, "leases"))[0].text


async def test_kinds_that_no_worker_handles_are_named_with_their_queue(
    cell: Cell, api_db: Database, worker_db: Database
) -> None:
    await register(worker_db, kinds=["t.known"])
    for kind in ("t.known", "t.unknown", "t.unknown"):
        await jobs.enqueue(api_db, cell.tenant_a, kind, ["{}"], {})
    [waiting] = await found(cell, "kinds")
    assert waiting.text == "2 jobs of kind t.unknown wait in queue default, and no worker handles them"
    assert str(waiting.way_out).startswith("leasehold worker module:app --queues default")


async def test_a_kind_that_a_worker_has_met_and_given_back_is_named_too(
    cell: Cell,
    api_db: Database,
) -> None:
    async with running(cell, Leasehold()):
        await jobs.enqueue(api_db, cell.tenant_a, "t.unknown", ["{}"], {})

        async def given_back() -> bool:
            return bool(await cell.look("select from leasehold.deferred where why = 'released'"))

        await eventually(given_back, what="the job given back")
        [waiting] = await found(cell, "kinds")
    assert waiting.text.startswith("1 jobs of kind t.unknown wait")


async def test_programs_of_several_versions_are_found_workers_servers_and_the_schema(
    cell: Cell, worker_db: Database
) -> None:
    await register(worker_db, kinds=[], of="0.0.1")
    server = await asyncpg.connect(cell.url(Role.API), server_settings={"application_name": "leasehold-api/0.0.2"})
    try:
        [skew] = await found(cell, "versions")
    finally:
        await server.close()
    assert skew.text.startswith("programs of 3 versions: 0.0.1 (workers); 0.0.2 (leasehold-api); " + VERSION)
    for grave in (False, True):  # one release later serves this program too, two may not
        await cell.change("update leasehold.migration set release = release + 1")
        [later] = await found(cell, "schema")
        assert ("this program knows" in later.text, later.grave) == (True, grave)
    await cell.change("update leasehold.migration set release = release - 2")
    await cell.change("update leasehold.migration set checksum = 'other' where name = 'functions/claim.sql'")
    [late] = await found(cell, "schema")
    assert (late.text, late.way_out, late.grave) == ("1 files differ", "leasehold db migrate", True)


async def test_a_database_that_is_away_is_the_only_finding(cell: Cell) -> None:
    away = settings_of(cell, operator_url="postgresql://leasehold_operator@127.0.0.1:1/x")
    [gone] = await diagnostics.examine(away)
    assert (gone.check, gone.grave) == ("database", True)


def test_marks_tell_grave_from_worth_a_word() -> None:
    rows = [
        doctor._row(Finding(check="c", text="t", way_out=way, grave=grave))
        for way, grave in ((None, False), ("w", False), ("w", True))
    ]
    assert [row[0] for row in rows] == ["✓", "!", "✗"]
