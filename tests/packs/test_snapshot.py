"""The schemas of the packs as they are, kept beside the tests: a change shows in the diff of one file.

After a change that is meant: `SNAPSHOT=write make test TESTS=tests/packs/test_snapshot.py`.
"""

import os
import re
from pathlib import Path

from tests.cell import Cell

SNAPSHOT = Path(__file__).parent / "schema.snapshot"
_OURS = "n.nspname in ('leasehold_audits', 'leasehold_monitors', 'leasehold_passports', 'leasehold_postings')"
_CLASS = f"join pg_namespace n on n.oid = c.relnamespace where {_OURS} and not c.relispartition"
_ACL = "(select string_agg(acl::text, ' ' order by acl::text) from unnest({}) acl)"
QUERIES = {
    "columns": "select format('%s.%s.%s %s%s %s', n.nspname, c.relname, a.attname,"
    " format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' else '' end,"
    " pg_get_expr(d.adbin, d.adrelid)) as line from pg_class c"
    " join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped"
    f" left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum {_CLASS}"
    " and c.relkind in ('r', 'p', 'c', 'v') order by 1",
    "constraints": "select format('%s.%s %s %s', n.nspname, c.relname, k.conname, pg_get_constraintdef(k.oid)) as line"
    f" from pg_constraint k join pg_class c on c.oid = k.conrelid {_CLASS} order by 1",
    "indexes": "select pg_get_indexdef(i.indexrelid) as line"
    f" from pg_index i join pg_class c on c.oid = i.indrelid {_CLASS} order by 1",
    "triggers": "select pg_get_triggerdef(t.oid) as line from pg_trigger t join pg_class c on c.oid = t.tgrelid"
    f" {_CLASS} and not t.tgisinternal order by 1",
    "policies": "select format('%s.%s %s for %s to %s using %s', schemaname, tablename, policyname, cmd, roles, qual)"
    f" as line from pg_policies p join pg_namespace n on n.nspname = p.schemaname where {_OURS} order by 1",
    "grants": f"select format('%s.%s %s', n.nspname, c.relname, {_ACL.format('c.relacl')}) as line"
    f" from pg_class c {_CLASS} and c.relacl is not null and c.relkind in ('r', 'p', 'v') order by 1",
    "functions": "select format('%s.%s(%s) returns %s %s%s %s %s, body %s', n.nspname, p.proname,"
    " pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid), p.provolatile,"
    " case when p.prosecdef then ' definer' else '' end, p.proconfig,"
    f" {_ACL.format('p.proacl')}, md5(regexp_replace(p.prosrc, '\\s+', ' ', 'g'))) as line"
    f" from pg_proc p join pg_namespace n on n.oid = p.pronamespace where {_OURS} order by 1",
    "quotas": "select format('%s %s', what, most) as line from leasehold.quota where what like '%.%' order by 1",
}


async def test_the_schemas_of_packs_are_those_in_the_snapshot(cell: Cell) -> None:
    parts = [f"# {name}\n" + "\n".join(r["line"] for r in await cell.look(query)) for name, query in QUERIES.items()]
    # PostgreSQL 17 added the privilege to maintain (m)
    found = re.sub(r"(leasehold_owner=arwdDxt)m?/", r"\1/", "\n\n".join(parts)) + "\n"
    if os.environ.get("SNAPSHOT") == "write":
        SNAPSHOT.write_text(found)
    assert found == SNAPSHOT.read_text()
