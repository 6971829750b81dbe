-- End attempts, whatever their end. Whoever deletes the lease row by its token decides: the tokens that come back were
-- accepted, the others were fenced (their lease had been taken) and nothing was written for them.
--
--   outcome    counts as attempt   the job is then
--   succeeded  yes                 succeeded
--   failed     yes                 failed: a permanent error
--   errored    yes                 scheduled after its back-off, or dead when its attempts are used up
--   lost       yes                 queued again, or dead when its attempts are used up
--   snoozed    no                  scheduled after the delay given
--   released   no                  queued again, or scheduled after the delay given
--   canceled   yes                 canceled
--
-- p_outcomes may be null: all succeeded. p_delays: seconds; null for errored means the job's own back-off. A job whose
-- cancel was requested ends canceled unless it succeeded or failed by itself.
-- for: worker
create or replace function leasehold.finish(
  p_tokens bigint[], p_outcomes text[], p_results jsonb[], p_errors jsonb[], p_delays double precision[]
) returns bigint[]
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_mergejoin = off
set enable_indexscan = on set enable_nestloop = on set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  c_outcomes constant text[] := array['succeeded', 'failed', 'errored', 'lost', 'snoozed', 'released', 'canceled'];
  v_now      timestamptz := leasehold.now();
  v_accepted bigint[];
  v_goes_on  leasehold.deferred[];
  v_leave    uuid[];
  v_failed   uuid[];
  v_bound    uuid[];
begin
  if p_outcomes is null and p_results is null and p_errors is null and p_delays is null then
    return leasehold.finish_plainly(p_tokens);
  end if;
  if not p_outcomes <@ c_outcomes then
    raise exception 'an outcome is one of %', array_to_string(c_outcomes, ', ') using errcode = 'LH400';
  end if;
  if 315576000 < any(p_delays) then  -- not a number is above all numbers, and is refused too
    raise exception 'a delay is at most ten years' using errcode = 'LH400';
  end if;

  with gone as (
    -- by their tokens in order, so that two who end the same ones do not wait for each other crosswise
    delete from leasehold.lease l using (
      select token, coalesce(outcome, 'succeeded') as outcome, result, error, delay_s
      from unnest(p_tokens, p_outcomes, p_results, p_errors, p_delays) g(token, outcome, result, error, delay_s)
      order by token
    ) g
    where l.token = g.token
    returning
      l.token, l.job_id, l.tenant_id, l.lane, l.worker_id, l.attempt, l.max_attempts, l.events, l.started_seq, l.started_at,
      l.cancel_requested, l.bound, l.xid as started_xid, g.outcome, g.result, g.error, g.delay_s as asked_s
  ),
  ended as materialized (
    select
      gone.*,
      case
        when outcome in ('succeeded', 'failed', 'canceled') then outcome
        when cancel_requested then 'canceled'
        when outcome in ('errored', 'lost') and attempt >= max_attempts then 'dead'
      end as state,
      case
        when asked_s is not null then greatest(asked_s, 0)
        when outcome = 'errored' then leasehold.backoff(job_id, attempt)
        else 0
      end as delay_s,
      case when outcome in ('snoozed', 'released') then attempt - 1 else attempt end as counted
    from gone
  ),
  attempts as (
    insert into leasehold.attempt_row (
      job_id, token, tenant_id, attempt, worker_id, started_at, finished_at, outcome, error, started_seq, finished_seq,
      started_xid, xid
    )
    select
      job_id, token, tenant_id, attempt, worker_id, started_at, v_now, outcome, error, started_seq, events + 1,
      started_xid, (select pg_current_xact_id()::text::bigint)  -- asked once for all rows, unlike the column's default
    from ended where outcome <> 'succeeded' or error is not null
  ),
  outcomes as (
    insert into leasehold.outcome (
      job_id, tenant_id, state, finished_at, result, result_ref, seq, xid,
      token, attempt, worker_id, started_at, started_seq, started_xid
    )
    select
      e.job_id, e.tenant_id, e.state, v_now,
      case when pg_column_size(e.result) <= 65536 then e.result end,
      case when pg_column_size(e.result) > 65536 then leasehold.put_json(e.tenant_id, e.result) end,
      e.events + 1, (select pg_current_xact_id()::text::bigint),
      a.token, a.attempt, a.worker_id, a.started_at, a.started_seq, a.started_xid
    from ended e left join lateral (select e.* where e.outcome = 'succeeded' and e.error is null) a on true
    where e.state is not null
  )
  select
    array_agg(token),
    array_agg(
      row(
        v_now + make_interval(secs => delay_s), job_id, tenant_id, lane, counted, max_attempts, events + 1, outcome, bound
      )::leasehold.deferred
    ) filter (where state is null),
    array_agg(job_id) filter (where bound and state is not null),
    array_agg(job_id) filter (where bound and state in ('failed', 'dead')),
    array_agg(job_id) filter (where bound)
  into v_accepted, v_goes_on, v_leave, v_failed, v_bound
  from ended;

  -- Few attempts leave their job unfinished, so these are statements of their own. Deleting the leases gave the
  -- transaction its id, before the clocks are read here: see enqueue.
  if v_goes_on is not null then
    insert into leasehold.deferred select * from unnest(v_goes_on) where run_at > v_now;
    insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
    select lane, leasehold.lane_clock(lane) + 1, job_id, tenant_id, attempt, max_attempts, events, bound
    from unnest(v_goes_on) where run_at <= v_now;
  end if;
  if v_leave is not null then
    perform leasehold.after_leave(v_leave, coalesce(v_failed, '{}'));
  end if;
  if v_bound is not null then
    perform leasehold.after_finish(coalesce(v_leave, '{}'), v_bound, v_accepted);
  end if;
  return coalesce(v_accepted, '{}');
end
$$;
