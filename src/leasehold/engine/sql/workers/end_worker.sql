-- A worker leaves in good order: what it still holds goes back without a counted attempt.
-- for: worker
create or replace function leasehold.end_worker(p_worker uuid) returns integer
language plpgsql
set enable_seqscan = off set enable_indexscan = on set jit = off
as $$
declare
  v_tokens bigint[] := leasehold.list_leases(p_worker);
begin
  update leasehold.worker set ended_at = leasehold.now() where worker_id = p_worker and ended_at is null;
  perform leasehold.release_leadership(p_worker);
  return cardinality(leasehold.finish(v_tokens, array_fill('released'::text, array[cardinality(v_tokens)]), null, null, null));
end
$$;
