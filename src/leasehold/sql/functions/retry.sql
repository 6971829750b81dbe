-- Give a job that ended as failed, dead or canceled a new budget of attempts, now or at p_run_at. Logged.
create or replace function leasehold.retry(p_job uuid, p_run_at timestamptz default null) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off
as $$
declare
  v_now     timestamptz := leasehold.now();
  v_job     leasehold.job := leasehold.own_job(p_job);
  v_tenant  uuid := v_job.tenant_id;
  v_ended   leasehold.outcome;
  v_attempt smallint;
begin
  delete from leasehold.outcome where job_id = p_job and state in ('failed', 'dead', 'canceled') returning * into v_ended;
  if not found then
    raise exception 'job % is %, and only failed, dead and canceled jobs can be retried', p_job, leasehold.state_of(p_job)
      using errcode = 'LH409';
  end if;
  perform leasehold.log_action(v_tenant, 'job.retry', p_job::text, jsonb_build_object('was', v_ended.state, 'run_at', p_run_at));

  -- The outcome's row is gone; where no attempt tells the story, the event is kept as one.
  insert into leasehold.event (job_id, seq, tenant_id, type, message, data, at)
  select p_job, v_ended.seq, v_tenant, v_ended.state, v_ended.error ->> 'message', v_ended.error, v_ended.finished_at
  where not exists (select from leasehold.attempt where job_id = p_job and finished_seq = v_ended.seq);
  insert into leasehold.event (job_id, seq, tenant_id, type, at) values (p_job, v_ended.seq + 1, v_tenant, 'retried', v_now);

  v_attempt := coalesce((  -- one that was given back while its cancel was asked for did not count
    select case when outcome in ('snoozed', 'released') then attempt - 1 else attempt end
    from leasehold.attempt where job_id = p_job order by finished_seq desc limit 1
  ), 0);
  insert into leasehold.deferred (run_at, job_id, tenant_id, lane, attempt, max_attempts, events, why, bound)
  select
    greatest(p_run_at, v_now), p_job, v_tenant, lane, v_attempt, v_attempt + v_job.max_attempts, v_ended.seq + 1, 'retried',
    v_job.group_key is not null
  from leasehold.lane where queue = v_job.queue and priority = v_job.priority;
  return 'scheduled';
end
$$;

revoke all on function leasehold.retry(uuid, timestamptz) from public;
grant execute on function leasehold.retry(uuid, timestamptz) to leasehold_api, leasehold_worker;
