-- The virtual time of a lane. Whoever places something after it has a transaction id before it asks: see enqueue.
-- internal
create or replace function leasehold.lane_clock(p_lane integer) returns bigint
language plpgsql volatile as $$
begin
  return (select pg_sequence_last_value(clock) from leasehold.lane where lane = p_lane);
end
$$;
