-- Send a delivery of the current tenant now: again if it has ended, or without waiting for its next attempt. The receiver
-- sees the same event id. Logged.
-- for: api, operator
create or replace function leasehold.resend_delivery(p_delivery uuid) returns void
language plpgsql as $$
declare
  v_tenant   uuid := leasehold.current_tenant();
  v_delivery leasehold.delivery;
  v_endpoint leasehold.endpoint;
begin
  select * into v_delivery from leasehold.delivery where delivery_id = p_delivery and tenant_id = v_tenant;
  if not found then
    raise exception 'there is no delivery %', p_delivery using errcode = 'LH404', hint = 'leasehold webhooks deliveries';
  end if;
  v_endpoint := leasehold.require_endpoint(v_delivery.endpoint_id);
  if v_endpoint.state <> 'enabled' then
    raise exception 'the endpoint is %', v_endpoint.state
      using errcode = 'LH409', hint = format('leasehold webhooks resume %s', v_endpoint.endpoint_id);
  end if;
  perform leasehold.log_action(v_tenant, 'delivery.resend', p_delivery::text);
  update leasehold.endpoint set resting_until = null where endpoint_id = v_endpoint.endpoint_id and resting_until is not null;
  if v_delivery.state = 'pending' and v_delivery.job_id is not null
    and not exists (select from leasehold.outcome where job_id = v_delivery.job_id)
  then
    perform leasehold.reschedule(v_delivery.job_id, leasehold.now());
    return;
  end if;
  update leasehold.delivery set state = 'pending', job_id = null, reason = null, ended_at = null where delivery_id = p_delivery;
  perform leasehold.send_deliveries(array[p_delivery]);
end
$$;
