-- The job that could run and has waited longest, or no row: of the tenant, or of all for the operator. Among jobs of one
-- tenant and lane the turn is the age.
create or replace function leasehold.oldest_waiting()
returns table (job_id uuid, kind text, queue text, waits_since timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
#variable_conflict use_column
declare
  v_next uuid[] := leasehold.ready_ids(leasehold.seen_tenant(), 50);
begin
  return query
    select j.job_id, j.kind, j.queue, j.run_at
    from leasehold.job j
    where j.job_id = any(v_next)
    order by j.run_at
    limit 1;
end
$$;

revoke all on function leasehold.oldest_waiting() from public;
grant execute on function leasehold.oldest_waiting() to leasehold_api, leasehold_operator;
