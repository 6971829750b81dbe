-- The events of one job after a number, in order: what its handler said, and what happened to it. The latter are not
-- stored but read off the job, its attempts, its lease and its outcome, each of which carries its number.
-- for: api, worker, readonly
create or replace function leasehold.events_since(p_job uuid, p_after integer default 0, p_limit integer default 1000)
returns table (seq integer, type text, message text, progress real, data jsonb, at timestamptz)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_tenant uuid := leasehold.current_tenant();
begin
  return query
    select 1, case when run_at > created_at then 'scheduled' else 'queued' end, null::text, null::real,
      jsonb_build_object('run_at', run_at), created_at
    from leasehold.job where job_id = p_job and tenant_id = v_tenant and p_after < 1
    union all
    select started_seq, 'started', null, null, jsonb_build_object('attempt', attempt, 'worker_id', worker_id), started_at
    from leasehold.lease where job_id = p_job and tenant_id = v_tenant and started_seq > p_after
    union all
    select started_seq, 'started', null, null, jsonb_build_object('attempt', attempt, 'worker_id', worker_id), started_at
    from leasehold.attempt where job_id = p_job and tenant_id = v_tenant and started_seq > p_after
    union all
    select finished_seq, outcome, error ->> 'message', null, jsonb_strip_nulls(jsonb_build_object('attempt', attempt, 'error', error)), finished_at
    from leasehold.attempt_row a where job_id = p_job and tenant_id = v_tenant and finished_seq > p_after
      and not exists (select from leasehold.outcome o where o.job_id = a.job_id and o.seq = a.finished_seq)
    union all
    select o.seq, o.state, coalesce(o.error, a.error) ->> 'message', null,
      jsonb_strip_nulls(jsonb_build_object('attempt', a.attempt, 'error', coalesce(o.error, a.error))), o.finished_at
    from leasehold.outcome o left join lateral leasehold.attempts_of(o.job_id) a on a.finished_seq = o.seq
    where o.job_id = p_job and o.tenant_id = v_tenant and o.seq > p_after
    union all
    select seq, type, message, progress, data, at
    from leasehold.event where job_id = p_job and tenant_id = v_tenant and seq > p_after
    order by 1
    limit p_limit;
end
$$;
