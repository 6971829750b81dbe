-- How complete a passport is, as it was checked last.
-- for: worker
create or replace function pack.put_completeness(
  p_tenant uuid, p_passport uuid, p_share smallint, p_missing integer, p_errors integer
) returns void
language sql
as $$
  insert into pack.completeness (tenant_id, passport_id, share, missing, errors)
  values (p_tenant, p_passport, p_share, p_missing, p_errors)
  on conflict (tenant_id, passport_id) do update
  set share = excluded.share, missing = excluded.missing, errors = excluded.errors,
    checked_at = now()
$$;
