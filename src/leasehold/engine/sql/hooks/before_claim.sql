-- Of these locked ready rows of a lane (p_owners has the tenant of each), kept may start now, at the
-- moment starts_at. So many have left the lane (parked); busy stay, for another claim.
-- internal
-- settings: inherited
create or replace function leasehold.before_claim(
  p_rows tid[], p_owners uuid[], p_bound boolean, p_bells boolean, p_limited boolean,
  p_lane integer, p_floor bigint, p_slots bigint,
  out kept tid[], out busy tid[], out parked integer, out starts_at timestamptz
)
language plpgsql as $$
declare
  v_held record;
begin
  v_held := leasehold.hold_back(
    p_rows, p_owners, p_bound, p_bells, p_limited, p_lane, p_floor, p_slots
  );
  kept := v_held.kept;
  busy := v_held.busy;
  parked := v_held.parked;
  starts_at := v_held.starts_at;
end
$$;
