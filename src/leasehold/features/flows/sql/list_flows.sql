-- The newest flows of the current tenant, newest first; p_before is the last id of the page before.
-- for: api, worker, readonly
-- settings: custom plan
create or replace function leasehold.list_flows(
  p_state text default null, p_name text default null, p_before uuid default null, p_limit integer default 50
) returns setof leasehold.flow_view
language plpgsql stable as $$
declare
  v_tenant uuid := leasehold.current_tenant();
begin
  if p_state not in ('running', 'succeeded', 'failed', 'canceled') then
    raise exception 'a flow is running, succeeded, failed or canceled, not %', quote_literal(p_state) using errcode = 'LH400';
  end if;
  return query
    select (leasehold.view_flow(f, false)).* from (
      select * from leasehold.flow f
      where f.tenant_id = v_tenant and f.flow_id < coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
        and (p_state is null or f.state = p_state) and (p_name is null or f.name = p_name)
      order by f.flow_id desc limit least(greatest(p_limit, 1), 1000)
    ) f;
end
$$;
