-- Make sure, until the end of the transaction, that this token's lease is ours: what is written with it is written under
-- the token, or not at all. A reaper that wants the lease meanwhile waits.
create or replace function leasehold.hold(p_token bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off
as $$
begin
  perform from leasehold.lease where token = p_token for update;
  if not found then
    raise exception 'the lease with token % is gone', p_token using errcode = 'LH410';
  end if;
end
$$;

revoke all on function leasehold.hold(bigint) from public;
grant execute on function leasehold.hold(bigint) to leasehold_worker;
