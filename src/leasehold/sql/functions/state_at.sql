-- Where a job is now, by what the job itself says: see ready_at. A job is in one place at a time, so the order of the looks does
-- not matter.
create or replace function leasehold.state_at(p_job uuid, p_queue text, p_priority smallint, p_pass bigint) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (select state from leasehold.outcome where job_id = p_job),
    (select 'running' from leasehold.lease where job_id = p_job),
    (select 'queued' from leasehold.ready_at(p_job, p_queue, p_priority, p_pass)),
    (select 'queued' from leasehold.parked where job_id = p_job),
    (select 'scheduled' from leasehold.deferred where job_id = p_job),
    (select 'blocked' from leasehold.blocked where job_id = p_job),
    (select 'blocked' from leasehold.waiting where job_id = p_job),
    (select 'blocked' from leasehold.gated where job_id = p_job)
  )
$$;

revoke all on function leasehold.state_at(uuid, text, smallint, bigint) from public;
