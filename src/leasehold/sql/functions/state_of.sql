-- Where a job is now. A job is in one place at a time, so the order of the looks does not matter.
create or replace function leasehold.state_of(p_job uuid) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (select state from leasehold.outcome where job_id = p_job),
    (select 'running' from leasehold.lease where job_id = p_job),
    (select 'queued' from leasehold.ready_of(p_job)),
    (select 'queued' from leasehold.parked where job_id = p_job),
    (select 'scheduled' from leasehold.deferred where job_id = p_job),
    (select 'blocked' from leasehold.blocked where job_id = p_job),
    (select 'blocked' from leasehold.waiting where job_id = p_job),
    (select 'blocked' from leasehold.gated where job_id = p_job)
  )
$$;

revoke all on function leasehold.state_of(uuid) from public;
