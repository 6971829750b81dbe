-- Send an event of type endpoint.test to one endpoint of the current tenant, whatever it wants; the delivery's id.
-- for: api, operator
create or replace function leasehold.test_endpoint(p_endpoint uuid) returns uuid
language plpgsql as $$
declare
  v_endpoint leasehold.endpoint := leasehold.require_endpoint(p_endpoint);
  v_now      timestamptz := leasehold.now();
  v_event    uuid := leasehold.new_id(leasehold.micros(v_now));
  v_delivery uuid := leasehold.new_id(leasehold.micros(v_now));
begin
  if v_endpoint.state <> 'enabled' then
    raise exception 'endpoint % is %', p_endpoint, v_endpoint.state
      using errcode = 'LH409', hint = format('leasehold webhooks resume %s', p_endpoint);
  end if;
  insert into leasehold.webhook_event (event_id, tenant_id, type, subject_type, subject_id, occurred_at, data)
  values (v_event, v_endpoint.tenant_id, 'endpoint.test', 'endpoint', p_endpoint::text, v_now, '{"message": "It works."}');
  insert into leasehold.delivery (delivery_id, tenant_id, event_id, endpoint_id, state, created_at)
  values (v_delivery, v_endpoint.tenant_id, v_event, p_endpoint, 'pending', v_now);
  perform leasehold.send_deliveries(array[v_delivery]);
  return v_delivery;
end
$$;
