"""Owners, grants and policies of a database that was restored where the roles were missing.

PostgreSQL then restores everything else: all belongs to the login that restored, functions that run as their owner
too, and no role may use anything. Migration takes the objects over. The engine's grants come from its files again; a
pack's files run only once, so the ledger keeps what they granted.
"""

import asyncpg

from leasehold.database import sql_files
from leasehold.database.database import Role
from leasehold.database.plugin_schema import PackFiles, protect
from leasehold.errors import Conflict

_HAS_LEDGER = """
select exists (
  select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = 'migration'
)
"""

_PACKS = "select distinct split_part(name, '/', 2) from {schema}.migration where name like 'packs/%' order by 1"

# A schema or a ledger of another owner, a schema that a role may not use, or a table that is protected and has no
# policy: each of them shows that a restore left out what belongs to the roles.
_ARE_LOST = """
select exists (
  select from pg_namespace n
  where n.nspname = any($1) and (
    n.nspowner is distinct from to_regrole($2)
    or has_schema_privilege(to_regrole($3), n.oid, 'usage') is not true
    or exists (
      select from pg_class c
      where c.relnamespace = n.oid and (
        c.relname = 'migration' and c.relowner <> to_regrole($2)
        or c.relrowsecurity and not exists (select from pg_policy p where p.polrelid = c.oid)
      )
    )
  )
)
"""

# Sequences of identity columns follow their tables, arrays and rows of tables their types.
_TAKE_OVER = """
select format('alter schema %I owner to %I', nspname, $2::text)
from pg_namespace where nspname = any($1) and nspowner <> to_regrole($2)
union all
select format('alter table %s owner to %I', c.oid::regclass, $2::text)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = any($1) and c.relkind in ('r', 'p', 'v', 'm', 'S') and c.relowner <> to_regrole($2)
  and not exists (
    select from pg_depend d
    where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.refclassid = 'pg_class'::regclass
      and c.relkind = 'S' and d.deptype in ('a', 'i')
  )
union all
select format('alter routine %s owner to %I', p.oid::regprocedure, $2::text)
from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where n.nspname = any($1) and p.proowner <> to_regrole($2)
union all
select format('alter type %s owner to %I', t.oid::regtype, $2::text)
from pg_type t join pg_namespace n on n.oid = t.typnamespace left join pg_class c on c.oid = t.typrelid
where n.nspname = any($1) and t.typowner <> to_regrole($2)
  and (t.typtype in ('d', 'e', 'r') or t.typtype = 'c' and c.relkind = 'c')
"""

# As statements. What protects every table of a pack is not among them: that is done anew.
_GRANTS = """
with own as (
  select oid from pg_namespace where nspname = $1
),
role as (
  select oid, format('%I', rolname) as name from pg_roles where rolname = any($2)
  union all select 0, 'public'
)
select format('revoke all on routine %s from public', p.oid::regprocedure) as statement
from pg_proc p join own on own.oid = p.pronamespace
union all
select format('grant execute on routine %s to %s', p.oid::regprocedure, role.name)
from pg_proc p join own on own.oid = p.pronamespace
cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) acl join role on role.oid = acl.grantee
union all
select format(
  'grant %s on %s %s to %s', string_agg(acl.privilege_type, ', '),
  case c.relkind when 'S' then 'sequence' else 'table' end, c.oid::regclass, role.name)
from pg_class c join own on own.oid = c.relnamespace cross join aclexplode(c.relacl) acl
join role on role.oid = acl.grantee
group by c.oid, c.relkind, role.name
union all
select format('grant %s (%I) on table %s to %s', acl.privilege_type, a.attname, c.oid::regclass, role.name)
from pg_attribute a join pg_class c on c.oid = a.attrelid join own on own.oid = c.relnamespace
cross join aclexplode(a.attacl) acl join role on role.oid = acl.grantee
union all
select line
from pg_policies p cross join lateral (values
  (format('drop policy if exists %I on %I.%I', p.policyname, p.schemaname, p.tablename)),
  (format(
    'create policy %I on %I.%I as %s for %s to %s', p.policyname, p.schemaname, p.tablename, p.permissive, p.cmd,
    (select string_agg(case r when 'public' then r else quote_ident(r) end, ', ') from unnest(p.roles) r)
   ) || coalesce(' using (' || p.qual || ')', '') || coalesce(' with check (' || p.with_check || ')', ''))
) made(line)
where p.schemaname = $1 and p.policyname not in ('own_rows', 'read_rows', 'all_rows')
"""


