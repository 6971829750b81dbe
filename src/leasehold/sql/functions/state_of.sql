-- Where a job is now, for whoever has just its id; null for one that is gone.
create or replace function leasehold.state_of(p_job uuid) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$ select leasehold.state_at(job_id, queue, priority, pass) from leasehold.job where job_id = p_job $$;

revoke all on function leasehold.state_of(uuid) from public;
