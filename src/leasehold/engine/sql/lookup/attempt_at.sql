-- Which attempt of a job said the event of this number.
-- internal
create or replace function leasehold.attempt_at(p_job uuid, p_seq integer) returns smallint
language sql stable as $$
  select attempt from leasehold.attempt where job_id = p_job and p_seq between started_seq and finished_seq
  union all
  select attempt from leasehold.lease where job_id = p_job and p_seq > started_seq
  limit 1
$$;
