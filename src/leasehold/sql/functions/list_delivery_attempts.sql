-- What was sent for a delivery of the current tenant and what came back, oldest first.
create or replace function leasehold.list_delivery_attempts(p_delivery uuid) returns setof leasehold.delivery_attempt
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select * from leasehold.delivery_attempt
  where delivery_id = p_delivery and tenant_id = leasehold.current_tenant() order by n
$$;

revoke all on function leasehold.list_delivery_attempts(uuid) from public;
grant execute on function leasehold.list_delivery_attempts(uuid) to leasehold_api, leasehold_operator;
