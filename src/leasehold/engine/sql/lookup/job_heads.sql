-- How far each of these jobs is: the number of its newest event, and whether it has ended. One look for all streams of a
-- process, of whichever tenants; it tells nothing else, and a stream was opened by its tenant before.
create or replace function leasehold.job_heads(p_jobs uuid[]) returns table (job_id uuid, seq integer, ended boolean)
language sql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
  select w.job_id, w.events, w.place = 'outcome' from leasehold.whereabouts(p_jobs) w
$$;

revoke all on function leasehold.job_heads(uuid[]) from public;
grant execute on function leasehold.job_heads(uuid[]) to leasehold_api;
