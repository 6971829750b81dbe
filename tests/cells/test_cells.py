"""Tenants that live in other databases than home."""

from pathlib import Path

import asyncpg
import pytest

from leasehold import Leasehold
from leasehold.client import Backend
from leasehold.engine.database import Role
from leasehold.errors import Moved, NotFound
from tests.cells.places import Place, Places


async def test_one_worker_serves_several_cells_and_each_tenant_is_asked_for_in_its_own(
    places: Places, here: Place, tmp_path: Path
) -> None:
    places.ran("cells", "add", "d", places.url(1))
    places.ran("tenants", "create", "bolt", "--cell", "d")
    sink = tmp_path / "sink"
    with places.worker(cells="home,c,d"):
        async with Leasehold(places.settings) as app:
            for tenant in ("a", "acme", "bolt"):
                job = await app.enqueue("c.work", {"sink": str(sink)}, tenant=tenant, queue="work")
                done = await app.wait(job, tenant=tenant, timeout=60)
                assert done.result == str((await app.client(tenant)).tenant_id)
    count = "select count(*) from leasehold.job where kind = 'c.work'"
    assert await here.look(count) == await places.at(1).look(count) == [(1,)]
    assert [row["count"] for row in await places.home.look(count)] == [1]
    assert len(sink.read_text().split()) == 3


async def test_a_name_belongs_to_one_tenant_in_all_cells(places: Places, here: Place) -> None:
    assert "lives in cell c" in places.refused("tenants", "create", "acme")
    assert "lives at home" in places.refused("tenants", "create", "a", "--cell", "c")
    again = places.ran("tenants", "create", "acme", "--cell", "c", "--json").json
    [(tenant,)] = await here.look("select tenant_id from leasehold.tenant where name = 'acme'")
    assert str(tenant) == again["tenant_id"]
    [shown] = places.ran("cells", "list", "--json").json
    assert (shown["cell"], shown["url"], shown["epoch"], shown["tenants"]) == ("c", here.url, 1, 1)


async def test_a_command_works_in_the_cell_that_it_is_told(places: Places, here: Place) -> None:
    assert [t["name"] for t in places.ran("tenants", "list", "--json", LEASEHOLD_CELL="c").json] == ["acme"]
    assert "LEASEHOLD_CELL=c" in places.refused("tenants", "set", "acme", "--weight", "2")
    places.ran("tenants", "set", "acme", "--weight", "2", LEASEHOLD_CELL="c")
    assert "there is no cell 'x'" in places.refused("tenants", "create", "new", "--cell", "x")


async def test_the_directory_keeps_no_password_and_a_cell_needs_an_empty_database(places: Places, here: Place) -> None:
    assert "without a user and a password" in places.refused("cells", "add", "d", "postgresql://me:secret@localhost/d")
    assert "there are tenants" in places.refused("cells", "add", "d", here.url)
    assert "is at" in places.refused("cells", "add", "c", places.url(1))
    places.ran("cells", "add", "c", here.url)  # again is nothing


async def test_a_program_that_is_sent_to_a_place_of_another_epoch_is_refused(places: Places, here: Place) -> None:
    async with here.connected(Role.API) as api:
        await api.execute("select leasehold.enter_cell(1)")
        with pytest.raises(asyncpg.PostgresError) as refused:
            await api.execute("select leasehold.enter_cell(2)")
    assert refused.value.sqlstate == Moved.sqlstate


async def test_an_unknown_tenant_is_told_apart(places: Places) -> None:
    async with Backend(places.settings) as backend:
        with pytest.raises(NotFound):
            await backend.client("nobody")
