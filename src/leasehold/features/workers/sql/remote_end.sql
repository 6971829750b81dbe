-- A remote worker leaves in good order: what it still holds goes back without a counted attempt. Returns how many.
-- for: api, operator
create or replace function leasehold.remote_end(p_worker uuid, p_key text) returns integer
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(7511, hashtext(p_worker::text));  -- after a claim that is under way
  perform leasehold.require_worker(p_worker, p_key);
  return leasehold.end_worker(p_worker);
end
$$;
