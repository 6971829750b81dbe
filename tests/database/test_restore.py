"""A dump on a server that never had our roles: what migration makes right, and what it refuses."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leasehold.database import migrate, sql_files
from leasehold.database.database import Role
from leasehold.database.plugin_schema import PackFiles
from leasehold.errors import Conflict
from leasehold.plugins import discovery
from leasehold.settings import Settings
from tests.cli.program import leasehold
from tests.database.conftest import Own, running
from tests.database.test_migrate import feed, life_of_one_job

PACKS = discovery.files_of_all(discovery.discover(Settings().packs))
#: Functions that run as their owner, and a policy that lets rows through less often than that of
#: the tenants.
SHOP = PackFiles(
    pack="shop",
    files=(
        sql_files.File(
            name="packs/shop/0001_orders.sql",
            text="""
            create table pack.orders (tenant_id uuid not null, number bigint generated always as identity, note text);
            create policy quiet on pack.orders as restrictive for select to leasehold_readonly using (note is null);
            create sequence pack.counter;
            create type pack.size as enum ('s', 'm');
            create function pack.total() returns bigint language sql security definer
            as $$ select count(*) from pack.orders $$;
            revoke all on function pack.total() from public;
            grant execute on function pack.total() to leasehold_worker;
            grant select (number) on pack.orders to public;
            """,
        ),
    ),
)
#: Everything that belongs to a role or is granted to one, in the engine's schema and those of
#: packs.
RIGHTS = """
with own as (select oid, nspname from pg_namespace where nspname ~ '^SCHEMA(_|$)'),
object as (
  select nspname::text as name, nspowner as owner, nspacl as acl, 'n'::"char" as kind
  from pg_namespace where oid in (select oid from own)
  union all
  select c.oid::regclass::text, relowner, relacl, case relkind when 'S' then 's' else 'r' end::"char"
  from pg_class c where relnamespace in (select oid from own) and relkind in ('r', 'p', 'v', 'm', 'S')
  union all
  select p.oid::regprocedure::text, proowner, proacl, 'f' from pg_proc p where pronamespace in (select oid from own)
  union all
  select t.oid::regtype::text, typowner, typacl, 'T' from pg_type t where typnamespace in (select oid from own)
  union all
  select attrelid::regclass || '.' || attname, relowner, attacl, 'c'
  from pg_attribute join pg_class c on c.oid = attrelid
  where relnamespace in (select oid from own) and attacl is not null
)
select name, owner::regrole::text as owner, coalesce(string_agg(
  case grantee when 0 then 'public' else grantee::regrole::text end || ' ' || privilege_type, ', '
  order by grantee::regrole::text, privilege_type), '') as granted
from object left join lateral aclexplode(coalesce(acl, acldefault(kind, owner))) on true
group by name, owner
union all
select format('%s.%s %s', schemaname, tablename, policyname), permissive || ' ' || cmd,
  (select string_agg(r, ', ' order by r) from unnest(roles) r) || coalesce(qual, '') || coalesce(with_check, '')
