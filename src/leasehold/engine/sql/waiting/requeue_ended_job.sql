-- Take the outcome of a job that did not succeed away, and keep its story: what a retry needs to go on from there.
-- internal
-- settings: index
create or replace function leasehold.requeue_ended_job(p_job uuid) returns table (job_id uuid, lane integer, attempt smallint, budget smallint, events integer)
language plpgsql as $$
#variable_conflict use_column
declare
  v_ended leasehold.outcome;
begin
  delete from leasehold.outcome where job_id = p_job and state in ('failed', 'dead', 'canceled') returning * into v_ended;
  if not found then
    return;
  end if;
  -- The outcome's row is gone; where no attempt tells the story, the event is kept as one. It is as old as the outcome was:
  -- whoever has been told of that is not told again.
  insert into leasehold.event (job_id, seq, tenant_id, type, message, data, at, xid)
  select
    p_job, v_ended.seq, v_ended.tenant_id, v_ended.state, v_ended.error ->> 'message', v_ended.error, v_ended.finished_at,
    v_ended.xid
  where not exists (select from leasehold.attempt where job_id = p_job and finished_seq = v_ended.seq);
  insert into leasehold.event (job_id, seq, tenant_id, type, at)
  values (p_job, v_ended.seq + 1, v_ended.tenant_id, 'retried', leasehold.now());
  return query
    select p_job, l.lane, coalesce((  -- one that was given back while its cancel was asked for did not count
      select case when outcome in ('snoozed', 'released') then attempt - 1 else attempt end::smallint
      from leasehold.attempt where job_id = p_job order by finished_seq desc limit 1
    ), 0::smallint), j.max_attempts, v_ended.seq + 1
    from leasehold.job j join leasehold.lane l on l.queue = j.queue and l.priority = j.priority where j.job_id = p_job;
end
$$;
