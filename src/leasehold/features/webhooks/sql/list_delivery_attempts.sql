-- What was sent for a delivery of the current tenant and what came back, oldest first; LH404 for one that is another's or never was.
-- for: api, operator
create or replace function leasehold.list_delivery_attempts(p_delivery uuid) returns setof leasehold.delivery_attempt
language plpgsql stable as $$
declare
  v_tenant uuid := leasehold.current_tenant();
begin
  if not exists (select from leasehold.delivery where delivery_id = p_delivery and tenant_id = v_tenant) then
    raise exception 'there is no delivery %', p_delivery using errcode = 'LH404', hint = 'leasehold webhooks deliveries';
  end if;
  return query select * from leasehold.delivery_attempt where delivery_id = p_delivery and tenant_id = v_tenant order by n;
end
$$;
