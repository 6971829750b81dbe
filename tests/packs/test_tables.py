"""A pack's own tables: made once, owned by the owner, and nobody sees another tenant's rows."""

from pathlib import Path
from typing import Any

import asyncpg
import pytest

from leasehold.database import migrate
from leasehold.database.connect import target
from leasehold.database.database import Role
from leasehold.database.plugin_schema import PackFiles, faults, read_files, render
from leasehold.errors import BadInput, Conflict, LeaseholdError
from leasehold.testing import Kit, TemplateServer

ORDERS = """
create table pack.orders (
  tenant_id uuid not null,
  number    bigint generated always as identity,
  job_id    uuid,
  primary key (tenant_id, number)
);
create view pack.numbers with (security_invoker = true) as select number from pack.orders;
create table pack.days (tenant_id uuid not null, day date not null) partition by range (day);
create table pack.days_2026 partition of pack.days for values from ('2026-01-01') to ('2027-01-01');
"""

#: Nobody else may connect as a superuser: the run fails if one did.
MIGRATES = {"application_name": "leasehold-migrate"}


def pack(folder: Path, *texts: str) -> PackFiles:
    folder.mkdir(exist_ok=True)
    for number, text in enumerate(texts, start=1):
        (folder / f"{number:04}_it.sql").write_text(text)
    return read_files("shop", folder)


async def connect(kit: Kit, role: Role, tenant: Any = None) -> asyncpg.Connection:
    connection = await asyncpg.connect(target(kit.settings, role).url)
    await connection.execute("select set_config('leasehold.tenant', $1, false)", str(tenant or ""))
    return connection


async def ask(kit: Kit, role: Role, statement: str, *, tenant: Any = None) -> list[Any]:
    connection = await connect(kit, role, tenant)
    try:
        return [tuple(row) for row in await connection.fetch(statement)]
    finally:
        await connection.close()


@pytest.mark.parametrize("role", [Role.API, Role.WORKER])
async def test_a_tenant_writes_and_reads_its_own_rows_only(leasehold: Kit, tmp_path: Path, role: Role) -> None:
    await leasehold.migrate(pack(tmp_path / "sql", ORDERS))
    a, b = [await leasehold.tenant(name) for name in ("a", "b")]
    insert = f"insert into leasehold_shop.orders (tenant_id) values ('{a}') returning 1"
    assert await ask(leasehold, role, insert, tenant=a) == [(1,)]
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        await ask(leasehold, role, insert, tenant=b)
    for relation in ("orders", "numbers"):
        count = f"select count(*) from leasehold_shop.{relation}"
        seen = [await ask(leasehold, role, count, tenant=tenant) for tenant in (a, b, None)]
        assert seen == [[(1,)], [(0,)], [(0,)]], relation
    assert await ask(leasehold, Role.OPERATOR, "select count(*) from leasehold_shop.orders") == [(1,)]
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="permission denied"):
        await ask(leasehold, role, "select * from leasehold_shop.days_2026", tenant=a)


async def test_no_role_but_api_and_worker_can_write(leasehold: Kit, tmp_path: Path) -> None:
    await leasehold.migrate(pack(tmp_path / "sql", ORDERS))
    tenant = await leasehold.tenant("a")
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="permission denied"):
        await ask(leasehold, Role.OPERATOR, f"insert into leasehold_shop.orders (tenant_id) values ('{tenant}')")


async def test_files_are_applied_once_and_new_ones_later(leasehold: Kit, tmp_path: Path) -> None:
    ledger = "select name from leasehold.migration where name like 'packs/shop/%' order by 1"
    first = pack(tmp_path / "sql", ORDERS)
    await leasehold.migrate(first)
    await leasehold.migrate(first)
    assert await ask(leasehold, Role.OPERATOR, ledger) == [("packs/shop/0001_it.sql",)]
    await leasehold.migrate(pack(tmp_path / "sql", ORDERS, "create table pack.more (tenant_id uuid not null)"))
    assert len(await ask(leasehold, Role.OPERATOR, ledger)) == 2
    with pytest.raises(Conflict, match=r"packs/shop/0001_it\.sql has changed since it was applied"):
        await leasehold.migrate(pack(tmp_path / "sql", "select 1"))


