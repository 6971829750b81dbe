-- Claim up to p_n jobs of a lane, in rounds: where jobs are held back there may be more behind
-- them. p_tenant: the only one that the worker serves. p_slots: those of all workers. p_limited:
-- some kinds are limited.
-- internal
-- settings: inherited
create or replace function leasehold.claim_lane(
  p_worker uuid, p_tenant uuid, p_slots bigint, p_limited boolean,
  p_lane integer, p_queue text, p_clock regclass, p_floor bigint, p_start bigint, p_n integer
) returns setof leasehold.granted
language plpgsql as $$
declare
  v_next    record;
  v_held    record;
  v_rows    tid[];
  v_at      timestamptz;
  v_parked  integer;
  v_busy    tid[] := '{}';   -- rows that stay where they are: they are for another claim
  v_got     integer := 0;
  v_too_few boolean;
  v_bells   boolean := false;
begin
  for v_round in 1..10 loop
    v_next := leasehold.next_ready(p_lane, p_start, p_tenant, v_busy, p_n - v_got);
    v_rows := v_next.rows;
    v_too_few := p_start > p_floor and coalesce(cardinality(v_rows), 0) < p_n - v_got;
    if v_too_few or v_next.bound then
      p_start := p_floor;
    end if;
    continue when v_rows is null and v_too_few;
    exit when v_rows is null;
    -- Now, so that the next claim passes these over. A worker of one tenant leaves the clock as it
    -- is: others' jobs may stand before those that it takes, and must not seem to be late.
    if p_tenant is null then
      perform leasehold.advance_lane_clock(p_clock, v_next.top);
    end if;
    v_parked := 0;
    v_at := leasehold.now();
    if v_next.bound or p_limited or exists (
      select from leasehold.tenant where tenant_id = any(v_next.owners) and may_run < p_slots
    ) then
      v_held := leasehold.before_claim(
        v_rows, v_next.owners, v_next.bound, v_next.bells, p_limited, p_lane, p_floor, p_slots
      );
      v_rows := v_held.kept;
      v_at := v_held.starts_at;
      v_parked := v_held.parked;
      v_busy := v_busy || v_held.busy;
      v_bells := v_bells or v_next.bells;
      continue when v_rows = '{}' and v_next.bells;
    end if;
    if v_next.carried then
      return query select * from leasehold.grant_carried_leases(p_worker, p_lane, p_queue, v_rows, v_at);
    else
      return query select * from leasehold.grant_leases(p_worker, p_lane, p_queue, v_rows, v_at, v_next.bound);
    end if;
    v_got := v_got + cardinality(v_rows);
    -- where groups have moved, they may have rung
    exit when v_parked = 0 and not v_next.bound and not v_too_few or v_got >= p_n;
  end loop;
  if v_bells then
    perform leasehold.restore_lane_order(p_lane, p_floor);
  end if;
end
$$;
