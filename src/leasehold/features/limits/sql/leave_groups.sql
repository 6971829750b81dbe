-- These jobs have ended, or go away: they give their places back, but for those whose group waits for a person when they
-- are dead or failed. Rings for the next, whether or not somebody waits: without the group's lock nobody can tell.
-- internal
-- settings: ordered
create or replace function leasehold.leave_groups(p_jobs uuid[], p_failed uuid[]) returns void
language plpgsql as $$
begin
  with gone as (
    delete from leasehold.place
    where job_id = any(p_jobs) and not (group_hold and job_id = any(p_failed))
    returning group_id, tenant_id, lane
  ),
  next as materialized (  -- in the lane and the turn of the next, as far as we can see
    select g.group_id, g.tenant_id, coalesce(b.lane, g.lane) as lane, b.pass
    from gone g left join lateral (
      select lane, pass from leasehold.blocked where group_id = g.group_id order by group_id, seq limit 1
    ) b on true
  ),
  clock as materialized (
    select lane, leasehold.lane_clock(lane) as clock from (select distinct lane from next) l
  )
  insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
  select n.lane, greatest(c.clock + 1, n.pass), leasehold.bell(n.group_id), n.tenant_id, -1, 0, 0, true
  from next n join clock c on c.lane = n.lane;
end
$$;
