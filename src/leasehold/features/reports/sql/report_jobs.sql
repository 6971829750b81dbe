-- For reports: jobs that the current tenant asked for in this time, oldest first. Filter: kind, queue, state.
-- for: worker
-- settings: custom plan
create or replace function leasehold.report_jobs(
  p_from timestamptz, p_to timestamptz, p_filter jsonb, p_after uuid default null, p_limit integer default 1000
) returns setof leasehold.report_line
language sql stable as $$
  select j.job_id, jsonb_build_object(
    'job_id', j.job_id, 'kind', j.kind, 'queue', j.queue, 'state', j.state, 'attempts', coalesce(a.attempt, 0),
    'created_at', j.created_at, 'started_at', a.started_at, 'finished_at', j.finished_at,
    'error', left(coalesce(j.error, a.error) ->> 'message', 500)
  )
  from (
    select
      j.job_id, j.kind, j.queue, j.created_at, o.finished_at, o.error,
      coalesce(o.state, (select w.state from leasehold.whereabouts_at(j.job_id, j.queue, j.priority, j.pass, j.job_id, j.job_id) w)) as state
    from leasehold.job j left join leasehold.outcome o on o.job_id = j.job_id
    where j.tenant_id = leasehold.current_tenant()
      and j.job_id >= leasehold.first_id_of_day(p_from) and j.job_id < leasehold.first_id_of_day(p_to)
      and j.job_id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
      and j.kind = coalesce(p_filter ->> 'kind', j.kind) and j.queue = coalesce(p_filter ->> 'queue', j.queue)
  ) j
  left join lateral (
    select attempt, started_at, case when outcome <> 'succeeded' then error end as error
    from leasehold.attempt where job_id = j.job_id order by token desc limit 1
  ) a on true
  where j.state = coalesce(p_filter ->> 'state', j.state)
  order by j.job_id limit p_limit
$$;
