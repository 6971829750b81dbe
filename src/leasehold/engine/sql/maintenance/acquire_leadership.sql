-- Take or keep a duty for a while: true for the one worker that has it. Two with the same duty would harm nothing, so
-- this saves work, not correctness.
create or replace function leasehold.take_duty(p_duty text, p_worker uuid, p_seconds double precision) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := leasehold.now();
begin
  insert into leasehold.duty as d (duty, worker_id, until) values (p_duty, p_worker, v_now + make_interval(secs => p_seconds))
  on conflict (duty) do update set worker_id = excluded.worker_id, until = excluded.until
  where d.worker_id = excluded.worker_id or d.until < v_now;
  return found;
end
$$;

revoke all on function leasehold.take_duty(text, uuid, double precision) from public;
grant execute on function leasehold.take_duty(text, uuid, double precision) to leasehold_worker;
