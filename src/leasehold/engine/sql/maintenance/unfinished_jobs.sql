-- The jobs of a range of ids that wait or run, and all steps of flows that have not ended. It reads all of ready: rows that are
-- placed are in no index of jobs.
-- internal
create or replace function leasehold.unfinished_jobs(p_from uuid, p_to uuid) returns uuid[]
language sql stable as $$
  select array(
    select job_id from leasehold.ready where job_id >= p_from and job_id < p_to
    union select job_id from leasehold.parked where job_id >= p_from and job_id < p_to
    union select job_id from leasehold.deferred where job_id >= p_from and job_id < p_to
    union select job_id from leasehold.blocked where job_id >= p_from and job_id < p_to
    union select job_id from leasehold.gated where job_id >= p_from and job_id < p_to
    union select job_id from leasehold.waiting where job_id >= p_from and job_id < p_to
    union select s.job_id from leasehold.waiting w  -- what its children may still ask for
    join leasehold.step s on s.flow_id = w.job_id where w.what = 'end' and s.job_id >= p_from and s.job_id < p_to
    union select job_id from leasehold.lease where job_id >= p_from and job_id < p_to
  )
$$;
