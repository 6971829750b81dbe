-- Make a job of a schedule of the current tenant now, paused or not; its ticks stay as they are. While its last job is
-- live, the overlap policy decides: a schedule that skips refuses (LH409). Logged.
-- for: api, worker
-- settings: index
create or replace function leasehold.run_schedule(p_name text) returns uuid
language plpgsql as $$
declare
  v_schedule leasehold.schedule := leasehold.require_schedule(p_name);
  v_outcome  text;
  v_job      uuid;
begin
  v_schedule.jitter_s := 0;  -- now means now
  select m.outcome, m.job_id into v_outcome, v_job from leasehold.insert_scheduled_job(v_schedule, leasehold.now(), false) m;
  if v_outcome = 'skipped' then
    raise exception 'job % of schedule % has not ended', v_job, quote_literal(p_name)
      using errcode = 'LH409', hint = 'wait for it or cancel it, or set overlap to queue';
  end if;
  update leasehold.schedule set last_job = v_job where schedule_id = v_schedule.schedule_id;
  perform leasehold.log_action(v_schedule.tenant_id, 'schedule.run', p_name, jsonb_build_object('job_id', v_job));
  return v_job;
end
$$;
