-- Fill stat for the minutes that ended since the last call, and the two before them once more (an attempt's end may be
-- committed a little after its time). Charts read stat, never the history.
-- for: worker
-- settings: no jit
create or replace function leasehold.roll_up_job_counts() returns integer
language plpgsql as $$
declare
  v_to   timestamptz := date_trunc('minute', leasehold.now());
  v_from timestamptz;
  v_n    integer;
begin
  perform pg_advisory_xact_lock(7507);
  -- after a long silence at most a day is made up for
  v_from := greatest(coalesce((select max(minute) from leasehold.stat), '-infinity') - interval '2 minutes', v_to - interval '1 day');
  delete from leasehold.stat where minute >= v_from;
  insert into leasehold.stat (minute, tenant_id, queue, kind, outcome, n, wait_ms, run_ms)
  select
    date_trunc('minute', a.finished_at), a.tenant_id, j.queue, j.kind, a.outcome, count(*),
    sum(greatest(extract(epoch from a.started_at - j.run_at), 0) * 1000)::bigint,
    sum(extract(epoch from a.finished_at - a.started_at) * 1000)::bigint
  from leasehold.attempt a join leasehold.job j on j.job_id = a.job_id
  where a.finished_at >= v_from and a.finished_at < v_to
  group by 1, 2, 3, 4, 5;
  get diagnostics v_n = row_count;
  return v_n;
end
$$;
