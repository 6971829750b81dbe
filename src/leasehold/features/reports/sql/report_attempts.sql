-- For reports: attempts of the jobs that the current tenant asked for in this time, p_limit jobs at a time. Filter: kind,
-- queue, state (the outcome of the attempt).
-- for: worker
-- settings: custom plan
create or replace function leasehold.report_attempts(
  p_from timestamptz, p_to timestamptz, p_filter jsonb, p_after uuid default null, p_limit integer default 1000
) returns setof leasehold.report_line
language sql stable as $$
  select a.job_id, jsonb_build_object(
    'job_id', a.job_id, 'kind', j.kind, 'attempt', a.attempt, 'outcome', a.outcome, 'started_at', a.started_at,
    'finished_at', a.finished_at, 'run_ms', round(extract(epoch from a.finished_at - a.started_at) * 1000),
    'error', left(a.error ->> 'message', 500)
  )
  from (
    select j.job_id, j.kind from leasehold.job j
    where j.tenant_id = leasehold.current_tenant()
      and j.job_id >= leasehold.first_id_of_day(p_from) and j.job_id < leasehold.first_id_of_day(p_to)
      and j.job_id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
      and j.kind = coalesce(p_filter ->> 'kind', j.kind) and j.queue = coalesce(p_filter ->> 'queue', j.queue)
      and exists (
        select from leasehold.attempts_of(j.job_id) a where a.outcome = coalesce(p_filter ->> 'state', a.outcome)
      )
    order by j.job_id limit p_limit
  ) j
  cross join lateral leasehold.attempts_of(j.job_id) a where a.outcome = coalesce(p_filter ->> 'state', a.outcome)
  order by a.job_id, a.token
$$;
