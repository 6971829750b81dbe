-- These jobs have just started. Where their group may have more than one at once, ring for the next: its bell may have been
-- answered in vain because they had a place and had not started.
-- internal
create or replace function leasehold.ring_next(p_jobs uuid[]) returns void
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_indexscan = on set jit = off
as $$
begin
  insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
  select p.lane, greatest(leasehold.lane_clock(p.lane) + 1, b.pass), leasehold.bell(p.group_id), p.tenant_id, -1, 0, 0, true
  from leasehold.place p
  join leasehold.lease l on l.job_id = p.job_id and l.attempt = 1
  left join lateral (
    select pass from leasehold.blocked where group_id = p.group_id order by group_id, seq limit 1
  ) b on true
  where p.job_id = any(p_jobs) and p.group_limit > 1;
end
$$;
