-- What became of postings in a run.
-- for: api, worker
create or replace function pack.add_events(p_tenant uuid, p_source uuid, p_run uuid, p_events jsonb)
returns void
language sql
as $$
  insert into pack.event (tenant_id, posting_id, source_id, run_id, kind, diff)
  select p_tenant, posting_id, p_source, p_run, kind, diff
  from jsonb_populate_recordset(null::pack.event, p_events)
$$;
