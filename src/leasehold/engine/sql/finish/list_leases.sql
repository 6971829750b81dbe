-- The tokens of a worker's leases. A worker whose connection broke while it claimed asks which grants it never saw.
-- for: worker
create or replace function leasehold.list_leases(p_worker uuid) returns bigint[]
language plpgsql stable
set enable_seqscan = off set enable_indexscan = on set jit = off
as $$
declare
  v_floor bigint := pg_sequence_last_value('leasehold.token_floor');
begin
  return array(select token from leasehold.lease where worker_id = p_worker and token >= v_floor order by token);
end
$$;
