-- "I am alive", said by a remote worker that holds these tokens. Tells which of them it should cancel, and which are not
-- its own any more. A worker that was silent too long is told so (LH411).
-- for: api, operator
create or replace function leasehold.remote_beat(p_worker uuid, p_key text, p_held bigint[], out cancel bigint[], out lost bigint[])
language plpgsql
set enable_seqscan = off set enable_indexscan = on set jit = off
as $$
begin
  perform leasehold.require_worker(p_worker, p_key);
  cancel := leasehold.heartbeat(p_worker);
  lost := array(
    select h from unnest(p_held) h
    where not exists (select from leasehold.lease l where l.token = h and l.worker_id = p_worker)
  );
end
$$;
