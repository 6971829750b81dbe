-- One job of the current tenant. Another tenant's job is as absent as one that never was.
-- for: api, worker, readonly
create or replace function leasehold.get_job(p_job uuid) returns leasehold.job_view
language plpgsql stable as $$
declare
  v_job leasehold.job_view;
begin
  select * into v_job from leasehold.view_jobs(leasehold.current_tenant(), array[p_job], false);
  if v_job.job_id is null then
    raise exception 'there is no job %', p_job using errcode = 'LH404', hint = 'leasehold jobs list';
  end if;
  return v_job;
end
$$;
