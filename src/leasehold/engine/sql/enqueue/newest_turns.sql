-- For each of these tenants: its stride, and the pass of the newest job that it has waiting in the lane, or the clock.
-- internal
create or replace function leasehold.newest_turns(p_tenants uuid[], p_lane integer, p_clock bigint)
returns table (tenant_id uuid, stride integer, pass bigint)
language plpgsql stable as $$
#variable_conflict use_column
begin
  -- A range of (tenant, pass) instead of "tenant =": only one index has that order. With an equality, statistics that
  -- know one big tenant choose the other index, and a small tenant's enqueue walks the big one's backlog.
  return query
    select t.tenant_id, t.stride, greatest(p_clock, (
      select r.pass from leasehold.ready r
      where r.lane = p_lane and (r.tenant_id, r.pass) > (t.tenant_id, p_clock) and (r.tenant_id, r.pass) <= (t.tenant_id, 9223372036854775807)
      order by r.tenant_id desc, r.pass desc nulls last limit 1
    ))
    from leasehold.tenant t where t.tenant_id = any(p_tenants);
end
$$;
