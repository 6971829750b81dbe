-- "I am alive": one row for each worker, however many leases it holds. Returns the tokens it should cancel.
-- A worker that was silent too long is told so (LH411): its leases are gone, it must stop its attempts.
-- for: worker
create or replace function leasehold.heartbeat(p_worker uuid) returns bigint[]
language plpgsql
set enable_seqscan = off set enable_indexscan = on set jit = off
as $$
begin
  update leasehold.worker set beat_at = leasehold.now() where worker_id = p_worker and ended_at is null;
  if not found then
    raise exception 'worker % is not registered, or was declared lost', p_worker using errcode = 'LH411';
  end if;
  return array(select token from leasehold.lease where worker_id = p_worker and cancel_requested);
end
$$;
