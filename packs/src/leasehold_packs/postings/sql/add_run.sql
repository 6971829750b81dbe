-- A run over these sources; those that another run asks are left out. The sources that it has.
-- for: api, worker
create or replace function pack.add_run(
  p_tenant uuid, p_run uuid, p_actor text, p_details text, p_sources uuid[]
)
returns setof uuid
language sql
as $$
  insert into pack.run (tenant_id, run_id, asked_by, details)
  values (p_tenant, p_run, p_actor, p_details);
  insert into pack.run_source (run_id, source_id, tenant_id, seq)
  select p_run, s, p_tenant, 0 from unnest(p_sources) s
  on conflict do nothing
  returning source_id
$$;
