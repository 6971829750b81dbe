-- An endpoint of the current tenant, locked; LH404 for one that is another's or never was.
-- internal
create or replace function leasehold.require_endpoint(p_endpoint uuid) returns leasehold.endpoint
language plpgsql as $$
declare
  v_tenant   uuid := leasehold.current_tenant();
  v_endpoint leasehold.endpoint;
begin
  select * into v_endpoint from leasehold.endpoint where endpoint_id = p_endpoint and tenant_id = v_tenant for no key update;
  if not found then
    raise exception 'there is no endpoint %', p_endpoint using errcode = 'LH404', hint = 'leasehold webhooks list';
  end if;
  return v_endpoint;
end
$$;
