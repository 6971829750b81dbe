-- Remove tickets that have expired, so many at most; returns how many.
-- for: worker, operator
create or replace function leasehold.purge_tickets(p_limit integer default 5000) returns integer
language plpgsql as $$
declare
  v_n integer;
begin
  delete from leasehold.ticket where ctid = any(array(
    select ctid from leasehold.ticket where expires_at < leasehold.now() limit p_limit
  ));
  get diagnostics v_n = row_count;
  return v_n;
end
$$;
