-- Versions take the place of those before them.
-- for: worker
create or replace function pack.add_versions(p_tenant uuid, p_run uuid, p_versions jsonb)
returns void
language sql
as $$
  update pack.version v set valid_to = leasehold.now()
  from jsonb_populate_recordset(null::pack.version, p_versions) r
  where v.posting_id = r.posting_id and v.n < r.n and v.valid_to is null;
  insert into pack.version (posting_id, n, tenant_id, run_id, facts, digest, minor)
  select posting_id, n, p_tenant, p_run, facts, digest, minor
  from jsonb_populate_recordset(null::pack.version, p_versions);
$$;
