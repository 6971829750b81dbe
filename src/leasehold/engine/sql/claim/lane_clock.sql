-- The virtual time of a lane. Whoever places something after it has a transaction id before it asks: see enqueue.
create or replace function leasehold.clock(p_lane integer) returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select pg_sequence_last_value(clock) from leasehold.lane where lane = p_lane);
end
$$;

revoke all on function leasehold.clock(integer) from public;
