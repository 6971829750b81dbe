-- Give a running attempt until p_seconds from now (and the margin that claim gives too). Refused when its lease is gone or its deadline has passed.
-- for: worker
-- settings: index
create or replace function leasehold.extend(p_token bigint, p_seconds double precision) returns timestamptz
language plpgsql as $$
declare
  v_now      timestamptz := leasehold.now();
  v_deadline timestamptz;
begin
  if p_seconds is null or p_seconds not between 0 and 604800 then
    raise exception 'an attempt is extended by at most one week, not % s', p_seconds using errcode = 'LH400';
  end if;
  update leasehold.lease set deadline = greatest(deadline, v_now + make_interval(secs => p_seconds + 30))
  where token = p_token and deadline > v_now returning deadline into v_deadline;
  if not found then
    raise exception 'the lease with token % is gone', p_token using errcode = 'LH410';
  end if;
  return v_deadline;
end
$$;
