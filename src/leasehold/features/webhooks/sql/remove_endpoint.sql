-- Remove an endpoint of the current tenant with its secrets and the history of its deliveries. Logged.
create or replace function leasehold.remove_endpoint(p_endpoint uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint leasehold.endpoint := leasehold.own_endpoint(p_endpoint);
begin
  delete from leasehold.endpoint where endpoint_id = p_endpoint;
  perform leasehold.log_action(v_endpoint.tenant_id, 'endpoint.remove', p_endpoint::text);
end
$$;

revoke all on function leasehold.remove_endpoint(uuid) from public;
grant execute on function leasehold.remove_endpoint(uuid) to leasehold_api, leasehold_operator;
