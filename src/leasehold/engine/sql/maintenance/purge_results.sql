-- Remove results of jobs that ended more than p_result_days ago, at most about p_limit; returns how
-- many.
-- internal
-- settings: no jit
create or replace function leasehold.purge_results(p_result_days integer, p_limit integer) returns integer
language plpgsql as $$
declare
  v_now   timestamptz := leasehold.now();
  v_day   date;
  v_from  uuid;
  v_to    uuid;
  v_n     integer;
  v_total integer := 0;
begin
  for v_day in
    select day from leasehold.day
    where not results_purged and day < (v_now at time zone 'UTC')::date - p_result_days order by day limit 100 for update skip locked
  loop
    v_from := leasehold.first_id_of_day(v_day::timestamp at time zone 'UTC');
    v_to := leasehold.first_id_of_day((v_day + 1)::timestamp at time zone 'UTC');
    update leasehold.outcome set result = null, result_ref = null where job_id in (
      select job_id from leasehold.outcome
      where job_id >= v_from and job_id < v_to and (result is not null or result_ref is not null)
        and finished_at < v_now - make_interval(days => p_result_days)
        and not exists (  -- a flow that goes on may ask for it
          select from leasehold.step s join leasehold.waiting w on w.job_id = s.flow_id where s.job_id = outcome.job_id
        )
      limit p_limit
    );
    get diagnostics v_n = row_count;
    v_total := v_total + v_n;
    -- The day is that of the enqueue: a job that ran much later still has its result, or does not have one yet.
    update leasehold.day set results_purged = true
    where day = v_day and leasehold.unfinished_jobs(v_from, v_to) = '{}' and not exists (
      select from leasehold.outcome
      where job_id >= v_from and job_id < v_to and (result is not null or result_ref is not null)
    );
    exit when v_n = p_limit;
  end loop;
  return v_total;
end
$$;
