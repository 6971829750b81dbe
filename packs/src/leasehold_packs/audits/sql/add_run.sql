-- A new run of a site.
-- for: api, worker
create or replace function pack.add_run(
  p_tenant uuid, p_site uuid, p_recipe integer, p_fingerprint text, p_options jsonb
) returns uuid
language sql
as $$
  insert into pack.run (tenant_id, site_id, recipe, fingerprint, options)
  values (p_tenant, p_site, p_recipe, p_fingerprint, p_options)
  returning run_id
$$;
