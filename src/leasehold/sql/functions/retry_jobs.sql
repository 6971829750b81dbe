-- Retry those of these jobs of the current tenant that ended as failed, dead or canceled; says which. Each is logged.
create or replace function leasehold.retry_jobs(p_jobs uuid[]) returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_job    uuid;
begin
  for v_job in
    select job_id from leasehold.outcome
    where job_id = any(p_jobs) and tenant_id = v_tenant and state in ('failed', 'dead', 'canceled')
      and not exists (select from leasehold.step s where s.job_id = outcome.job_id)  -- their flow is retried as a whole
    order by job_id  -- two callers take the rows in one order
    for update
  loop
    perform leasehold.retry(v_job);
    return next v_job;
  end loop;
end
$$;

revoke all on function leasehold.retry_jobs(uuid[]) from public;
grant execute on function leasehold.retry_jobs(uuid[]) to leasehold_api;
