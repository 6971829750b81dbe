-- Pause an endpoint of the current tenant, or enable it, which also forgets its failures. What comes while it is paused
-- waits for it; what comes while it is disabled can be had with recover_deliveries. Logged.
-- for: api, operator
create or replace function leasehold.set_endpoint_state(p_endpoint uuid, p_state text, p_reason text default null) returns void
language plpgsql as $$
declare
  v_endpoint leasehold.endpoint := leasehold.require_endpoint(p_endpoint);
begin
  if p_state is null or p_state not in ('enabled', 'paused') then
    raise exception 'an endpoint can be enabled or paused, not %', quote_nullable(p_state) using errcode = 'LH400';
  end if;
  update leasehold.endpoint set
    state = p_state, reason = case when p_state = 'paused' then p_reason end, state_at = leasehold.now(),
    answers = false, failing_since = null, failures = 0, resting_until = null, next_slot = null, paced_at = null
  where endpoint_id = p_endpoint;
  perform leasehold.log_action(
    v_endpoint.tenant_id, case p_state when 'paused' then 'endpoint.pause' else 'endpoint.resume' end, p_endpoint::text,
    jsonb_strip_nulls(jsonb_build_object('was', v_endpoint.state, 'reason', p_reason))
  );
end
$$;