from pg_policies where schemaname in (select nspname from own)
union all
select 'defaults', defaclrole::regrole::text, defaclacl::text
from pg_default_acl where defaclrole::regrole::text ~ '^SCHEMA'
union all
select 'row security', c.oid::regclass::text, '' from pg_class c
where relrowsecurity and relnamespace in (select oid from own)
order by 1, 2, 3
"""


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Own]:
    """Another server of the same version: no test makes roles there by itself."""
    chosen = os.environ.get("LEASEHOLD_PG_BIN")
    with running(Path(chosen) if chosen else None) as endpoint:
        yield Own(endpoint=endpoint)


async def rights(server: Own, database: str, schema: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in await server.fetch(database, RIGHTS.replace("SCHEMA", schema))]


def dumped(server: Own, database: str, psql: Path, folder: Path) -> Path:
    path = folder / "leasehold.dump"
    command = [str(psql.with_name("pg_dump")), "-Fc", "-f", str(path), "-d", server.url(database)]
    subprocess.run(command, check=True)
    return path


def restored(url: str, dump: Path, psql: Path, *options: str) -> str:
    """What pg_restore complained about."""
    command = [str(psql.with_name("pg_restore")), *options, "-d", url, str(dump)]
    return subprocess.run(command, capture_output=True, text=True).stderr


@pytest.mark.parametrize("options", [(), ("--no-owner",), ("--no-owner", "--no-acl")], ids=lambda o: " ".join(o))
async def test_a_dump_that_was_restored_without_the_roles_is_made_right(
    own: Own, elsewhere: Own, schema: str, psql: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    made, anew = await own.new_database(), await elsewhere.new_database()
    files = [*PACKS, SHOP]
    await migrate.migrate(own.url(made), schema=schema, packs=files)
    url = elsewhere.url(anew)
    assert 'role "' in restored(url, dumped(own, made, psql, tmp_path), psql, *options)
    found = await migrate.status(url, schema=schema, packs=files)
    assert (found.lacks_grants, found.pending) == (True, [])

    done = await migrate.migrate(url, schema=schema, packs=files)

    assert done.restored
    assert await rights(elsewhere, anew, schema) == await rights(own, made, schema)
    again = await migrate.migrate(url, schema=schema, packs=files)
    assert (again.applied, again.restored) == ([], False)
    assert not (await migrate.status(url, schema=schema, packs=files)).lacks_grants
    await migrate.let_in(elsewhere.url("postgres"), anew, dict.fromkeys(Role, "secret"), schema=schema)
    await life_of_one_job(elsewhere, anew, schema)


async def test_with_the_roles_a_restore_is_complete_and_migrate_has_nothing_to_do(
    own: Own, elsewhere: Own, schema: str, psql: Path, tmp_path: Path
) -> None:
    made, anew = await own.new_database(), await elsewhere.new_database()
    files = [*PACKS, SHOP]
    await migrate.migrate(own.url(made), schema=schema, packs=files)
    feed(psql, elsewhere.url("postgres"), leasehold("db", "sql", "--roles", env={"LEASEHOLD_SCHEMA": schema}).out)
    assert restored(elsewhere.url(anew), dumped(own, made, psql, tmp_path), psql) == ""
    assert await rights(elsewhere, anew, schema) == await rights(own, made, schema)
    done = await migrate.migrate(elsewhere.url(anew), schema=schema, packs=files)
    assert (done.applied, done.restored) == ([], False)


async def test_the_roles_came_but_a_restore_left_out_what_was_granted(
    own: Own, elsewhere: Own, schema: str, psql: Path, tmp_path: Path
) -> None:
    made, anew = await own.new_database(), await elsewhere.new_database()
    await migrate.migrate(own.url(made), schema=schema, packs=[SHOP])
    feed(psql, elsewhere.url("postgres"), leasehold("db", "sql", "--roles", env={"LEASEHOLD_SCHEMA": schema}).out)
    assert restored(elsewhere.url(anew), dumped(own, made, psql, tmp_path), psql, "--no-acl") == ""
    assert (await migrate.migrate(elsewhere.url(anew), schema=schema, packs=[SHOP])).restored
    assert await rights(elsewhere, anew, schema) == await rights(own, made, schema)


async def test_whoever_may_create_roles_and_restored_the_dump_makes_it_right(
    own: Own, elsewhere: Own, schema: str, psql: Path, tmp_path: Path
) -> None:
    made = await own.new_database()
    await migrate.migrate(own.url(made), schema=schema, packs=[SHOP])
    user = f"boss_{schema}"
    await elsewhere.execute("postgres", f"create role {user} login createrole password 'secret'")
    anew = await elsewhere.new_database(owner=user)
    url = elsewhere.url(anew, user=user, password="secret")
    restored(url, dumped(own, made, psql, tmp_path), psql, "--no-owner", "--no-acl")
    assert (await migrate.migrate(url, schema=schema, packs=[SHOP])).restored
    assert await rights(elsewhere, anew, schema) == await rights(own, made, schema)
    assert (await migrate.migrate(url, schema=schema, packs=[SHOP])).applied == []
    [member] = await elsewhere.fetch(anew, f"select pg_has_role('{user}', '{schema}_owner', 'usage')")
    assert member[0] is False


async def test_the_command_says_what_was_missing_and_that_it_is_there_now(
    own: Own, elsewhere: Own, schema: str, psql: Path, tmp_path: Path
) -> None:
    made, anew = await own.new_database(), await elsewhere.new_database()
    await migrate.migrate(own.url(made), schema=schema)
    restored(elsewhere.url(anew), dumped(own, made, psql, tmp_path), psql)
    env = {"LEASEHOLD_DATABASE_URL": elsewhere.url(anew), "LEASEHOLD_SCHEMA": schema, "LEASEHOLD_PACKS": "none"}
    listed = leasehold("tenants", "list", env=env)
    assert (listed.code, "leasehold db migrate" in listed.err) == (6, True)
    status = leasehold("db", "status", env=env)
    assert (status.code, "owners and grants are missing" in status.err + status.out) == (4, True)
    migrated = leasehold("db", "migrate", env=env)
    assert (migrated.code, "owners and grants were missing" in migrated.out + migrated.err) == (0, True)
    assert leasehold("db", "status", env=env).code == 0


async def test_what_a_pack_granted_is_kept_for_a_database_of_before_too(own: Own, database: str, schema: str) -> None:
    await migrate.migrate(own.url(database), schema=schema, packs=[SHOP])
    kept = f"select grants from {schema}.migration where name like 'packs/%'"
    [before] = await own.fetch(database, kept)
    await own.execute(database, f"update {schema}.migration set grants = null")
    assert (await migrate.migrate(own.url(database), schema=schema, packs=[SHOP])).applied == []
    assert await own.fetch(database, kept) == [before]


async def test_a_pack_whose_grants_are_not_known_is_refused_and_nothing_changes(
    own: Own, elsewhere: Own, schema: str, psql: Path, tmp_path: Path
) -> None:
    made, anew = await own.new_database(), await elsewhere.new_database()
    await migrate.migrate(own.url(made), schema=schema, packs=[SHOP])
    await own.execute(made, f"update {schema}.migration set grants = null")
    restored(elsewhere.url(anew), dumped(own, made, psql, tmp_path), psql)
    with pytest.raises(Conflict, match="pack shop") as refused:
        await migrate.migrate(elsewhere.url(anew), schema=schema, packs=[SHOP])
    assert "leasehold db sql --roles" in (refused.value.hint or "")
    [owner] = await elsewhere.fetch(
        anew, f"select relowner::regrole::text from pg_class where oid = '{schema}.job'::regclass"
    )
    assert owner[0] == "postgres"


async def test_an_older_program_does_not_make_right_what_a_newer_one_dumped(
    own: Own, elsewhere: Own, schema: str, psql: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, anew = await own.new_database(), await elsewhere.new_database()
    await migrate.migrate(own.url(made), schema=schema)
    restored(elsewhere.url(anew), dumped(own, made, psql, tmp_path), psql)
    monkeypatch.setattr(sql_files, "RELEASE", sql_files.RELEASE - 1)
    with pytest.raises(Conflict, match=f"of release {sql_files.RELEASE + 1}"):
        await migrate.migrate(elsewhere.url(anew), schema=schema)
