-- How many versions of the batteries of a bulk are in which state.
-- for: api, worker
create or replace function pack.count_states(p_base uuid) returns table (state text, n bigint)
language sql stable
as $$
  select v.state, count(*)
  from pack.version v
  join pack.snapshot s using (tenant_id, snapshot_id)
  where s.base_id = p_base
  group by v.state
$$;
