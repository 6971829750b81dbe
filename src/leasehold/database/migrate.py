"""Bring a database to the schema of this program: tables once, functions and grants whenever their text changes.

A new database is made in one transaction. One that is in use is changed in portions that hold no table for long: each
file of tables by itself, then all functions and grants together. Each portion is a transaction under an advisory lock,
so any number of processes may migrate at once, and whoever comes after a failure goes on where it stopped. There is no
way down: restore a backup instead.
"""

import asyncio
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from leasehold.database import grants, plugin_schema, sql_files
from leasehold.database.connection import BY_HAND, Connection, connect
from leasehold.database.database import Role
from leasehold.database.errors import translated
from leasehold.database.plugin_schema import PackFiles
from leasehold.errors import Conflict, LeaseholdError

# Locks are numbers; these two are ours. Roles belong to the cluster while an advisory lock belongs to a database, so
# role statements are run under a lock in one fixed database.
_CLUSTER_LOCK = 7503
_SCHEMA_LOCK = "select pg_advisory_xact_lock(7504, hashtext($1))"
#: Whoever wants a table that we wait for waits behind us: so we give up soon, let everybody pass, and try again. Much
#: sooner than PostgreSQL looks for deadlocks (after 1 s): where a worker and we wait for each other, we give way.
_LOCK_WAIT = "set local lock_timeout = '200ms'"
_LOCK_TRIES = 60
_LOCK_PAUSE_SECONDS = 1.0
_LEDGER = (
    "create table if not exists {schema}.migration"
    " (name text primary key, checksum text not null, release integer not null, applied_at timestamptz not null,"
    " grants text[]);"  # what the files of a pack granted, with the newest of them: see leasehold.database.grants
)
_ADMINISTRATOR = (
    "let an administrator run the output of `leasehold db sql --roles`, then `grant {schema}_owner to {user};"
    " grant {schema}_api, {schema}_worker, {schema}_operator, {schema}_readonly to {user}`; then migrate again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """What a migration did: the files that it applied, and the release that the database has now.

    ``restored``: owners and grants were missing, as in a dump that was restored without the roles, and are there now.
    """

    applied: list[str]
    release: int
    restored: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How a database compares with this program. ``release`` is None where Leasehold was never installed.

    ``lacks_grants``: it was restored without the roles, and nobody can use it until it is migrated.
    """

    server: str
    release: int | None
    pending: list[str]
    lacks_grants: bool = False


async def migrate(url: str, *, schema: str = "leasehold", packs: Sequence[PackFiles] = ()) -> Migrated:
    """Make the roles, then apply what is missing. ``url`` is a superuser, or owns the database and may create roles."""
    await _make_roles(url, schema)
    applied: list[str] = []
    restored = False
    for _ in range(_LOCK_TRIES):
        with translated():
            connection = await _connect(url)
            try:
                restored = await _restore_grants(connection, schema) or restored
                while portion := await _apply_portion(connection, schema, packs):
                    applied += portion
                return Migrated(applied=applied, release=await _release(connection, schema), restored=restored)
            except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
                pass
            finally:
                await connection.close()
        await asyncio.sleep(_LOCK_PAUSE_SECONDS * random.uniform(0.5, 1.5))
    raise LeaseholdError(
        f"a table was in use by somebody else, at each of {_LOCK_TRIES} tries",
        hint="`leasehold doctor` names transactions that are open for long; end them, then migrate again",
    )


async def status(url: str, *, schema: str = "leasehold", packs: Sequence[PackFiles] = ()) -> Status:
    with translated():
        connection = await _connect(url)
        try:
            lost = await grants.find_lost(connection, schema)
            async with connection.transaction():
                known = await _readable_ledger(connection, schema, as_operator=lost is None)
            release = _newest(known) or None
            pending = [] if (release or 0) > sql_files.RELEASE else _pending(known)
            pending += [file for pack in packs for file in pack.pending(known)]
            return Status(
                server=await connection.fetchval("show server_version"),
                release=release,
                pending=[file.name for file in pending],
                lacks_grants=lost is not None,
            )
        finally:
            await connection.close()


def pending_files(applied: object) -> list[str]:
    """The files that this program has and a database (name → checksum, as JSON) lacks or has otherwise."""
    known: dict[str, str] = json.loads(str(applied or "{}"))
    return [file.name for file in sql_files.read_all() if known.get(file.name) != file.checksum]


def script(schema: str = "leasehold") -> str:
    """All of it as one SQL text, to read or to feed to another tool, which then counts as a migration."""
    files = "\n".join(
        f"-- {f.name}\n{sql_files.render(f.text, schema)}\n{_entry(f, schema)}" for f in sql_files.read_all()
    )
    return "\n".join(
        [
            sql_files.render(sql_files.read_roles(), schema),
            "begin;",
            "set local check_function_bodies = off;",
            f"create schema if not exists {schema} authorization {schema}_owner;",
            f"set local role {schema}_owner;",
            _LEDGER.format(schema=schema),
            files,
            "commit;",
        ]
    )


async def let_in(url: str, database: str, passwords: Mapping[Role, str], *, schema: str = "leasehold") -> None:
    """Let the roles log in to a database. Only for a cluster that is ours alone: the embedded one."""
    template = "alter role %1$I login password %2$L; grant connect on database %3$I to %1$I"
    with translated():
        connection = await _connect(url)
        try:
            statements = [
                await connection.fetchval(
                    "select format($1, $2::text, $3::text, $4::text)", template, f"{schema}_{role}", password, database
                )
                for role, password in passwords.items()
            ]
        finally:
            await connection.close()
    await _in_cluster(url, ";\n".join(statements), schema=schema)


#: Every login may make large objects, which have no quota, unless the database says otherwise.
_NO_LARGE_OBJECTS = (
    "revoke execute on function lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea) from public"
)


async def create_database(url: str, name: str, *, template: str | None = None) -> None:
    """Make the database, unless it is there, and let only our roles in; they keep nothing but in our tables."""
    with translated():
        connection = await _connect(url)
        try:
            source = f' template "{template}"' if template else ""
            await connection.execute(f'create database "{name}"{source}')
            await connection.execute(f'revoke all on database "{name}" from public')
        except (asyncpg.DuplicateDatabaseError, asyncpg.UniqueViolationError):
            pass  # the second is said when two make it in the same moment
        finally:
            await connection.close()
        connection = await _connect(urlunsplit(urlsplit(url)._replace(path=f"/{name}")))
        try:
            await connection.execute(_NO_LARGE_OBJECTS)
        finally:
            await connection.close()


async def _make_roles(url: str, schema: str) -> None:
    with translated():
        connection = await _connect(url)
        try:
            found = await connection.fetchval(
                "select count(*) from pg_roles where rolname = any($1)", _role_names(schema)
            )
        finally:
            await connection.close()
    if found < len(_role_names(schema)):
        await _in_cluster(url, sql_files.render(sql_files.read_roles(), schema), schema=schema)


def _role_names(schema: str) -> list[str]:
    return [f"{schema}_{name}" for name in ("owner", *Role)]


async def _in_cluster(url: str, statements: str, *, schema: str) -> None:
    with translated():
        connection = await _connect(urlunsplit(urlsplit(url)._replace(path="/postgres")))
        try:
            async with connection.transaction():
                await connection.execute("select pg_advisory_xact_lock($1)", _CLUSTER_LOCK)
                await connection.execute(statements)
        except asyncpg.InsufficientPrivilegeError as problem:
            raise LeaseholdError(
                f"{urlsplit(url).username} may not create roles: {problem}",
                hint=_ADMINISTRATOR.format(schema=schema, user=urlsplit(url).username),
            ) from problem
        finally:
            await connection.close()


async def _apply_portion(connection: Connection, schema: str, packs: Sequence[PackFiles]) -> list[str]:
    """The next files that belong into one transaction; none when all is done."""
    async with connection.transaction():
        await connection.execute(_SCHEMA_LOCK, schema)
        borrowed = await _become_owner(connection, schema, [schema, *(pack.schema(schema) for pack in packs)])
        applied = await _run(connection, schema)
        for pack in packs:
            applied = applied or await _run_pack(connection, schema, pack)
        if borrowed:
            await _give_back_owner(connection, schema)
        return applied


async def _restore_grants(connection: Connection, schema: str) -> bool:
    """After a restore without the roles: everything belongs to the owner again, and what is granted by files of
    functions and policies is pending."""
    async with connection.transaction():
        await connection.execute(_SCHEMA_LOCK, schema)
        packs = await grants.find_lost(connection, schema)
        if packs is None:
            return False
        borrowed = await _borrow_owner(connection, schema)
        await connection.execute(_LOCK_WAIT)
        await grants.take_over(connection, schema, packs)
        await connection.execute(f"set local role {schema}_owner")
        await grants.grant_again(connection, schema, packs)
        if borrowed:
            await _give_back_owner(connection, schema)
        return True


async def _run(connection: Connection, schema: str) -> list[str]:
    known = await _ledger(connection, schema)
    if (
        _newest(known) > sql_files.RELEASE
    ):  # a newer program was here: its functions serve us too, ours would not serve it
        return []
    pending = _pending(known)
    if known:
        pending = _up_to_a_table(pending)
    if pending:
        await connection.execute(f"{_LOCK_WAIT}; set local check_function_bodies = off")
        await connection.execute(f"set local search_path = pg_catalog; {_LEDGER.format(schema=schema)}")
    for file in pending:
        await connection.execute(f"{sql_files.render(file.text, schema)};\n{_entry(file, schema)}")
    return [file.name for file in pending]


def _up_to_a_table(files: list[sql_files.File]) -> list[sql_files.File]:
    """The first of these files, up to one that makes tables: its locks are not held for longer than it takes."""
    tables = [number for number, file in enumerate(files, start=1) if file.is_table]
    return files[: tables[0]] if tables else files


async def _release(connection: Connection, schema: str) -> int:
    """That of this program, or of a newer one that was here."""
    async with connection.transaction():
        return max(_newest(await _readable_ledger(connection, schema)), sql_files.RELEASE)


def _newest(known: Mapping[str, tuple[str, int]]) -> int:
    return max((release for _, release in known.values()), default=0)


async def _run_pack(connection: Connection, schema: str, pack: PackFiles) -> list[str]:
    pending = pack.pending(await _ledger(connection, schema))
    if pending:
        await connection.execute(f"{_LOCK_WAIT}; set local check_function_bodies = off")
        await connection.execute("set local search_path = pg_catalog")
    for file in pending:
        text = plugin_schema.render(file.text, schema=schema, pack=pack.pack)
        await connection.execute(f"{text};\n{_entry(file, schema)}")
    if pending:
        await connection.execute(plugin_schema.protect(pack, schema))
    if pack.files and (pending or not await grants.has_grants(connection, schema, pack.pack)):
        await grants.keep_grants(connection, schema, pack.pack)
    return [file.name for file in pending]


async def _become_owner(connection: Connection, schema: str, schemas: Sequence[str]) -> bool:
    """Make the schemas and act as their owner; True when membership had to be borrowed (a superuser needs none)."""
    borrowed = await _borrow_owner(connection, schema)
    with _explained(connection, schema):
        for name in schemas:
            await connection.execute(f"create schema if not exists {name} authorization {schema}_owner")
        await connection.execute(f"set local role {schema}_owner")
    return borrowed


async def _borrow_owner(connection: Connection, schema: str) -> bool:
    """May act as the owner from now on; True when membership had to be borrowed."""
    owner = f"{schema}_owner"
    # Since 16 a role's creator is a member that may administer the role but not act as it.
    act_as = "set" if connection.get_server_version().major >= 16 else "member"
    may = await connection.fetchval(
        "select rolsuper or pg_has_role(current_user, $1, $2) from pg_roles where rolname = current_user", owner, act_as
    )
    if not may:
        with _explained(connection, schema):
            await connection.execute(f"grant {owner} to current_user")
    return not may


async def _give_back_owner(connection: Connection, schema: str) -> None:
    await connection.execute(f"reset role; revoke {schema}_owner from current_user")


@contextmanager
def _explained(connection: Connection, schema: str) -> Iterator[None]:
    try:
        yield
    except asyncpg.InsufficientPrivilegeError as problem:
        raise LeaseholdError(
            f"this login may not act as {schema}_owner: {problem}",
            hint=_ADMINISTRATOR.format(schema=schema, user=connection.get_settings().session_authorization),
        ) from problem


def _entry(file: sql_files.File, schema: str) -> str:
    return (
        f"insert into {schema}.migration"
        f" values ('{file.name}', '{file.checksum}', {sql_files.RELEASE}, clock_timestamp())"
        " on conflict (name) do update"
        " set checksum = excluded.checksum, release = excluded.release, applied_at = excluded.applied_at;"
    )


def _pending(known: Mapping[str, tuple[str, int]]) -> list[sql_files.File]:
    pending = [file for file in sql_files.read_all() if known.get(file.name, ("", 0))[0] != file.checksum]
    for file in pending:
        if file.is_table and file.name in known:
            raise Conflict(
                f"{file.name} has changed since this database was made with an unreleased version",
                hint="make it anew: `leasehold down --wipe` for the embedded one, or drop the schema",
            )
    return pending


async def _readable_ledger(
    connection: Connection, schema: str, *, as_operator: bool = True
) -> dict[str, tuple[str, int]]:
    """The ledger for somebody who is not its owner: as the operator, if this login may be that."""
    role = f"{schema}_operator"
    if as_operator and await connection.fetchval(
        "select pg_has_role(oid, 'member') from pg_roles where rolname = $1", role
    ):
        await connection.execute(f"set local role {role}")
    return await _ledger(connection, schema)


async def _ledger(connection: Connection, schema: str) -> dict[str, tuple[str, int]]:
    if await connection.fetchval("select to_regclass($1)", f"{schema}.migration") is None:
        return {}
    rows = await connection.fetch(f"select name, checksum, release from {schema}.migration")
    return {row["name"]: (row["checksum"], row["release"]) for row in rows}


async def _connect(url: str) -> Connection:
    # PostgreSQL answers 57P03 while it starts up or recovers: worth a few tries.
    for attempt in range(50):
        try:
            return await connect(url, "leasehold-migrate", deadline=BY_HAND)
        except asyncpg.CannotConnectNowError:
            if attempt == 49:
                raise
            await asyncio.sleep(0.1)
    raise AssertionError("unreachable")
