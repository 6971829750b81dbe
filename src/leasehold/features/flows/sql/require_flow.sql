-- A flow of the current tenant; LH404 for one that is another's or never was.
-- internal
create or replace function leasehold.require_flow(p_flow uuid) returns leasehold.flow
language plpgsql stable as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_flow   leasehold.flow;
begin
  select * into v_flow from leasehold.flow where flow_id = p_flow and tenant_id = v_tenant;
  if not found then
    raise exception 'there is no flow %', p_flow using errcode = 'LH404', hint = 'leasehold flows list';
  end if;
  return v_flow;
end
$$;
