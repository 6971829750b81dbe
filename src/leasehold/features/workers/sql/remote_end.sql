-- A remote worker leaves in good order: what it still holds goes back without a counted attempt. Returns how many.
create or replace function leasehold.remote_end(p_worker uuid, p_key text) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(7511, hashtext(p_worker::text));  -- after a claim that is under way
  perform leasehold.own_worker(p_worker, p_key);
  return leasehold.end_worker(p_worker);
end
$$;

revoke all on function leasehold.remote_end(uuid, text) from public;
grant execute on function leasehold.remote_end(uuid, text) to leasehold_api, leasehold_operator;
