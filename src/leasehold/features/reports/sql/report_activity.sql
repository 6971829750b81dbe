-- For reports: attempts of the current tenant that ended in this time, by day, kind and outcome. Filter: kind, queue.
-- for: worker
create or replace function leasehold.report_activity(
  p_from timestamptz, p_to timestamptz, p_filter jsonb, p_after uuid default null, p_limit integer default 1000
) returns setof leasehold.report_line
language sql stable as $$
  select null::uuid, jsonb_build_object(
    'day', day, 'kind', kind, 'outcome', outcome, 'attempts', sum(n),
    'mean_wait_ms', round(sum(wait_ms)::numeric / sum(n)), 'mean_run_ms', round(sum(run_ms)::numeric / sum(n))
  )
  from (
    select to_char(minute at time zone 'UTC', 'YYYY-MM-DD') as day, s.kind, s.outcome, s.n, s.wait_ms, s.run_ms
    from leasehold.stat s
    where s.tenant_id = leasehold.current_tenant() and s.minute >= p_from and s.minute < p_to
      and s.kind = coalesce(p_filter ->> 'kind', s.kind) and s.queue = coalesce(p_filter ->> 'queue', s.queue)
  ) by_day
  where p_after is null
  group by day, kind, outcome order by day, kind, outcome
$$;
