-- Attempts that ended within the last so many minutes, by minute, kind and outcome: what charts are drawn from. Of many
-- tenants at once the newest p_most rows are read. For a tenant its own, for the operator all.
create or replace function leasehold.read_stat(p_minutes integer default 60, p_most integer default 4000)
returns table (minute timestamptz, kind text, outcome text, n bigint, wait_ms bigint, run_ms bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
#variable_conflict use_column
declare
  v_tenant uuid := leasehold.seen_tenant();
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

revoke all on function leasehold.read_stat(integer, integer) from public;
grant execute on function leasehold.read_stat(integer, integer) to leasehold_api, leasehold_operator;