COUNT = """
-- How many orders the caller's tenant has.
-- for: {callers}
create or replace function pack.count_orders() returns bigint
language sql stable
as $$ select {n} * count(*) from pack.orders $$;
"""
NUMBERED = """
-- Orders are counted by the engine's clock.
-- internal
create or replace function pack.set_job() returns trigger
language plpgsql
as $$ begin new.job_id := gen_random_uuid(); return new; end $$;

create or replace trigger job before insert on pack.orders for each row execute function pack.set_job();
"""


def with_function(folder: Path, text: str, name: str = "count_orders") -> PackFiles:
    pack(folder, ORDERS)
    (folder / f"{name}.sql").write_text(text.lstrip())
    return read_files("shop", folder)


async def test_a_function_is_applied_again_when_its_text_changes(leasehold: Kit, tmp_path: Path) -> None:
    await leasehold.migrate(with_function(tmp_path / "sql", COUNT.format(callers="api", n=1)))
    a, b = [await leasehold.tenant(name) for name in ("a", "b")]
    insert = f"insert into leasehold_shop.orders (tenant_id) values ('{a}') returning 1"
    await ask(leasehold, Role.API, insert, tenant=a)
    count = "select leasehold_shop.count_orders()"
    found = [await ask(leasehold, Role.API, count, tenant=tenant) for tenant in (a, b)]
    assert found == [[(1,)], [(0,)]], "it runs as its caller, under row security"
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await ask(leasehold, Role.WORKER, count, tenant=a)
    await leasehold.migrate(with_function(tmp_path / "sql", COUNT.format(callers="worker", n=10)))
    assert await ask(leasehold, Role.WORKER, count, tenant=a) == [(10,)]
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await ask(leasehold, Role.API, count, tenant=a)


async def test_a_function_brings_its_trigger(leasehold: Kit, tmp_path: Path) -> None:
    for text in (NUMBERED, NUMBERED.replace("by the engine's clock", "twice")):
        await leasehold.migrate(with_function(tmp_path / "sql", text, "set_job"))
    tenant = await leasehold.tenant("a")
    insert = f"insert into leasehold_shop.orders (tenant_id) values ('{tenant}') returning job_id is null"
    assert await ask(leasehold, Role.API, insert, tenant=tenant) == [(False,)]


