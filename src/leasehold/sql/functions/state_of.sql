-- Where a job is now. A job is in one place at a time, so the order of the looks does not matter.
create or replace function leasehold.state_of(p_job uuid) returns text
language plpgsql stable  -- not sql: planned once
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_indexscan = on set enable_nestloop = on set jit = off
as $$
begin
  return coalesce(
    (select state from leasehold.outcome where job_id = p_job),
    (select 'running' from leasehold.lease where job_id = p_job),
    (select 'queued' from leasehold.ready_of(p_job)),
    (select 'queued' from leasehold.parked where job_id = p_job),
    (select 'scheduled' from leasehold.deferred where job_id = p_job),
    (select 'blocked' from leasehold.blocked where job_id = p_job),
    (select 'blocked' from leasehold.waiting where job_id = p_job),
    (select 'blocked' from leasehold.gated where job_id = p_job)
  );
end
$$;

revoke all on function leasehold.state_of(uuid) from public;
