-- These jobs as a person wants to see them in a list, newest first: those of the tenant, or all for the operator.
create or replace function leasehold.see_jobs(p_jobs uuid[]) returns setof leasehold.job_view
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  v_tenant uuid := leasehold.seen_tenant();
begin
  return query
    select v.*
    from (
      select j.tenant_id, array_agg(j.job_id) as jobs from leasehold.job j
      where j.job_id = any(p_jobs) and (v_tenant is null or j.tenant_id = v_tenant)
      group by j.tenant_id
    ) owner
    cross join lateral leasehold.view_jobs_briefly(owner.tenant_id, owner.jobs) v
    order by v.job_id desc;
end
$$;

revoke all on function leasehold.see_jobs(uuid[]) from public;
grant execute on function leasehold.see_jobs(uuid[]) to leasehold_api, leasehold_operator;
