-- Where these jobs are, for whoever has just their ids: see whereabouts_at. Of one that is gone there is no row.
-- internal
-- settings: none
create or replace function leasehold.whereabouts(p_jobs uuid[])
returns table (
  job_id uuid, place text, state text, attempt smallint, max_attempts smallint, events integer, until timestamptz,
  started_at timestamptz, cancel_requested boolean
)
language sql stable as $$
  select j.job_id, w.*
  from unnest(p_jobs) u(job_id)
  cross join lateral (
    -- a range in the order of the primary key, for the reason that stands in ready_at
    select j.job_id, j.queue, j.priority, j.pass from leasehold.job j
    where j.job_id >= u.job_id and j.job_id <= u.job_id
    order by j.job_id limit 1
  ) j
  cross join lateral leasehold.whereabouts_at(
    j.job_id, j.queue, j.priority, j.pass, j.job_id, j.job_id
  ) w
$$;
