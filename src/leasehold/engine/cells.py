"""The directory of cells, kept in the home database, and what makes a database one of them."""

from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

from leasehold.engine import driver
from leasehold.engine.database import Database, Place, Role, at
from leasehold.engine.pack_files import PackFiles
from leasehold.engine.translate import translated
from leasehold.errors import Conflict
from leasehold.job import Cell


async def list_cells(db: Database, cell: str | None = None) -> list[Cell]:
    return [Cell(**row) for row in await db.call("list_cells", cell)]


async def locate_tenant(db: Database, name_or_id: str | None) -> tuple[UUID, str | None]:
    """Its id, and the cell that it lives in; None is home. Where none is named, the only one there is."""
    [row] = await db.call("locate_tenant", name_or_id)
    return row["tenant_id"], row["cell"]


async def place_tenant(db: Database, name: str, cell: str) -> UUID:
    tenant: UUID = await db.value("place_tenant", name, cell)
    return tenant


async def receive_tenant(db: Database, tenant: UUID, name: str) -> None:
    await db.call("receive_tenant", tenant, name)


async def begin_move(db: Database, cell: str, place: str) -> Place:
    """Where the cell is now."""
    [row] = await db.call("begin_move", cell, place)
    return Place(row["url"], row["epoch"])


async def end_move(db: Database, cell: str, *, moved: bool) -> None:
    await db.call("end_move", cell, moved)


async def add_cell(db: Database, cell: str, place: str, *, admin: str, packs: Sequence[PackFiles]) -> None:
    """Make the database at a place a cell, and put it into the directory."""
    schema = db.target.schema
    await db.call("check_place", place)
    url = await make_database(place, admin=admin, schema=schema, packs=packs)
    with translated():
        connection = await connect(url)
        try:
            is_new = await connection.fetchval(
                f"select state = 'open' and epoch = 1 and not exists (select from {schema}.tenant)"
                f" and not exists (select from {schema}.cell) from {schema}.here"
            )
        finally:
            await connection.close()
    if not is_new and not any(one.url == place for one in await list_cells(db, cell)):
        raise Conflict(
            f"there are tenants or cells in {place}", hint="name an empty database, or one that is not there"
        )
    await db.call("add_cell", cell, place)


async def make_database(place: str, *, admin: str, schema: str, packs: Sequence[PackFiles]) -> str:
    """The database at a place with this program's schema, open for our roles; its URL for the administrator."""
    from leasehold.engine import migrate  # here: whoever asks where a tenant is has no use for it

    url = at(admin, place)
    name = urlsplit(place).path.removeprefix("/")
    await migrate.create_database(urlunsplit(urlsplit(url)._replace(path="/postgres")), name)
    await migrate.migrate(url, schema=schema, packs=packs)
    with translated():
        connection = await connect(url)
        try:
            roles = ", ".join(f"{schema}_{role}" for role in Role)
            await connection.execute(f'grant connect on database "{name}" to {roles}')
        finally:
            await connection.close()
    return url


async def connect(url: str) -> driver.Connection:
    return await driver.connect(url, "leasehold-migrate", deadline=driver.BY_HAND)
