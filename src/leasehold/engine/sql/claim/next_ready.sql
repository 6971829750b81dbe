-- The rows of a lane whose turn it is, locked until the transaction ends, so that their places
-- (ctid) hold: from p_start on, at most p_n, without those in p_not; of all tenants, or of one.
-- bound: some have a group, a gate or a flow. bells: some are bells. carried: all have a copy of
-- what a worker is given.
-- internal
-- settings: inherited
create or replace function leasehold.next_ready(
  p_lane integer, p_start bigint, p_tenant uuid, p_not tid[], p_n integer,
  out rows tid[], out owners uuid[], out top bigint, out bound boolean, out bells boolean,
  out carried boolean
)
language plpgsql as $$
begin
  -- Arrays, because a join with the limited subquery may be planned so that the limit is applied
  -- anew for every row.
  if p_tenant is null then
    select array_agg(r.ctid), array_agg(r.tenant_id), max(r.pass), bool_or(r.bound), bool_or(r.attempt < 0),
      bool_and(r.kind is not null)
    into rows, owners, top, bound, bells, carried
    from (
      select r.ctid, r.tenant_id, r.pass, r.bound, r.attempt, r.kind from leasehold.ready r
      where r.lane = p_lane and r.pass >= p_start and r.ctid <> all(p_not)
      order by r.pass
      limit p_n
      for update skip locked
    ) r;
  else
    select array_agg(r.ctid), array_agg(r.tenant_id), max(r.pass), bool_or(r.bound), bool_or(r.attempt < 0),
      bool_and(r.kind is not null)
    into rows, owners, top, bound, bells, carried
    from (
      select r.ctid, r.tenant_id, r.pass, r.bound, r.attempt, r.kind from leasehold.ready r
      where r.lane = p_lane and r.ctid <> all(p_not)
        -- why a range: see newest_turns
        and (r.tenant_id, r.pass) >= (p_tenant, p_start) and (r.tenant_id, r.pass) <= (p_tenant, 9223372036854775807)
      order by r.tenant_id, r.pass nulls first
      limit p_n
      for update skip locked
    ) r;
  end if;
end
$$;
