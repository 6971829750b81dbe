-- Give a running attempt of a remote worker until p_seconds from now: see extend.
-- for: api, operator
create or replace function leasehold.remote_extend(p_worker uuid, p_key text, p_token bigint, p_seconds double precision)
returns timestamptz
language plpgsql
set enable_seqscan = off set enable_indexscan = on set jit = off
as $$
begin
  perform leasehold.require_worker(p_worker, p_key);
  perform from leasehold.lease where token = p_token and worker_id = p_worker;
  if not found then
    raise exception 'the lease with token % is gone', p_token using errcode = 'LH410';
  end if;
  return leasehold.extend(p_token, p_seconds);
end
$$;
