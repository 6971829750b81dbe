-- Take or keep a duty for a while: true for the one worker that has it. Two with the same duty would harm nothing, so
-- this saves work, not correctness.
-- for: worker
create or replace function leasehold.acquire_leadership(p_duty text, p_worker uuid, p_seconds double precision) returns boolean
language plpgsql as $$
declare
  v_now timestamptz := leasehold.now();
begin
  insert into leasehold.duty as d (duty, worker_id, until) values (p_duty, p_worker, v_now + make_interval(secs => p_seconds))
  on conflict (duty) do update set worker_id = excluded.worker_id, until = excluded.until
  where d.worker_id = excluded.worker_id or d.until < v_now;
  return found;
end
$$;
