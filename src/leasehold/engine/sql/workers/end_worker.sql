-- A worker leaves in good order: what it still holds goes back without a counted attempt.
create or replace function leasehold.end_worker(p_worker uuid) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_indexscan = on set jit = off
as $$
declare
  v_tokens bigint[] := leasehold.list_leases(p_worker);
begin
  update leasehold.worker set ended_at = leasehold.now() where worker_id = p_worker and ended_at is null;
  perform leasehold.drop_duties(p_worker);
  return cardinality(leasehold.finish(v_tokens, array_fill('released'::text, array[cardinality(v_tokens)]), null, null, null));
end
$$;

revoke all on function leasehold.end_worker(uuid) from public;
grant execute on function leasehold.end_worker(uuid) to leasehold_worker;
