-- Send an endpoint of the current tenant what it has missed since a moment: deliveries that failed, and events that it
-- would have got had it not been disabled. Returns how many; they leave with the next calls of collect_job_events. Logged.
-- for: api, operator
create or replace function leasehold.recover_deliveries(p_endpoint uuid, p_since timestamptz) returns integer
language plpgsql as $$
declare
  v_endpoint leasehold.endpoint := leasehold.require_endpoint(p_endpoint);
  v_failed   integer;
  v_missed   integer;
begin
  if v_endpoint.state = 'disabled' then
    raise exception 'endpoint % is disabled: %', p_endpoint, v_endpoint.reason
      using errcode = 'LH409', hint = format('leasehold webhooks resume %s', p_endpoint);
  end if;
  update leasehold.delivery d set state = 'pending', job_id = null, reason = null, ended_at = null, sending_until = null
  from leasehold.webhook_event v
  where d.endpoint_id = p_endpoint and v.event_id = d.event_id and v.occurred_at >= p_since
    and (d.state = 'failed' or d.state = 'pending' and exists (select from leasehold.outcome o where o.job_id = d.job_id));
  get diagnostics v_failed = row_count;
  insert into leasehold.delivery (delivery_id, tenant_id, event_id, endpoint_id, state, created_at)
  select leasehold.new_id(leasehold.micros(leasehold.now())), v.tenant_id, v.event_id, p_endpoint, 'pending', leasehold.now()
  from leasehold.webhook_event v
  where v.tenant_id = v_endpoint.tenant_id and v.occurred_at >= greatest(p_since, v_endpoint.created_at)
    and leasehold.endpoint_wants(v_endpoint.events, v.type) and v.type <> 'endpoint.test'
  on conflict do nothing;
  get diagnostics v_missed = row_count;
  perform leasehold.log_action(
    v_endpoint.tenant_id, 'endpoint.recover', p_endpoint::text, jsonb_build_object('since', p_since, 'deliveries', v_failed + v_missed));
  return v_failed + v_missed;
end
$$;
