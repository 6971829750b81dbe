-- Of these locked ready rows of a lane (p_owners has the tenant of each), kept may start now, at
-- the moment starts_at: bells are answered by the jobs that they rang for, and what a limit holds
-- back leaves the lane. So many are parked; busy are rows that another claim decides about.
-- internal
-- settings: inherited
create or replace function leasehold.hold_back(
  p_rows tid[], p_owners uuid[], p_bound boolean, p_bells boolean, p_limited boolean,
  p_lane integer, p_floor bigint, p_slots bigint,
  out kept tid[], out busy tid[], out parked integer, out starts_at timestamptz
)
language plpgsql as $$
declare
  v_tenants uuid[];
  v_early   tid[];
  v_one     record;
begin
  kept := p_rows;
  busy := '{}';
  parked := 0;
  if p_bound then
    perform set_config('leasehold.moves_rows', 'on', true);  -- see exchange
  end if;
  if p_bells then
    kept := kept || leasehold.admit(kept, p_lane, p_floor);
    -- bells that are still there must wait: another transaction is at their group or gate
    busy := array(select r.ctid from leasehold.ready r where r.ctid = any(kept) and r.attempt < 0);
    select coalesce(array_agg(r.ctid), '{}'), array_agg(r.tenant_id) into kept, p_owners
    from leasehold.ready r where r.ctid = any(kept) and r.attempt >= 0;
    if kept = '{}' then
      return;
    end if;
  end if;

  -- a tenant that may run as many as all workers together can run needs no counting
  v_tenants := array(select tenant_id from leasehold.tenant where tenant_id = any(p_owners) and may_run < p_slots);
  if v_tenants <> '{}' then
    v_one := leasehold.park_over_limit(kept, p_owners, v_tenants);
    kept := v_one.kept;
    parked := v_one.parked;
  end if;
  if p_limited then
    v_one := leasehold.park_by_kind(kept);
    kept := v_one.kept;
    busy := busy || v_one.busy;
    parked := parked + v_one.parked;
  end if;

  -- now that nothing is waited for: whoever reads the history sees no limit passed
  starts_at := leasehold.now();
  if p_bound then
    v_early := leasehold.keep_order(kept);
    v_one := leasehold.pass_gates(array(select r from unnest(kept) r where r <> all(v_early)), p_lane, p_floor);
    kept := v_one.kept;
    busy := busy || v_early || v_one.busy;
    starts_at := v_one.starts_at;
  end if;
end
$$;
