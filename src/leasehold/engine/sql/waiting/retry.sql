-- Give a job that ended as failed, dead or canceled a new budget of attempts, now or at p_run_at. Logged.
-- for: api, worker
-- settings: index
create or replace function leasehold.retry(p_job uuid, p_run_at timestamptz default null) returns text
language plpgsql as $$
declare
  v_job     leasehold.job := leasehold.require_job(p_job);
  v_tenant  uuid := v_job.tenant_id;
  v_was     text;
  v_again   record;
begin
  if exists (select from leasehold.step where job_id = p_job) then
    raise exception 'job % is a step of a flow, which is retried as a whole', p_job
      using errcode = 'LH409', hint = format('leasehold flows retry %s', (select flow_id from leasehold.step where job_id = p_job));
  end if;
  if v_job.unique_key is not null then
    perform leasehold.take_over_unique_key(v_job);
  end if;
  select state into v_was from leasehold.outcome where job_id = p_job;
  select * into v_again from leasehold.requeue_ended_job(p_job);
  if not found then
    raise exception 'job % is %, and only failed, dead and canceled jobs can be retried', p_job, leasehold.state_of(p_job)
      using errcode = 'LH409';
  end if;
  perform leasehold.log_action(v_tenant, 'job.retry', p_job::text, jsonb_build_object('was', v_was, 'run_at', p_run_at));
  insert into leasehold.deferred (run_at, job_id, tenant_id, lane, attempt, max_attempts, events, why, bound)
  values (
    greatest(p_run_at, leasehold.now()), p_job, v_tenant, v_again.lane, v_again.attempt, v_again.attempt + v_again.budget,
    v_again.events, 'retried', v_job.group_key is not null or v_job.gate is not null
  );
  return 'scheduled';
end
$$;
