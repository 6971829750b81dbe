"""Migrations: at once, again, by old programs, by users with few rights."""

import asyncio
import json
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leasehold.database import migrate, sql_files
from leasehold.database.database import Database, Role, Target
from leasehold.engine import jobs, leases, maintenance, tenants
from leasehold.errors import Conflict, LeaseholdError, NoTenant, NotFound
from leasehold.job import AttemptOutcome, State
from tests.cli.program import leasehold, started
from tests.database.conftest import Own

ALL = [file.name for file in sql_files.read_all()]

#: One migration in a process of its own; how many files it applied.
MIGRATE = """
import asyncio, sys
from leasehold.database.migrate import migrate
print(len(asyncio.run(migrate(sys.argv[1], schema=sys.argv[2])).applied))
"""


# -- again and at once ----------------------------------------------------------------------------------------------


async def test_the_second_migration_has_nothing_to_do(own: Own, database: str) -> None:
    url = own.url(database)
    before = await migrate.status(url)
    assert (before.release, before.pending) == (None, ALL)
    first = await migrate.migrate(url)
    assert (first.applied, first.release) == (ALL, sql_files.RELEASE)
    ledger = await own.fetch(database, "select * from leasehold.migration order by name")
    assert (await migrate.migrate(url)).applied == []
    assert await own.fetch(database, "select * from leasehold.migration order by name") == ledger
    after = await migrate.status(url)
    assert (after.release, after.pending) == (sql_files.RELEASE, [])


async def test_ten_processes_at_once_apply_everything_once(
    own: Own, database: str, schema: str, tmp_path: Path
) -> None:
    script = tmp_path / "migrate_once.py"
    script.write_text(MIGRATE)
    command = (sys.executable, str(script))
    with ExitStack() as stack:
        programs = [stack.enter_context(started(own.url(database), schema, command=command)) for _ in range(10)]
        said = [program.ended() for program in programs]
    assert [done.err for done in said] == [""] * 10
    assert sorted(done.json for done in said) == [0] * 9 + [len(ALL)]


async def test_databases_of_one_server_get_their_common_roles_at_once(own: Own, schema: str) -> None:
    databases = [await own.new_database() for _ in range(4)]
    done = await asyncio.gather(*(migrate.migrate(own.url(name), schema=schema) for name in databases))
    assert [one.applied for one in done] == [ALL] * 4
    roles = await own.fetch("postgres", f"select rolname from pg_roles where rolname like '{schema}\\_%' order by 1")
    assert [row[0] for row in roles] == [
        f"{schema}_{role}" for role in ("api", "operator", "owner", "readonly", "worker")
    ]


