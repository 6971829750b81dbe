-- Take up to p_n jobs from these queues under leases of this worker. Each grant carries a fencing token.
-- for: worker
create or replace function leasehold.claim(p_worker uuid, p_queues text[], p_n integer) returns setof leasehold.granted
language plpgsql as $$
begin
  return query select * from leasehold.exchange(p_worker, p_queues, p_n, '{}', null, null, null, null);
end
$$;
