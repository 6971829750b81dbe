-- Where a job stands in ready, for whoever has just its id: see ready_at. Inlined as that one is.
create or replace function leasehold.ready_of(p_job uuid)
returns table (spot tid, lane integer, pass bigint, attempt smallint, max_attempts smallint, events integer)
language sql stable
as $$
  select r.* from leasehold.job j cross join lateral leasehold.ready_at(j.job_id, j.queue, j.priority, j.pass) r
  where j.job_id = p_job
$$;

revoke all on function leasehold.ready_of(uuid) from public;
