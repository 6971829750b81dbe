-- The schedules of all tenants whose next tick has come, with what a program needs to compute the ticks after it, and the
-- moment that it is. Writes nothing and locks nothing.
-- for: worker
create or replace function leasehold.due_schedules(p_limit integer)
returns table (
  schedule_id uuid, tenant_id uuid, name text, revision integer, next_at timestamptz, cron text, every_s integer,
  at timestamptz, zone text, starts_at timestamptz, ends_at timestamptz, catch_up text, catch_up_max integer, now timestamptz
)
language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := leasehold.now();
begin
  return query
  select
    s.schedule_id, s.tenant_id, s.name, s.revision, s.next_at, s.cron, s.every_s, s.at, s.zone, s.starts_at, s.ends_at,
    s.catch_up, s.catch_up_max, v_now
  from leasehold.schedule s
  where not s.paused and s.next_at <= v_now
  order by s.next_at
  limit p_limit;
end
$$;
