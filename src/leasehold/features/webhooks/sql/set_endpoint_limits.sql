-- How fast and in which order an endpoint of the current tenant is sent its events: at most so many a minute (null: as
-- many as it answers), and in their order or not. Logged.
-- for: api, operator
create or replace function leasehold.set_endpoint_limits(p_endpoint uuid, p_max_per_minute integer, p_ordered boolean) returns void
language plpgsql as $$
declare
  v_endpoint leasehold.endpoint := leasehold.require_endpoint(p_endpoint);
begin
  update leasehold.endpoint set max_per_minute = p_max_per_minute, ordered = p_ordered where endpoint_id = p_endpoint;
  perform leasehold.log_action(
    v_endpoint.tenant_id, 'endpoint.limit', p_endpoint::text,
    jsonb_build_object('max_per_minute', p_max_per_minute, 'ordered', p_ordered)
  );
exception when check_violation or not_null_violation then
  raise exception 'an endpoint takes 1 to 60000 deliveries a minute, in their order or not' using errcode = 'LH400';
end
$$;
