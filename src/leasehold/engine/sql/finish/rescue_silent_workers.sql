-- Take the leases of workers that fell silent, end them as lost, and return how many. A worker that beats in the same
-- moment holds its row's lock: then it is alive and left alone.
-- for: worker
create or replace function leasehold.rescue_silent_workers() returns integer
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_indexscan = on set enable_nestloop = on set jit = off
as $$
declare
  v_now     timestamptz := leasehold.now();
  v_floor   bigint := pg_sequence_last_value('leasehold.token_floor');
  v_workers uuid[];
  v_tokens  bigint[];
begin
  v_workers := array(
    select worker_id from leasehold.worker
    where ended_at is null and beat_at < v_now - make_interval(secs => lease_s)
    order by worker_id
    for update skip locked
  );
  if v_workers = '{}' then
    return 0;
  end if;
  update leasehold.worker set ended_at = v_now where worker_id = any(v_workers);
  v_tokens := array(select token from leasehold.lease where token >= v_floor and worker_id = any(v_workers) order by token);
  return leasehold.lose(v_tokens);
end
$$;
