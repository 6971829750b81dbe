-- Cancel those of these jobs of the current tenant that have not ended; says which. Each is logged.
create or replace function leasehold.cancel_jobs(p_jobs uuid[], p_reason text default null) returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_job    uuid;
begin
  for v_job in
    select j.job_id from leasehold.job j
    where j.job_id = any(p_jobs) and j.tenant_id = v_tenant
      and not exists (select from leasehold.outcome o where o.job_id = j.job_id)
    order by j.job_id
  loop
    if leasehold.cancel(v_job, p_reason) in ('canceled', 'requested') then
      return next v_job;
    end if;
  end loop;
end
$$;

revoke all on function leasehold.cancel_jobs(uuid[], text) from public;
grant execute on function leasehold.cancel_jobs(uuid[], text) to leasehold_api;
