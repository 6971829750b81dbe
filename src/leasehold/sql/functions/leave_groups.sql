-- These jobs have ended, or go away: they give their places back, but for those whose group waits for a person when they
-- are dead or failed. Rings for the next, whether or not somebody waits: without the group's lock nobody can tell.
create or replace function leasehold.leave_groups(p_jobs uuid[], p_failed uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_indexscan = on set jit = off
as $$
begin
  with gone as (
    delete from leasehold.place
    where job_id = any(p_jobs) and not (group_hold and job_id = any(p_failed))
    returning group_id, tenant_id, lane
  )
  insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
  select g.lane, leasehold.clock(g.lane) + 1, leasehold.bell(g.group_id), g.tenant_id, -1, 0, 0, true
  from (
    select group_id, tenant_id, coalesce((  -- best in the lane of the next, as far as we can see
      select b.lane from leasehold.blocked b where b.group_id = gone.group_id order by b.group_id, b.seq limit 1
    ), lane) as lane
    from gone
  ) g;
end
$$;

revoke all on function leasehold.leave_groups(uuid[], uuid[]) from public;
