-- The facts of snapshots: their own, without those in error.
-- for: api, worker
create or replace function pack.list_snapshot_facts(p_snapshots uuid[])
returns table (
  snapshot_id uuid, pointer text, type text, text text, unit text, document text, ref text
)
language sql stable
as $$
  select s.snapshot_id, f.pointer, f.type, f.text, f.unit, f.document, f.ref
  from pack.snapshot_fact s
  join pack.fact f using (tenant_id, fact_id)
  where s.snapshot_id = any(p_snapshots) and f.message is null
$$;
