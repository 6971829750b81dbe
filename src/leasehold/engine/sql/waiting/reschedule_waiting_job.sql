-- Let a job that waits, and whose row is locked or was just found, wait until another time. False: it waits nowhere.
-- internal
-- settings: index
create or replace function leasehold.reschedule_waiting_job(p_job uuid, p_run_at timestamptz) returns boolean
language plpgsql as $$
declare
  v_taken leasehold.parked := leasehold.remove_waiting_job(p_job);
begin
  if v_taken.job_id is null then
    return false;
  end if;
  insert into leasehold.event (job_id, seq, tenant_id, type, data, at)
  values (p_job, v_taken.events + 1, v_taken.tenant_id, 'rescheduled', jsonb_build_object('run_at', p_run_at), leasehold.now());
  insert into leasehold.deferred (run_at, job_id, tenant_id, lane, attempt, max_attempts, events, why, bound)
  values (
    p_run_at, p_job, v_taken.tenant_id, v_taken.lane, v_taken.attempt, v_taken.max_attempts, v_taken.events + 1,
    case when v_taken.attempt = 0 then 'scheduled' else 'rescheduled' end, v_taken.bound
  );
  return true;
end
$$;
