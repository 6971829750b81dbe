-- How far each of these jobs is: the number of its newest event, and whether it has ended. One look for all streams of a
-- process, of whichever tenants; it tells nothing else, and a stream was opened by its tenant before.
-- for: api
create or replace function leasehold.job_heads(p_jobs uuid[]) returns table (job_id uuid, seq integer, ended boolean)
language sql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
  select w.job_id, w.events, w.place = 'outcome' from leasehold.whereabouts(p_jobs) w
$$;
