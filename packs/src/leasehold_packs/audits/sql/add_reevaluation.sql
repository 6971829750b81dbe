-- A new run over the pages that another one kept.
-- for: api
create or replace function pack.add_reevaluation(p_run uuid, p_recipe integer, p_settles boolean) returns uuid
language sql
as $$
  insert into pack.run (
    tenant_id, site_id, recipe, fingerprint, options, reread_of, settles, told
  )
  select r.tenant_id, r.site_id, p_recipe, 'again ' || r.run_id, r.options, coalesce(r.reread_of, r.run_id),
    p_settles, r.told
  from pack.run r
  where r.run_id = p_run
  returning run_id
$$;
