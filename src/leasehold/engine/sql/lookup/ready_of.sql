-- Where a job stands in ready, for whoever has just its id: see ready_at. Inlined as that one is.
-- internal
-- settings: none
create or replace function leasehold.ready_of(p_job uuid)
returns table (spot tid, lane integer, pass bigint, attempt smallint, max_attempts smallint, events integer)
language sql stable as $$
  select r.* from (
    -- a range in the order of the primary key, for the reason that stands in ready_at
    select j.job_id, j.queue, j.priority, j.pass from leasehold.job j
    where j.job_id >= p_job and j.job_id <= p_job
    order by j.job_id limit 1
  ) j
  cross join lateral leasehold.ready_at(j.job_id, j.queue, j.priority, j.pass) r
$$;
