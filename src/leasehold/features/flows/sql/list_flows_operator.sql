-- These flows as a person wants to see them, newest first, without counts: those of the tenant, or all for the operator.
-- for: api, operator
create or replace function leasehold.list_flows_operator(p_flows uuid[]) returns setof leasehold.flow_view
language plpgsql stable
set plan_cache_mode = force_custom_plan
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  v_tenant uuid := leasehold.tenant_filter();
begin
  return query
    select v.*
    from leasehold.flow f cross join lateral leasehold.view_flow(f, false) v
    where f.flow_id = any(p_flows) and (v_tenant is null or f.tenant_id = v_tenant)
    order by f.flow_id desc;
end
$$;
