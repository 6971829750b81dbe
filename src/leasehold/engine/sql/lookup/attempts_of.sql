-- The ended attempts of a job, for joins. The offset keeps the planner from joining the view itself, all of which it would read.
-- internal
-- settings: none
create or replace function leasehold.attempts_of(p_job uuid) returns setof leasehold.attempt
language sql stable rows 1 as $$ select * from leasehold.attempt where job_id = p_job offset 0 $$;
