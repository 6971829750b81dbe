-- Where a job stands in ready, by what the job itself says: one row, or none. The only way to look for a row by its job: see
-- the table ready. Plain SQL without settings, so that it is inlined into its caller.
-- internal
-- settings: none
create or replace function leasehold.ready_at(p_job uuid, p_queue text, p_priority smallint, p_pass bigint)
returns table (spot tid, lane integer, pass bigint, attempt smallint, max_attempts smallint, events integer)
language sql stable as $$
  select r.spot, r.lane, r.pass, r.attempt, r.max_attempts, r.events
  from leasehold.lane l cross join lateral (
    -- A range in the order of the primary key, which no other index has: by equality a plan that was made while ready was
    -- empty may choose another one, and walk the lane.
    select r.ctid as spot, r.lane, r.pass, r.attempt, r.max_attempts, r.events, r.placed from leasehold.ready r
    where (r.lane, r.pass, r.job_id) >= (l.lane, p_pass, p_job) and (r.lane, r.pass, r.job_id) <= (l.lane, p_pass, p_job)
    order by r.lane, r.pass, r.job_id limit 1
  ) r
  where l.queue = p_queue and l.priority = p_priority and p_pass is not null and r.placed
  union all
  select r.ctid, r.lane, r.pass, r.attempt, r.max_attempts, r.events from leasehold.ready r where r.job_id = p_job and not r.placed
$$;
