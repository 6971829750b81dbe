-- Move a waiting job to another time; a job that has ended is retried at that time.
--
-- A job moves between tables while we look, so we look again until we find it.
-- for: api, worker
-- settings: index
create or replace function leasehold.reschedule(p_job uuid, p_run_at timestamptz) returns text
language plpgsql as $$
declare
  v_tenant uuid := (leasehold.require_job(p_job)).tenant_id;
begin
  if p_run_at is null or p_run_at > leasehold.now() + interval '10 years' then
    raise exception 'run_at % is not a time within ten years', p_run_at using errcode = 'LH400';
  end if;

  for v_try in 1..100 loop
    if leasehold.reschedule_waiting_job(p_job, p_run_at) then
      perform leasehold.log_action(v_tenant, 'job.reschedule', p_job::text, jsonb_build_object('run_at', p_run_at));
      return 'scheduled';
    end if;
    if exists (select from leasehold.lease where job_id = p_job) then
      raise exception 'job % is running', p_job using errcode = 'LH409', hint = 'cancel it first';
    end if;
    if exists (select from leasehold.waiting where job_id = p_job) then
      raise exception 'job % waits for its flow', p_job using errcode = 'LH409', hint = 'leasehold jobs explain';
    end if;
    if exists (select from leasehold.outcome where job_id = p_job) then
      return leasehold.retry(p_job, p_run_at);
    end if;
  end loop;
  raise exception 'job % keeps moving', p_job using errcode = 'LH409', hint = 'try again';
end
$$;
