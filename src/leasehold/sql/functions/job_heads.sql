-- How far each of these jobs is: the number of its newest event, and whether it has ended. One look for all streams of a
-- process, of whichever tenants; it tells nothing else, and a stream was opened by its tenant before.
create or replace function leasehold.job_heads(p_jobs uuid[]) returns table (job_id uuid, seq integer, ended boolean)
language sql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
  select u.job_id, coalesce(o.seq, l.events, d.events, r.events, p.events, b.events, w.events), o.job_id is not null
  from unnest(p_jobs) u(job_id)
  left join leasehold.outcome o on o.job_id = u.job_id
  left join leasehold.lease l on l.job_id = u.job_id
  left join leasehold.deferred d on d.job_id = u.job_id
  left join lateral leasehold.ready_of(u.job_id) r on true
  left join leasehold.parked p on p.job_id = u.job_id
  left join leasehold.blocked b on b.job_id = u.job_id
  left join leasehold.waiting w on w.job_id = u.job_id and w.what <> 'end'
  where coalesce(o.seq, l.events, d.events, r.events, p.events, b.events, w.events) is not null
$$;

revoke all on function leasehold.job_heads(uuid[]) from public;
grant execute on function leasehold.job_heads(uuid[]) to leasehold_api;
