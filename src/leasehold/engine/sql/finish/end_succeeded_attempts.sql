-- The branch of finish for what is reported most: attempts that all succeeded, with nothing to keep. Returns the tokens that were
-- accepted, and the jobs that have a group, a gate or a flow, as end_attempts does.
-- internal
-- settings: inherited
create or replace function leasehold.end_succeeded_attempts(
  p_tokens bigint[], out accepted bigint[], out bound uuid[], out leave uuid[], out failed uuid[]
)
language plpgsql as $$
#variable_conflict use_column
declare
  v_now timestamptz := leasehold.now();
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
  select array_agg(token), array_agg(job_id) filter (where bound), array_agg(job_id) filter (where bound)
  into accepted, bound, leave from gone;
end
$$;
