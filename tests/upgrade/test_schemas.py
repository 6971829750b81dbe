"""Schemas of every release that was kept: today's program upgrades them, and their programs find what they call."""

from pathlib import Path
from typing import Any

import pytest

from leasehold import sql
from leasehold.engine import migrate
from tests.engine.conftest import Own
from tests.engine.conftest import own as own
from tests.engine.test_migrate import shape
from tests.upgrade.releases import kept, unpacked

#: What a program may call, by whom, and what it gets.
CALLED = """
select p.oid::regprocedure::text as function, pg_get_function_result(p.oid) as result,
  array(select r.rolname::text from pg_roles r
    where r.rolname ~ '_(api|worker|operator)$' and has_function_privilege(r.oid, p.oid, 'execute') order by 1) as roles
from pg_proc p where pronamespace = 'leasehold'::regnamespace
"""
#: One's own server has a place for its roles: they belong to a server, and are named after the schema.
SCHEMA = "leasehold"

pytestmark = pytest.mark.parametrize("archive", kept(), ids=lambda archive: archive.name.partition(".")[0])


async def test_its_database_becomes_what_a_new_one_is(own: Own, archive: Path, tmp_path: Path) -> None:
    grown, fresh = await own.new_database(), await own.new_database()
    await unpacked(archive, tmp_path).migrate(own.url(grown))
    assert (await migrate.migrate(own.url(grown))).release == sql.RELEASE
    await migrate.migrate(own.url(fresh))
    ours, theirs = await shape(own, grown, SCHEMA), await shape(own, fresh, SCHEMA)
    for name in ours:
        assert _known(ours[name]) == _known(theirs[name]), name


def _known(rows: list[tuple[Any, ...]]) -> list[str]:
    """In whichever order columns were added."""
    return sorted(map(repr, rows))


async def test_what_waited_before_is_found_after(own: Own, archive: Path, tmp_path: Path) -> None:
    database = await own.new_database()
    await unpacked(archive, tmp_path).migrate(own.url(database))
    tenant = "0190a000-0000-7000-8000-00000000000a"
    acting = f"select set_config('leasehold.tenant', '{tenant}', false)"
    payloads = "array['{}', '{}', '{}']::jsonb[]"
    await own.execute(
        database,
        f"insert into leasehold.tenant (tenant_id, name, created_at) values ('{tenant}', 'a', now())",
        f"{acting}; select leasehold.enqueue('t.work', {payloads})",
    )
    await migrate.migrate(own.url(database))
    await own.execute(database, f"{acting}; select leasehold.enqueue('t.work', {payloads})")
    seen = "select (leasehold.view_jobs(tenant_id, array[job_id])).state, leasehold.state_of(job_id) from leasehold.job"
    assert [tuple(row) for row in await own.fetch(database, seen)] == [("queued", "queued")] * 6
    await own.execute(database, f"{acting}; select leasehold.cancel(job_id) from leasehold.job")
    assert await own.fetch(database, "select from leasehold.ready") == []


async def test_its_programs_find_every_function_that_they_call(own: Own, archive: Path, tmp_path: Path) -> None:
    database = await own.new_database()
    await unpacked(archive, tmp_path).migrate(own.url(database))
    before = {row["function"]: row for row in await own.fetch(database, CALLED) if row["roles"]}
    await migrate.migrate(own.url(database))
    after = {row["function"]: row for row in await own.fetch(database, CALLED)}
    assert len(before) > 100
    for name, row in before.items():
        assert name in after, f"{name} is gone, and programs of {archive.name} call it: give the new one a new name"
        assert after[name]["result"] == row["result"], f"{name} gives something else: give the new one a new name"
        assert set(row["roles"]) <= set(after[name]["roles"]), f"{name} is no longer for all who call it"


def test_its_table_files_are_as_they_were_and_a_changed_file_is_a_new_release(archive: Path, tmp_path: Path) -> None:
    program = unpacked(archive, tmp_path)
    folder = program.folder / "leasehold" / "sql"
    now = {file.name: file.text for file in sql.read_all()}
    before = {name: (folder / name).read_text() for name in sorted(_names(folder))}
    for name in before:
        if name.startswith("tables/"):
            assert now.get(name) == before[name], f"{name} was released: write another file"
    if now != before:
        assert program.release < sql.RELEASE, "raise sql.RELEASE: files differ from what was released"


def _names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for kind in sql.FOLDERS for path in (folder / kind).glob("*.sql")}
