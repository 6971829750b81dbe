-- Remove these jobs of a tenant with all that is known of them, if they have ended. Their keys are free again; large payloads
-- and results go with purge_blobs.
-- internal
-- settings: index
create or replace function leasehold.delete_jobs(p_tenant uuid, p_jobs uuid[]) returns integer
language plpgsql as $$
declare
  v_ended uuid[];
begin
  -- Whoever removes the outcome decides: a retry that comes at the same time finds none.
  with gone as (
    delete from leasehold.outcome o
    where o.job_id = any(p_jobs) and o.tenant_id = p_tenant
      and not exists (select from leasehold.step s where s.job_id = o.job_id)  -- a flow keeps its steps
    returning o.job_id
  )
  select coalesce(array_agg(job_id), '{}') into v_ended from gone;
  delete from leasehold.idempotency i using leasehold.job j
  where j.job_id = any(v_ended) and i.tenant_id = p_tenant and i.kind = j.kind and i.key = j.key and i.job_id = j.job_id;
  delete from leasehold.event where job_id = any(v_ended);
  delete from leasehold.attempt_row where job_id = any(v_ended);
  delete from leasehold.job where job_id = any(v_ended);
  perform leasehold.log_action(p_tenant, 'job.delete', job::text) from unnest(v_ended) job;
  return cardinality(v_ended);
end
$$;
