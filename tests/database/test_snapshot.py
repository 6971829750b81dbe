"""The schema as it is, kept beside the tests: a change of it shows in the diff of one file.

After a change that is meant: `SNAPSHOT=write make test TESTS=tests/database/test_snapshot.py`.
"""

import os
import re
from pathlib import Path

from tests.cell import Cell

SNAPSHOT = Path(__file__).parent / "schema.snapshot"
QUERIES = {
    "columns": "select format('%s.%s %s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),"
    " case when a.attnotnull then ' not null' else '' end) as line"
    " from pg_attribute a join pg_class c on c.oid = a.attrelid"
    " where c.relnamespace = 'leasehold'::regnamespace and c.relkind in ('r', 'p', 'c', 'v') and a.attnum > 0"
    " and not c.relispartition order by c.relname, a.attnum",
    "indexes": "select pg_get_indexdef(i.indexrelid) as line from pg_index i join pg_class c on c.oid = i.indrelid"
    " where c.relnamespace = 'leasehold'::regnamespace and not c.relispartition order by 1",
    "functions": "select format('%s(%s) %s%s', p.proname, pg_get_function_identity_arguments(p.oid),"
    " case when p.prosecdef then 'definer' else 'invoker' end,"
    " coalesce(' ' || (select string_agg(acl::text, ' ' order by acl::text) from unnest(p.proacl) acl), '')) as line"
    " from pg_proc p where p.pronamespace = 'leasehold'::regnamespace order by 1",
    "policies": "select format('%s %s for %s to %s using %s', tablename, policyname, cmd, roles, qual) as line"
    " from pg_policies where schemaname = 'leasehold' order by 1",
    "grants": "select format('%s %s', c.relname,"
    " (select string_agg(acl::text, ' ' order by acl::text) from unnest(c.relacl) acl)) as line"
    " from pg_class c where c.relnamespace = 'leasehold'::regnamespace and c.relacl is not null"
    " and c.relkind in ('r', 'p', 'v') order by 1",
    "rules": "select format('%s %s %s', c.relname, r.rulename, c.reloptions) as line"
    " from pg_rewrite r join pg_class c on c.oid = r.ev_class"
    " where c.relnamespace = 'leasehold'::regnamespace order by 1",
}


async def test_the_schema_is_the_one_in_the_snapshot(cell: Cell) -> None:
    parts = [f"# {name}\n" + "\n".join(r["line"] for r in await cell.look(query)) for name, query in QUERIES.items()]
    # PostgreSQL 17 added the privilege to maintain (m)
    found = re.sub(r"(leasehold_owner=arwdDxt)m?/", r"\1/", "\n\n".join(parts)) + "\n"
    if os.environ.get("SNAPSHOT") == "write":
        SNAPSHOT.write_text(found)
    assert found == SNAPSHOT.read_text()
