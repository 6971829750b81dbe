"""Who names no tenant means the only one there is. Where there are several, a forgotten name is refused."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import asyncpg
import pytest

from leasehold.database.database import Database, Role
from leasehold.engine import tenants
from leasehold.errors import BadInput, NotFound
from leasehold.features.schedules import store as schedules
from leasehold.features.schedules.timing import Schedule
from leasehold.program.app import Leasehold
from leasehold.settings import Settings
from tests.cell import Cell
from tests.cli.program import leasehold

REFUSED = "no tenant is named, and this installation has others than default"
WAY_OUT = "name it: --tenant NAME, LEASEHOLD_TENANT=NAME, or tenant= in a program"


@pytest.fixture
async def lone(cell: Cell) -> Cell:
    """An installation as `leasehold up` makes it."""
    await cell.change("delete from leasehold.tenant")
    async with cell.database(Role.OPERATOR, connections=1) as db:
        for name in ("default", "system"):
            await tenants.create_tenant(db, name)
    return cell


async def another(cell: Cell, name: str = "acme") -> None:
    async with cell.database(Role.OPERATOR, connections=1) as db:
        await tenants.create_tenant(db, name)


@pytest.fixture
async def app(cell: Cell) -> AsyncIterator[Leasehold]:
    async with Leasehold(Settings(api_url=cell.url(Role.API))) as app:
        yield app


async def owners(cell: Cell) -> list[str]:
    rows = await cell.look("select t.name from leasehold.job j join leasehold.tenant t using (tenant_id)")
    return [row["name"] for row in rows]


async def test_the_only_tenant_need_not_be_named(lone: Cell, app: Leasehold) -> None:
    await app.enqueue("t.work")
    connection = await asyncpg.connect(lone.url(Role.API))
    try:
        async with connection.transaction():
            await app.enqueue("t.work", conn=connection)
    finally:
        await connection.close()
    said = await asyncio.to_thread(leasehold, "run", "t.work", env=lone.environment())
    assert said.code == 0, said.err
    assert await owners(lone) == ["default"] * 3


async def test_a_program_that_forgets_the_tenant_is_refused(lone: Cell, app: Leasehold) -> None:
    await another(lone)
    flow = app.flow("f")
    flow.add("t.work")
    connection = await asyncpg.connect(lone.url(Role.API))
    try:
        for ask in (
            lambda: app.enqueue("t.work"),
            lambda: app.enqueue("t.work", conn=connection),
            lambda: app.client(),
            lambda: flow.start(),
            lambda: flow.start(conn=connection),
        ):
            with pytest.raises(BadInput, match=REFUSED) as caught:
                await ask()
            assert caught.value.hint == WAY_OUT
    finally:
        await connection.close()
    await app.enqueue("t.work", tenant="default")
    assert await owners(lone) == ["default"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "t.work"),
        ("jobs", "list"),
        ("jobs", "retry", "--state", "dead", "--yes"),
        ("keys", "create", "shop"),
        ("people", "invite", "ada@example.com"),
        ("gates", "set", "stripe", "--rate", "1"),
        ("reports", "list"),
        ("webhooks", "list"),
        ("flows", "list"),
        ("schedules", "list"),
        ("secrets", "list"),
    ],
)
async def test_a_command_that_forgets_the_tenant_is_refused(lone: Cell, arguments: tuple[str, ...]) -> None:
    await another(lone)
    more = {"LEASEHOLD_SECRET_KEYS": "s" * 40, "LEASEHOLD_KEY_PEPPER": "p" * 40}
    said = await asyncio.to_thread(leasehold, *arguments, env=lone.environment() | more)
    assert (said.code, said.out, said.err.splitlines()) == (2, "", [f"error: {REFUSED}", f"  try: {WAY_OUT}"])


async def test_what_is_for_the_installation_needs_no_tenant(lone: Cell) -> None:
    await another(lone)
    more = {"LEASEHOLD_KEY_PEPPER": "p" * 40}
    for arguments in (
        ("keys", "create", "ops", "--operator"),
        ("gates", "set", "host:*", "--rate", "9", "--shared"),
        ("tenants", "list"),
    ):
        said = await asyncio.to_thread(leasehold, *arguments, env=lone.environment() | more)
        assert said.code == 0, said.err


async def test_a_declared_schedule_without_a_tenant_is_refused(lone: Cell, worker_db: Database) -> None:
    await another(lone)
    with pytest.raises(BadInput, match=REFUSED):
        await schedules.sync_one(worker_db, Schedule.of("nightly", "t.work", every=60), None)


async def test_an_id_that_no_tenant_has_is_refused_before_anything_is_asked_for_it(lone: Cell, app: Leasehold) -> None:
    nobody = str(uuid4())
    with pytest.raises(NotFound, match=f"there is no tenant '{nobody}'"):
        await app.client(nobody)


async def test_where_there_is_no_tenant_at_all_default_is_missing(cell: Cell, app: Leasehold) -> None:
    await cell.change("delete from leasehold.tenant")
    with pytest.raises(NotFound, match="there is no tenant 'default'"):
        await app.enqueue("t.work")
