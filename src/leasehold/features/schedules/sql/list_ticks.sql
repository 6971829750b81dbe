-- What became of the newest ticks of a schedule of the current tenant, newest first. A hundred are kept.
-- for: api, worker, readonly
create or replace function leasehold.list_ticks(p_name text, p_limit integer default 100)
returns table (tick_at timestamptz, outcome text, job_id uuid, detail text, at timestamptz)
language sql stable as $$
  select t.tick_at, t.outcome, t.job_id, t.detail, t.at
  from leasehold.schedule s join leasehold.tick t on t.schedule_id = s.schedule_id
  where s.tenant_id = leasehold.current_tenant() and s.name = p_name and s.removed_at is null
  order by t.tick_at desc limit least(greatest(p_limit, 1), 100)
$$;
