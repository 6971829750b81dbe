-- The newest flows that match, newest first: one row with their ids and how far was looked, or none; see find_jobs.
-- For a tenant its own flows, for the operator all.
-- for: api, operator
create or replace function leasehold.find_flows(
  p_state text default null, p_before uuid default null, p_limit integer default 50, p_window integer default 1000
) returns table (flows uuid[], looked_to uuid)
language plpgsql stable
set plan_cache_mode = force_custom_plan
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  v_tenant uuid := leasehold.tenant_filter();
  v_last   uuid;
  v_looked bigint;
begin
  if p_state not in ('running', 'succeeded', 'failed', 'canceled') then
    raise exception 'a flow is running, succeeded, failed or canceled, not %', quote_literal(p_state) using errcode = 'LH400';
  end if;
  select
    coalesce((array_agg(f.flow_id order by f.flow_id desc) filter (where p_state is null or f.state = p_state))[1:p_limit], '{}'),
    count(*), (array_agg(f.flow_id order by f.flow_id))[1]
  into flows, v_looked, v_last
  from (
    select f.flow_id, f.state from leasehold.flow f
    where f.flow_id < coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff') and (v_tenant is null or f.tenant_id = v_tenant)
    order by f.flow_id desc
    limit p_window
  ) f;
  looked_to := case when cardinality(flows) = p_limit then flows[p_limit] when v_looked = p_window then v_last end;
  if cardinality(flows) > 0 or looked_to is not null then
    return next;
  end if;
end
$$;
