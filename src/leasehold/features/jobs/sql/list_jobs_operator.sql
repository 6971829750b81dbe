-- These jobs as a person wants to see them in a list, newest first: those of the tenant, or all for the operator.
-- for: api, operator
-- settings: read
create or replace function leasehold.list_jobs_operator(p_jobs uuid[]) returns setof leasehold.job_view
language plpgsql stable as $$
declare
  v_tenant uuid := leasehold.tenant_filter();
begin
  return query
    select v.*
    from (
      select j.tenant_id, array_agg(j.job_id) as jobs from leasehold.job j
      where j.job_id = any(p_jobs) and (v_tenant is null or j.tenant_id = v_tenant)
      group by j.tenant_id
    ) owner
    cross join lateral leasehold.view_jobs(owner.tenant_id, owner.jobs, true) v
    order by v.job_id desc;
end
$$;
