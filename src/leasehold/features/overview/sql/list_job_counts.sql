-- Attempts that ended within the last so many minutes, by minute, kind and outcome: what charts are drawn from. Of many
-- tenants at once the newest p_most rows are read. For a tenant its own, for the operator all.
-- for: api, operator
-- settings: read
create or replace function leasehold.list_job_counts(p_minutes integer default 60, p_most integer default 4000)
returns table (minute timestamptz, kind text, outcome text, n bigint, wait_ms bigint, run_ms bigint)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_tenant uuid := leasehold.tenant_filter();
  v_to     timestamptz := date_trunc('minute', leasehold.now());
begin
  return query
    select s.minute, s.kind, s.outcome, sum(s.n)::bigint, sum(s.wait_ms)::bigint, sum(s.run_ms)::bigint
    from (
      select s.*
      from generate_series(v_to, v_to - make_interval(mins => least(p_minutes, 1440)), interval '-1 minute') m
      -- one look for each minute: the other tenants' rows of that minute are not walked
      cross join lateral (
        select * from leasehold.stat s where s.minute = m and (v_tenant is null or s.tenant_id = v_tenant)
      ) s
      limit p_most
    ) s
    group by s.minute, s.kind, s.outcome;
end
$$;