async def test_a_failing_migration_leaves_nothing(
    own: Own, database: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = sql_files.File(name="policies/zzz.sql", text="select 1 / 0;")
    whole = sql_files.read_all()
    with monkeypatch.context() as patch:
        patch.setattr(sql_files, "read_all", lambda: [*whole, broken])
        with pytest.raises(LeaseholdError):
            await migrate.migrate(own.url(database), schema=schema)
    assert await own.fetch(database, f"select from pg_namespace where nspname = '{schema}'") == []
    assert (await migrate.migrate(own.url(database), schema=schema)).applied == ALL


# -- two in one database --------------------------------------------------------------------------------------------


async def test_two_schemas_in_one_database_work_and_do_not_see_each_other(own: Own, database: str) -> None:
    ids = {}
    for schema in ("leasehold", "cell_1"):
        await migrate.migrate(own.url(database), schema=schema)
        await migrate.let_in(own.url("postgres"), database, dict.fromkeys(Role, "secret"), schema=schema)
        ids[schema] = await life_of_one_job(own, database, schema)
    for schema in ids:
        found = await own.fetch(database, f"select job_id from {schema}.job")
        assert [row[0] for row in found] == [ids[schema]]
        [settings] = await own.fetch(
            database,
            f"select count(*) from pg_proc where pronamespace = '{schema}'::regnamespace"
            f" and prosrc ~ '{'cell_1' if schema == 'leasehold' else 'leasehold'}[.](?!tenant|actor)'",
        )
        assert settings[0] == 0, "no function of one speaks of the other"
    other = own.url(database, user="cell_1_worker", password="secret")
    async with Database(Target(url=other, role=Role.WORKER, schema="leasehold")) as db:
        with pytest.raises(LeaseholdError, match="permission denied"):
            await maintenance.dispatch_due_jobs(db)


async def life_of_one_job(own: Own, database: str, schema: str) -> Any:
    def open_(role: Role) -> Database:
        url = own.url(database, user=f"{schema}_{role}", password="secret")
        return Database(Target(url=url, role=role, schema=schema))

    async with open_(Role.OPERATOR) as operator, open_(Role.API) as api, open_(Role.WORKER) as worker:
        tenant = await tenants.create_tenant(operator, "acme")
        [job] = await jobs.enqueue(api, tenant, "t.work", ["{}"], {})
        worker_id = await leases.register_worker(
            worker, name="w", version="0", queues=["default"], kinds={}, slots=1, lease_s=60.0
        )
        [grant] = await jobs.claim(worker, worker_id, ["default"], 10)
        assert grant.job_id == job.job_id
        await jobs.append_event(worker, grant.token, "progress", progress=50)
        assert await jobs.finish(worker, [AttemptOutcome(token=grant.token, outcome="succeeded", result="1")]) == {
            grant.token
        }
        assert (await jobs.get_job(api, tenant, job.job_id)).state is State.SUCCEEDED
        with pytest.raises(NoTenant):
            await api.call("get_job", job.job_id)
        with pytest.raises(NotFound):
            await jobs.enqueue(api, job.job_id, "t.work", ["{}"], {})
        return job.job_id


async def test_one_url_is_enough_because_each_connection_takes_its_role(own: Own, database: str) -> None:
    await migrate.migrate(own.url(database))
    async with Database(Target(url=own.url(database), role=Role.API, assume=True), connections=1) as db:
        for _ in range(2):
            async with db.transaction() as connection:
                assert await connection.fetchval("select current_user") == "leasehold_api"
        with pytest.raises(LeaseholdError, match="permission denied"):
            await maintenance.dispatch_due_jobs(db)


# -- other releases -------------------------------------------------------------------------------------------------


async def test_an_old_program_leaves_a_newer_database_alone(
    own: Own, database: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = own.url(database)
    await migrate.migrate(url, schema=schema)
    ledger = await own.fetch(database, f"select * from {schema}.migration order by name")
    older = [changed(file) for file in sql_files.read_all() if not file.is_table]
    monkeypatch.setattr(sql_files, "RELEASE", sql_files.RELEASE - 1)
    monkeypatch.setattr(sql_files, "read_all", lambda: older)
    done = await migrate.migrate(url, schema=schema)
    assert (done.applied, done.release) == ([], sql_files.RELEASE + 1)
    assert await own.fetch(database, f"select * from {schema}.migration order by name") == ledger
    assert (await migrate.status(url, schema=schema)).pending == [], "what migrate would not do is not pending"


async def test_an_old_program_says_that_it_is_older_than_the_database(own: Own, database: str, schema: str) -> None:
    env = {"LEASEHOLD_DATABASE_URL": own.url(database), "LEASEHOLD_SCHEMA": schema, "LEASEHOLD_PACKS": "none"}
    await migrate.migrate(own.url(database), schema=schema)
    await own.execute(database, f"update {schema}.migration set release = release + 1")
    for options in ((), ("--json",)):
        said = leasehold("db", "migrate", *options, env=env)
        assert (said.code, said.out) == (4, "")
        assert f"this program is older than the database: it has release {sql_files.RELEASE}" in said.err
        assert "pip install --upgrade leasehold" in said.err
    assert f"(later than this program's, {sql_files.RELEASE})" in leasehold("db", "status", env=env).err


async def test_a_changed_function_is_applied_again_and_nothing_else(
    own: Own, database: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = own.url(database)
    await migrate.migrate(url, schema=schema)
    files = [
        replace(file, text=file.text.replace("clock_timestamp()", "timestamptz '2001-01-01 00:00Z'"))
        if file.name == "functions/now.sql"
        else file
        for file in sql_files.read_all()
    ]
    monkeypatch.setattr(sql_files, "read_all", lambda: files)
    assert (await migrate.status(url, schema=schema)).pending == ["functions/now.sql"]
    assert (await migrate.migrate(url, schema=schema)).applied == ["functions/now.sql"]
    [row] = await own.fetch(database, f"select {schema}.now()")
    assert row[0].year == 2001


async def test_a_role_that_a_marker_no_longer_names_loses_its_grant(
    own: Own, database: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = own.url(database)

    async def migrate_with(marker: str) -> dict[str, bool]:
        text = f"-- Answer.\n{marker}\ncreate or replace function leasehold.answer() returns integer\n"
        file = sql_files.read_function("functions/answer.sql", f"{text}language sql as $$ select 42 $$;\n")
        with monkeypatch.context() as patch:
            patch.setattr(sql_files, "read_all", lambda: [*files, file])
            await migrate.migrate(url, schema=schema)
        query = "select has_function_privilege('{0}_{1}', '{0}.answer()', 'execute')"
        return {role: (await own.fetch(database, query.format(schema, role)))[0][0] for role in Role}

    files = sql_files.read_all()
    nobody = dict.fromkeys(Role, False)
    assert await migrate_with("-- for: api, worker") == {**nobody, Role.API: True, Role.WORKER: True}
    assert await migrate_with("-- for: worker") == {**nobody, Role.WORKER: True}
    assert await migrate_with("-- internal") == nobody


async def test_a_function_without_a_grant_is_for_no_role_from_its_first_moment(
    own: Own, database: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = "create function leasehold.bare() returns integer language sql as 'select 42';"
    files = sql_files.read_all()
    bare_file = sql_files.File(name="functions/bare.sql", text=bare)
    first = next(number for number, file in enumerate(files) if file.name.startswith("functions/"))
    monkeypatch.setattr(sql_files, "read_all", lambda: [*files[:first], bare_file, *files[first:]])
    await migrate.migrate(own.url(database), schema=schema)
    [row] = await own.fetch(database, f"select has_function_privilege('{schema}_api', '{schema}.bare()', 'execute')")
    assert row[0] is False


async def test_a_new_table_is_added_to_an_older_database(
    own: Own, database: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate.migrate(own.url(database), schema=schema)
    new = sql_files.File(name="tables/engine/9999_new.sql", text="create table leasehold.new (id integer primary key);")
    files = sql_files.read_all()
    monkeypatch.setattr(sql_files, "read_all", lambda: [new, *files])
    assert (await migrate.migrate(own.url(database), schema=schema)).applied == [new.name]
    [row] = await own.fetch(
        database, f"select relowner::regrole::text from pg_class where oid = '{schema}.new'::regclass"
    )
    assert row[0] == f"{schema}_owner"


async def test_a_changed_table_is_refused_with_a_way_out(
    own: Own, database: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate.migrate(own.url(database), schema=schema)
    files = [changed(file) if file.name == "tables/engine/0002_jobs.sql" else file for file in sql_files.read_all()]
    monkeypatch.setattr(sql_files, "read_all", lambda: files)
    with pytest.raises(Conflict, match=r"tables/engine/0002_jobs\.sql") as problem:
        await migrate.migrate(own.url(database), schema=schema)
    assert "leasehold down --wipe" in (problem.value.hint or "")


def changed(file: sql_files.File) -> sql_files.File:
    return replace(file, text=f"{file.text}\n-- another text\n")


# -- users with few rights ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["own", "old"])
async def test_a_database_owner_who_may_create_roles_migrates_and_is_no_member_afterwards(
    which: str, schema: str, request: pytest.FixtureRequest
) -> None:
    server: Own = request.getfixturevalue(which)
    user = f"boss_{schema}"
    await server.execute("postgres", f"create role {user} login createrole password 'secret'")
    database = await server.new_database(owner=user)
    url = server.url(database, user=user, password="secret")
    assert (await migrate.migrate(url, schema=schema)).applied == ALL
    assert (await migrate.migrate(url, schema=schema)).applied == []
    [row] = await server.fetch(database, f"select pg_has_role('{user}', '{schema}_owner', 'usage')")
    assert row[0] is False
    explicit = await server.fetch(
        database,
        "select to_jsonb(m) from pg_auth_members m"
        f" where roleid = '{schema}_owner'::regrole and member = '{user}'::regrole",
    )
    # From 16 on, whoever creates a role may administer it for ever; to use it or to become it is
    # something else.
    for [text] in explicit:
        member = json.loads(text)
        assert (member["inherit_option"], member["set_option"]) == (False, False)
    owners = await server.fetch(
        database, f"select distinct relowner::regrole::text from pg_class where relnamespace = '{schema}'::regnamespace"
    )
    assert [row[0] for row in owners] == [f"{schema}_owner"]


@pytest.mark.parametrize("which", ["own", "old"])
async def test_such_an_owner_applies_a_later_release_too(
    which: str, schema: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    server: Own = request.getfixturevalue(which)
    user = f"boss_{schema}"
    await server.execute("postgres", f"create role {user} login createrole password 'secret'")
    database = await server.new_database(owner=user)
    url = server.url(database, user=user, password="secret")
    await migrate.migrate(url, schema=schema)
    files = [changed(file) if file.name == "functions/claim.sql" else file for file in sql_files.read_all()]
    monkeypatch.setattr(sql_files, "read_all", lambda: files)
    assert (await migrate.migrate(url, schema=schema)).applied == ["functions/claim.sql"]


@pytest.mark.parametrize("which", ["own", "old"])
async def test_a_user_without_rights_is_told_what_an_administrator_must_run_and_it_helps(
    which: str, schema: str, request: pytest.FixtureRequest
) -> None:
    server: Own = request.getfixturevalue(which)
    user = f"plain_{schema}"
    await server.execute("postgres", f"create role {user} login password 'secret'")
    database = await server.new_database(owner=user)
    env = {
        "LEASEHOLD_DATABASE_URL": server.url(database, user=user, password="secret"),
        "LEASEHOLD_SCHEMA": schema,
    }
    refused = leasehold("db", "migrate", env=env)
    assert (refused.code, refused.out) == (1, "")
    assert user in refused.err
    assert "leasehold db sql --roles" in refused.err
    assert "secret" not in refused.err

    await server.execute("postgres", leasehold("db", "sql", "--roles", env=env).out)
    second = leasehold("db", "migrate", env=env)
    if second.code != 0:  # then it says what is still missing
        assert f"grant {schema}_owner to {user}" in second.err
        await server.execute("postgres", f"grant {schema}_owner to {user}")
        assert leasehold("db", "migrate", env=env).code == 0


async def test_a_user_of_somebody_elses_database_is_told_what_an_administrator_must_run(own: Own, schema: str) -> None:
    user = f"guest_{schema}"
    await own.execute("postgres", f"create role {user} login createrole password 'secret'")
    database = await own.new_database()
    with pytest.raises(LeaseholdError) as problem:
        await migrate.migrate(own.url(database, user=user, password="secret"), schema=schema)
    assert problem.value.hint


# -- the script -----------------------------------------------------------------------------------------------------

SHAPE = {
    "functions": """
        select p.oid::regprocedure::text, prosrc, prosecdef, provolatile::text, proconfig::text, proacl::text,
          pg_get_function_result(p.oid)
        from pg_proc p where pronamespace = 'SCHEMA'::regnamespace order by 1""",
    "relations": """
        select relname, relkind::text, relrowsecurity, relacl::text, reloptions::text, relowner::regrole::text,
          pg_get_expr(relpartbound, oid)
        from pg_class where relnamespace = 'SCHEMA'::regnamespace order by 1""",
    "columns": """
        select c.relname, a.attname, format_type(atttypid, atttypmod), attnotnull, attgenerated::text,
          pg_get_expr(d.adbin, d.adrelid)
        from pg_attribute a join pg_class c on c.oid = a.attrelid
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where c.relnamespace = 'SCHEMA'::regnamespace and attnum > 0 order by 1, attnum""",
    "constraints": """
        select conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        from pg_constraint where connamespace = 'SCHEMA'::regnamespace order by 1, 2""",
    "indexes": "select tablename, indexname, indexdef from pg_indexes where schemaname = 'SCHEMA' order by 1, 2",
    "policies": "select * from pg_policies where schemaname = 'SCHEMA' order by 3, 4",
    "privileges": "select nspacl::text from pg_namespace where nspname = 'SCHEMA'",
    "queues": "select queue, paused from SCHEMA.queue order by 1",
}


async def shape(own: Own, database: str, schema: str) -> dict[str, list[tuple[Any, ...]]]:
    return {
        name: [tuple(row) for row in await own.fetch(database, query.replace("SCHEMA", schema))]
        for name, query in SHAPE.items()
    }


@pytest.mark.parametrize("schema", ["leasehold", "cell_2"])
async def test_the_printed_script_makes_what_migrate_makes(own: Own, database: str, psql: Path, schema: str) -> None:
    printed = leasehold("db", "sql", env={"LEASEHOLD_SCHEMA": schema})
    assert (printed.code, printed.err) == (0, "")
    feed(psql, own.url(database), printed.out)
    migrated = await own.new_database()
    await migrate.migrate(own.url(migrated), schema=schema)
    theirs, ours = await shape(own, database, schema), await shape(own, migrated, schema)
    for name in SHAPE:
        assert theirs[name] == ours[name], name


async def test_migrate_after_the_printed_script_has_nothing_to_do(own: Own, database: str, psql: Path) -> None:
    feed(psql, own.url(database), leasehold("db", "sql").out)
    assert (await migrate.migrate(own.url(database))).applied == []
    assert (await migrate.status(own.url(database))).pending == []


def feed(psql: Path, url: str, text: str) -> None:
    done = subprocess.run(
        [str(psql), "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", url], input=text, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
