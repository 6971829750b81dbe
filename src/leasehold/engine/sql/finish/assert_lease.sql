-- Make sure, until the end of the transaction, that this token's lease is ours: what is written with it is written under
-- the token, or not at all. A reaper that wants the lease meanwhile waits.
-- for: worker
-- settings: index
create or replace function leasehold.assert_lease(p_token bigint) returns void
language plpgsql as $$
begin
  perform from leasehold.lease where token = p_token for update;
  if not found then
    raise exception 'the lease with token % is gone', p_token using errcode = 'LH410';
  end if;
end
$$;
