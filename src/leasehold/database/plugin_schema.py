"""The SQL files of packs: numbered ones make tables and are applied once, every other holds one function and is applied
again when its text changes; and then every table is put under the tenants' policy.

A pack's file says ``pack.`` for its own schema, which becomes ``<schema>_<pack>.``, and ``leasehold.`` and
``leasehold_worker`` for the engine's, as the engine's own files do.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable

import asyncpg

from leasehold.database import sql_files
from leasehold.errors import BadInput, Conflict

_OWN_NAME = re.compile(r"\bpack(?=\.)|(?<=\bschema )pack\b")

_TABLES = re.compile(r"/\d{4}_\w+\.sql$")
_FUNCTION = re.compile(r"[a-z][a-z0-9_]*\.sql")

# A view acts as its owner, who is above row security, unless it has one of these options.
_INVOKER = "array['security_invoker=true', 'security_invoker=on', 'security_invoker=yes', 'security_invoker=1']"

# Partitions are reached through their parents only, so they need no policy.
_PROTECT = """
do $$
declare
  v_table text;
begin
  select string_agg(format('%I', c.relname), ', ') into v_table
  from pg_class c
  where c.relnamespace = '{own}'::regnamespace and c.relkind in ('r', 'p') and not exists (
    select from pg_attribute a
    where a.attrelid = c.oid and a.attname = 'tenant_id' and a.atttypid = 'uuid'::regtype and a.attnotnull
  );
  if v_table is not null then
    raise exception 'pack {pack}: no column "tenant_id uuid not null" in %', v_table
      using errcode = 'LH400', hint = 'every table of a pack belongs to tenants';
  end if;
  select string_agg(format('%I', c.relname), ', ') into v_table
  from pg_class c
  where c.relnamespace = '{own}'::regnamespace
    and (c.relkind = 'm' or c.relkind = 'v' and not coalesce(c.reloptions && {invoker}, false));
  if v_table is not null then
    raise exception 'pack {pack}: these views would show the rows of all tenants: %', v_table
      using errcode = 'LH400', hint = 'create view … with (security_invoker = true)';
  end if;

  grant usage on schema {own} to {schema}_api, {schema}_worker, {schema}_operator, {schema}_readonly;
  for v_table in
    select c.relname from pg_class c where c.relnamespace = '{own}'::regnamespace and c.relkind = 'v'
  loop
    execute format(
      'grant select on {own}.%I to {schema}_api, {schema}_worker, {schema}_operator, {schema}_readonly', v_table);
  end loop;
  grant usage on all sequences in schema {own} to {schema}_api, {schema}_worker;
  for v_table in
    select c.relname from pg_class c
    where c.relnamespace = '{own}'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  loop
    execute format('alter table {own}.%I enable row level security', v_table);
    execute format('drop policy if exists own_rows on {own}.%I', v_table);
    execute format(
      'create policy own_rows on {own}.%I for all to {schema}_api, {schema}_worker
         using (tenant_id = nullif(current_setting(''leasehold.tenant'', true), '''')::uuid)
         with check (tenant_id = nullif(current_setting(''leasehold.tenant'', true), '''')::uuid)', v_table);
    execute format('drop policy if exists read_rows on {own}.%I', v_table);
    execute format(
      'create policy read_rows on {own}.%I for select to {schema}_readonly
         using (tenant_id = (select {schema}.read_tenant()))', v_table);
    execute format('drop policy if exists all_rows on {own}.%I', v_table);
    execute format('create policy all_rows on {own}.%I for select to {schema}_operator using (true)', v_table);
    execute format(
      'grant select on {own}.%I to {schema}_api, {schema}_worker, {schema}_operator, {schema}_readonly', v_table);
    execute format('grant insert, update, delete on {own}.%I to {schema}_api, {schema}_worker', v_table);
  end loop;
end
$$;
"""

# What "packs check" complains about: as a fault for each table or view that a tenant could see too much of.
_FAULTS = f"""
select c.relname as name,
  case
    when c.relkind in ('m', 'v') and not coalesce(c.reloptions && {_INVOKER}, false)
      then 'a view that shows the rows of all tenants'
    when c.relkind in ('m', 'v') then null
    when not exists (
      select from pg_attribute a
      where a.attrelid = c.oid and a.attname = 'tenant_id' and a.atttypid = 'uuid'::regtype and a.attnotnull
    ) then 'no column "tenant_id uuid not null"'
    when c.relispartition and c.relacl is not null and exists (
      select from aclexplode(c.relacl) acl where acl.grantee <> c.relowner
    ) then 'a partition with grants of its own: its parent''s policy does not hold there'
    when c.relispartition then null
    when not c.relrowsecurity then 'no row security'
    when not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'own_rows')
      then 'no policy own_rows'
    when exists (
      select from pg_policy p
      where p.polrelid = c.oid and p.polpermissive and p.polname not in ('own_rows', 'read_rows', 'all_rows')
    ) then 'a permissive policy of its own, which lets more rows through'
    when pg_get_userbyid(c.relowner) <> $2 then 'another owner than ' || $2
  end as fault
from pg_class c
where c.relnamespace = to_regnamespace($1) and c.relkind in ('r', 'p', 'm', 'v')
order by 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackFiles:
    """The files of one pack, tables first; their names are those of the ledger: ``packs/shop/0001_tables.sql``."""

    pack: str
    files: tuple[sql_files.File, ...]

    def schema(self, schema: str) -> str:
        """The name of its own schema."""
        return f"{schema}_{self.pack}"

    def pending(self, known: Mapping[str, tuple[str, int]]) -> list[sql_files.File]:
        """What the ledger lacks, or has otherwise. A file of tables that has changed since is refused.

        Nothing where a newer version of the pack was: its functions serve this one too, ours would not serve it.
        """
        own = {file.name for file in self.files}
        prefix = f"packs/{self.pack}/"
        if any(name.startswith(prefix) and _TABLES.search(name) and name not in own for name in known):
            return []
        pending = [file for file in self.files if known.get(file.name, ("", 0))[0] != file.checksum]
        for file in pending:
            if file.name in known and _TABLES.search(file.name):
                raise Conflict(
                    f"{file.name} has changed since it was applied here",
                    hint="leave applied files as they are, and add a new one with the next number",
                )
        return pending


def read_files(pack: str, folder: Traversable | None) -> PackFiles:
    """What is in the folder ``sql`` of a pack."""
    entries = [] if folder is None else [entry for entry in folder.iterdir() if entry.name.endswith(".sql")]
    entries.sort(key=lambda entry: entry.name)
    numbers = [entry.name[:4] for entry in entries]
    files = []
    for entry in entries:
        name, text = f"packs/{pack}/{entry.name}", entry.read_text()
        if _FUNCTION.fullmatch(entry.name):
            files.append(_read_function(name, text, entry.name.removesuffix(".sql")))
        elif _TABLES.search(name) and numbers.count(entry.name[:4]) == 1:
            files.append(sql_files.File(name=name, text=text))
        else:
            raise BadInput(
                f"pack {pack}: {entry.name} has neither a number of its own nor the name of a function",
                hint="0001_tables.sql, 0002_mails.sql, …; count_orders.sql",
            )
    return PackFiles(pack=pack, files=tuple(files))


def _read_function(name: str, text: str, function: str) -> sql_files.File:
    try:
        file = sql_files.read_function(name, text, as_owner=False)
    except ValueError as problem:
        raise BadInput(str(problem), hint="docs/howto/write-a-pack.md#tables-and-functions") from problem
    if not re.search(rf"^create or replace function pack\.{function}\(", text, re.MULTILINE):
        raise BadInput(f"{name} does not make the function pack.{function}", hint="one function for each file")
    return file


def render(text: str, *, schema: str, pack: str) -> str:
    """Put the names of the pack's schema, the engine's schema and the roles into a file's text."""
    return _OWN_NAME.sub(f"{schema}_{pack}", sql_files.render(text, schema))


def protect(files: PackFiles, schema: str) -> str:
    """The statement that puts every table of the pack under the tenants' policy, or refuses."""
    return _PROTECT.format(own=files.schema(schema), schema=schema, pack=files.pack, invoker=_INVOKER)


async def faults(connection: asyncpg.Connection, files: PackFiles, *, schema: str) -> list[str]:
    """What is wrong with the tables of a pack in this database; empty when all is well."""
    rows: Sequence[Mapping[str, str]] = await connection.fetch(_FAULTS, files.schema(schema), f"{schema}_owner")
    return [f"{files.schema(schema)}.{row['name']}: {row['fault']}" for row in rows if row["fault"]]
