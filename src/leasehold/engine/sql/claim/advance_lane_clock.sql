-- Move a lane's clock forward, never back. The lock dies with the subtransaction that is aborted here; setval
-- survives it. (Without the lock, four sessions moved a clock back 492 times in 80,000.)
-- internal
create or replace function leasehold.advance_lane_clock(p_clock regclass, p_to bigint) returns void
language plpgsql as $$
begin
  if pg_sequence_last_value(p_clock) >= p_to then
    return;
  end if;
  begin
    perform pg_advisory_xact_lock(7501, p_clock::oid::integer);
    if pg_sequence_last_value(p_clock) < p_to then
      perform setval(p_clock, p_to);
    end if;
    raise exception using errcode = 'LH001';
  exception when sqlstate 'LH001' then
    null;
  end;
end
$$;
