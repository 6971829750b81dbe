"""The next release upgrades a database of today's: what was there stays, and the result is what a new one is."""

from pathlib import Path
from typing import Any

from leasehold.database import migrate, sql_files
from tests.database.conftest import Own
from tests.database.conftest import own as own
from tests.database.test_migrate import shape
from tests.upgrade.releases import following

#: One's own server has a place for its roles: they belong to a server, and are named after the
#: schema.
SCHEMA = "leasehold"


async def test_its_database_becomes_what_a_new_one_is(own: Own, tmp_path: Path) -> None:
    grown, fresh = await own.new_database(), await own.new_database()
    await migrate.migrate(own.url(grown))
    program = following(tmp_path)
    await program.migrate(own.url(grown))
    assert (await migrate.status(own.url(grown))).release == sql_files.RELEASE + 1
    await program.migrate(own.url(fresh))
    ours, theirs = await shape(own, grown, SCHEMA), await shape(own, fresh, SCHEMA)
    for name in ours:
        assert _known(ours[name]) == _known(theirs[name]), name


def _known(rows: list[tuple[Any, ...]]) -> list[str]:
    """In whichever order columns were added."""
    return sorted(map(repr, rows))


async def test_what_waited_before_is_found_after(own: Own, tmp_path: Path) -> None:
    database = await own.new_database()
    await migrate.migrate(own.url(database))
    tenant = "0190a000-0000-7000-8000-00000000000a"
    acting = f"select set_config('leasehold.tenant', '{tenant}', false)"
    payloads = "array['{}', '{}', '{}']::jsonb[]"
    await own.execute(
        database,
        f"insert into leasehold.tenant (tenant_id, name, created_at) values ('{tenant}', 'a', now())",
        f"{acting}; select leasehold.enqueue('t.work', {payloads})",
    )
    await following(tmp_path).migrate(own.url(database))
    await own.execute(database, f"{acting}; select leasehold.enqueue('t.work', {payloads})")
    seen = (
        "select (leasehold.view_jobs(tenant_id, array[job_id], true)).state, leasehold.state_of(job_id)"
        " from leasehold.job"
    )
    assert [tuple(row) for row in await own.fetch(database, seen)] == [("queued", "queued")] * 6
    await own.execute(database, f"{acting}; select leasehold.cancel(job_id) from leasehold.job")
    assert await own.fetch(database, "select from leasehold.ready") == []