async def test_functions_of_a_newer_version_of_a_pack_stay(leasehold: Kit, tmp_path: Path) -> None:
    older = with_function(tmp_path / "older", COUNT.format(callers="api", n=1))
    with_function(tmp_path / "newer", COUNT.format(callers="api", n=2))
    (tmp_path / "newer" / "0002_more.sql").write_text("create table pack.more (tenant_id uuid not null)")
    body = "select prosrc from pg_proc where proname = 'count_orders'"
    for files in (older, read_files("shop", tmp_path / "newer"), older):
        await leasehold.migrate(files)
    assert "2 * count" in (await ask(leasehold, Role.API, body))[0][0]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("total", COUNT.format(callers="api", n=1), r"does not make the function pack\.total"),
        ("count_orders", COUNT.replace("-- for: {callers}\n", "").format(n=1), "needs one line '-- for: …'"),
        ("count_orders", COUNT.format(callers="everybody", n=1), "needs one line '-- for: …'"),
        ("count_orders", "create function pack.count_orders() returns int", "is not a comment"),
    ],
)
def test_a_file_that_is_no_function_is_refused(tmp_path: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        with_function(tmp_path / "sql", text, name)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("create table pack.t (n int)", r'no column "tenant_id uuid not null" in t'),
        ("create table pack.t (tenant_id uuid)", "no column"),  # null would be nobody's
        ("create table pack.t (tenant_id text not null)", "no column"),
        ("create table pack.t (tenant_id uuid not null); create view pack.v as table pack.t", "rows of all tenants: v"),
        ("create materialized view pack.m as select 1", "rows of all tenants: m"),
    ],
)
async def test_what_would_show_too_much_is_refused_and_leaves_nothing(
    leasehold: Kit, tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        await leasehold.migrate(pack(tmp_path / "sql", text))
    assert await ask(leasehold, Role.OPERATOR, "select to_regnamespace('leasehold_shop')") == [(None,)]
    assert await ask(leasehold, Role.OPERATOR, "select 1 from leasehold.migration where name like 'packs/shop/%'") == []


async def test_a_mistake_in_a_file_is_told_and_leaves_nothing(leasehold: Kit, tmp_path: Path) -> None:
    with pytest.raises(LeaseholdError, match="syntax error"):
        await leasehold.migrate(pack(tmp_path / "sql", ORDERS, "create tabel"))
    assert await ask(leasehold, Role.OPERATOR, "select to_regnamespace('leasehold_shop')") == [(None,)]


@pytest.mark.parametrize(
    ("later", "fault"),
    [
        ("alter table pack.orders disable row level security", "orders: no row security"),
        ("drop policy own_rows on pack.orders", "orders: no policy own_rows"),
        ("create policy open on pack.orders using (true)", "orders: a permissive policy of its own"),
        ("grant select on pack.days_2026 to leasehold_api", "days_2026: a partition with grants of its own"),
        ("create view pack.open as table pack.orders", "open: a view that shows the rows of all tenants"),
        ("create table pack.late (n int)", 'late: no column "tenant_id uuid not null"'),
    ],
)
async def test_a_check_finds_what_was_opened_afterwards(
    leasehold: Kit, leasehold_server: TemplateServer, tmp_path: Path, later: str, fault: str
) -> None:
    shop = pack(tmp_path / "sql", ORDERS)
    await leasehold.migrate(shop)
    name = target(leasehold.settings, Role.API).url.rpartition("/")[2]
    connection = await asyncpg.connect(leasehold_server.url(name), server_settings=MIGRATES)
    try:
        assert await faults(connection, shop, schema="leasehold") == []
        await connection.execute("set role leasehold_owner")
        await connection.execute(render(later, schema="leasehold", pack="shop"))
        [found] = await faults(connection, shop, schema="leasehold")
        assert found.startswith(f"leasehold_shop.{fault}")
    finally:
        await connection.close()


async def test_names_follow_the_schema(leasehold_server: TemplateServer, tmp_path: Path) -> None:
    shop = pack(tmp_path / "sql", ORDERS, "grant select on pack.orders to leasehold_readonly; select leasehold.now()")
    with leasehold_server.database() as settings:
        url = leasehold_server.url(target(settings, Role.API).url.rpartition("/")[2])
        before = await migrate.status(url, schema="jobs", packs=[shop])
        assert before.pending[-2:] == ["packs/shop/0001_it.sql", "packs/shop/0002_it.sql"]
        done = await migrate.migrate(url, schema="jobs", packs=[shop])
        assert done.applied[-2:] == ["packs/shop/0001_it.sql", "packs/shop/0002_it.sql"]
        assert (await migrate.status(url, schema="jobs", packs=[shop])).pending == []
        connection = await asyncpg.connect(url, server_settings=MIGRATES)
        try:
            owner = "select pg_get_userbyid(relowner) from pg_class where oid = 'jobs_shop.orders'::regclass"
            assert await connection.fetchval(owner) == "jobs_owner"
        finally:
            await connection.close()


def test_what_a_file_says_is_put_into_the_names_of_the_installation() -> None:
    text = "create table pack.t; -- backpack.x, unpack.y; leasehold.now() leasehold_api 'leasehold.tenant' schema pack"
    assert render(text, schema="jobs", pack="shop") == (
        "create table jobs_shop.t; -- backpack.x, unpack.y; jobs.now() jobs_api 'leasehold.tenant' schema jobs_shop"
    )