async def find_lost(connection: asyncpg.Connection, schema: str) -> list[str] | None:
    """Whether owners and grants are lost: the packs that have tables here as well, or None when all is right."""
    if not await connection.fetchval(_HAS_LEDGER, schema):
        return None
    try:
        async with connection.transaction():
            packs = [row[0] for row in await connection.fetch(_PACKS.format(schema=schema))]
    except asyncpg.InsufficientPrivilegeError:  # it has an owner, who is not this login
        return None
    names = [schema, *(f"{schema}_{pack}" for pack in packs)]
    is_lost = await connection.fetchval(_ARE_LOST, names, f"{schema}_owner", f"{schema}_{Role.API}")
    return packs if is_lost else None


async def take_over(connection: asyncpg.Connection, schema: str, packs: list[str]) -> None:
    """Give everything to the owner. For the login that restored it, or a superuser."""
    await connection.execute("set local search_path = pg_catalog")
    names = [schema, *(f"{schema}_{pack}" for pack in packs)]
    for row in await connection.fetch(_TAKE_OVER, names, f"{schema}_owner"):
        await connection.execute(row[0])


async def grant_again(connection: asyncpg.Connection, schema: str, packs: list[str]) -> None:
    """As the owner: grant what files of packs granted, and have the engine's functions and grants applied anew."""
    newest = await connection.fetchval(f"select max(release) from {schema}.migration")
    if newest > sql_files.RELEASE:
        raise Conflict(
            f"the roles were missing when this database was restored, and it is of release {newest}, while this"
            f" program is of release {sql_files.RELEASE}",
            hint="run `leasehold db migrate` of the program that made it",
        )
    await connection.execute("set local search_path = pg_catalog")
    for pack in packs:
        await connection.execute(protect(PackFiles(pack=pack, files=()), schema))
        for statement in await _kept(connection, schema, pack):
            await connection.execute(statement)
    await connection.execute(
        f"update {schema}.migration set checksum = '' where name not like 'tables/%' and name not like 'packs/%'"
    )


async def keep_grants(connection: asyncpg.Connection, schema: str, pack: str) -> None:
    """Write into the ledger what the files of this pack have granted."""
    roles = [f"{schema}_{role}" for role in Role]
    statements = [row[0] for row in await connection.fetch(_GRANTS, f"{schema}_{pack}", roles)]
    await connection.execute(
        f"update {schema}.migration set grants = $2 where name = {_newest(schema)}", pack, statements
    )


async def has_grants(connection: asyncpg.Connection, schema: str, pack: str) -> bool:
    """Whether the ledger has them."""
    return await _granted(connection, schema, pack) is not None


async def _kept(connection: asyncpg.Connection, schema: str, pack: str) -> list[str]:
    found = await _granted(connection, schema, pack)
    if found is None:
        raise Conflict(
            f"the roles were missing when this database was restored, and what pack {pack} had granted is not known",
            hint="make the roles with `leasehold db sql --roles | psql -d postgres`, then restore the dump anew",
        )
    return found


async def _granted(connection: asyncpg.Connection, schema: str, pack: str) -> list[str] | None:
    found: list[str] | None = await connection.fetchval(
        f"select grants from {schema}.migration where name = {_newest(schema)}", pack
    )
    return found


def _newest(schema: str) -> str:
    return f"(select max(name) from {schema}.migration where name like 'packs/' || $1::text || '/%')"
