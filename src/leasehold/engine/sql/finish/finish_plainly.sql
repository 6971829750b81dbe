-- What finish does, for what is reported most: attempts that all succeeded, and left nothing to keep.
-- internal
create or replace function leasehold.finish_plainly(p_tokens bigint[]) returns bigint[]
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_mergejoin = off
set enable_indexscan = on set enable_nestloop = on set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now      timestamptz := leasehold.now();
  v_accepted bigint[];
  v_bound    uuid[];
begin
  with gone as (
    -- the index gives them in the order of their tokens: see finish
    delete from leasehold.lease l where l.token = any(p_tokens)
    returning
      l.token, l.job_id, l.tenant_id, l.worker_id, l.attempt, l.events, l.started_seq, l.started_at, l.bound, l.xid as started_xid
  ),
  outcomes as (
    insert into leasehold.outcome (
      job_id, tenant_id, state, finished_at, seq, xid, token, attempt, worker_id, started_at, started_seq, started_xid
    )
    select
      job_id, tenant_id, 'succeeded', v_now, events + 1, (select pg_current_xact_id()::text::bigint),
      token, attempt, worker_id, started_at, started_seq, started_xid
    from gone
  )
  select array_agg(token), array_agg(job_id) filter (where bound) into v_accepted, v_bound from gone;
  if v_bound is not null then
    perform leasehold.leave_groups(v_bound, '{}');
    perform leasehold.update_flow_of_ended_jobs(v_bound);
    perform leasehold.tell_gates(v_bound, v_accepted);
  end if;
  return coalesce(v_accepted, '{}');
end
$$;
