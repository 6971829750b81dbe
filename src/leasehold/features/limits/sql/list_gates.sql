-- The gates of the current tenant by name, from p_after on, or the one that is asked for: those that have let a job through,
-- and the rules, also those of classes and those that all tenants share; see view_gate.
-- for: api, worker, operator, readonly
-- settings: custom plan
create or replace function leasehold.list_gates(
  p_gate text default null, p_after text default '', p_limit integer default 1000, p_bound integer default 1000
) returns setof leasehold.gate_view
language plpgsql stable as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_limit  integer := least(p_limit, 1000);
begin
  if p_gate is not null then
    return next leasehold.view_gate(v_tenant, p_gate, p_bound);
    return;
  end if;
  return query
    select v.*
    from (
      select n.gate
      from (
        (select gate from leasehold.gate_rule where tenant_id = v_tenant and gate > p_after order by gate limit v_limit)
        union
        (select gate from leasehold.gate_rule where tenant_id is null and gate > p_after order by gate limit v_limit)
        union
        (select gate from leasehold.gate_now where tenant_id = v_tenant and gate > p_after order by gate limit v_limit)
      ) n
      order by n.gate
      limit v_limit
    ) n
    cross join lateral leasehold.view_gate(v_tenant, n.gate, p_bound) v
    order by v.gate;
end
$$;
