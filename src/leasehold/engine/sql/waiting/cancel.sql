-- Cancel a job of the current tenant. Says what became of it: canceled (it had not started, and never will), requested
-- (it runs, and its worker is told with the next beat; or it waits for other steps of its flow, and ends after them), or its
-- outcome if it has ended.
--
-- A job moves between tables while we look, so we look again until we find it.
-- for: api, worker
-- settings: index
create or replace function leasehold.cancel(p_job uuid, p_reason text default null) returns text
language plpgsql as $$
declare
  v_tenant uuid := (leasehold.require_job(p_job)).tenant_id;
  v_taken  leasehold.parked;
  v_state  text;
begin
  perform leasehold.log_action(v_tenant, 'job.cancel', p_job::text, jsonb_build_object('reason', p_reason));

  for v_try in 1..100 loop
    v_taken := leasehold.remove_waiting_job(p_job);
    if v_taken.job_id is null then
      delete from leasehold.waiting where job_id = p_job and what <> 'parents'
      returning tenant_id, job_id, lane, attempt, max_attempts, events, true into v_taken;
    end if;
    if v_taken.job_id is not null then
      insert into leasehold.outcome (job_id, tenant_id, state, finished_at, error, seq)
      values (
        p_job, v_tenant, 'canceled', leasehold.now(),
        jsonb_build_object('type', 'Canceled', 'message', coalesce(p_reason, 'canceled before it started')), v_taken.events + 1
      );
      if v_taken.bound then
        perform leasehold.after_finish(array[p_job], '{}', '{}');
      end if;
      return 'canceled';
    end if;
    -- Steps of a flow end after their parents. Locked, as it may be released just now: then it is looked for elsewhere.
    perform from leasehold.waiting where job_id = p_job and what = 'parents' for update;
    if found then
      insert into leasehold.unwanted (job_id, error)
      values (p_job, jsonb_build_object('type', 'Canceled', 'message', coalesce(p_reason, 'canceled before it started')));
      return 'requested';
    end if;
    update leasehold.lease set cancel_requested = true where job_id = p_job;
    if found then
      return 'requested';
    end if;
    select state into v_state from leasehold.outcome where job_id = p_job;
    if found then
      return v_state;
    end if;
  end loop;
  raise exception 'job % keeps moving', p_job using errcode = 'LH409', hint = 'try again';
end
$$;
