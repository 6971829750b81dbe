-- Let jobs whose attempt left them unfinished wait for their next: for a time, or in their lane. Deleting their leases gave the
-- transaction its id, before the lanes' clocks are read here: see insert_job_rows.
-- internal
-- settings: inherited
create or replace function leasehold.requeue_unfinished_jobs(p_jobs leasehold.deferred[], p_now timestamptz) returns void
language plpgsql as $$
begin
  insert into leasehold.deferred (run_at, job_id, tenant_id, lane, attempt, max_attempts, events, why, bound)
  select run_at, job_id, tenant_id, lane, attempt, max_attempts, events, why, bound from unnest(p_jobs) where run_at > p_now;
  insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
  select lane, leasehold.lane_clock(lane) + 1, job_id, tenant_id, attempt, max_attempts, events, bound
  from unnest(p_jobs) where run_at <= p_now;
end
$$;
