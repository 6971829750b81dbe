-- Remove an endpoint of the current tenant with its secrets and the history of its deliveries. Logged.
-- for: api, operator
create or replace function leasehold.remove_endpoint(p_endpoint uuid) returns void
language plpgsql as $$
declare
  v_endpoint leasehold.endpoint := leasehold.require_endpoint(p_endpoint);
begin
  delete from leasehold.endpoint where endpoint_id = p_endpoint;
  perform leasehold.log_action(v_endpoint.tenant_id, 'endpoint.remove', p_endpoint::text);
end
$$;
