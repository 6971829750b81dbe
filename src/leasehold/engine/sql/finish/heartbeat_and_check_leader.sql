-- "I am alive", and: does anybody lead? So the workers that sleep notice with their next beat that the leader has died.
-- for: worker
create or replace function leasehold.heartbeat_and_check_leader(p_worker uuid, out cancel bigint[], out is_led boolean)
language plpgsql
set enable_seqscan = off set enable_indexscan = on set jit = off
as $$
begin
  cancel := leasehold.heartbeat(p_worker);
  is_led := exists (select from leasehold.duty where duty = 'leader' and until >= leasehold.now());
end
$$;
