-- End attempts for finish, in whatever way each ended: who deletes the lease decides. Returns the tokens that were accepted, and
-- of the jobs with a group, a gate or a flow all (bound), those that have ended (leave), and those that ended badly (failed).
-- internal
-- settings: inherited
create or replace function leasehold.end_attempts(
  p_tokens bigint[], p_outcomes text[], p_results jsonb[], p_errors jsonb[], p_delays double precision[],
  out accepted bigint[], out bound uuid[], out leave uuid[], out failed uuid[]
)
language plpgsql as $$
#variable_conflict use_column
declare
  v_now     timestamptz := leasehold.now();
  v_goes_on leasehold.deferred[];
begin
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
  into accepted, v_goes_on, leave, failed, bound
  from ended;
  if v_goes_on is not null then
    perform leasehold.requeue_unfinished_jobs(v_goes_on, v_now);
  end if;
end
$$;
