-- Cancel a flow of the current tenant: what has not started never will, what runs is asked to end. Says what became of it:
-- canceled, requested (something still runs), or how it had ended before. Logged.
-- for: api, worker
-- settings: index
create or replace function leasehold.cancel_flow(p_flow uuid, p_reason text default null) returns text
language plpgsql as $$
declare
  v_flow leasehold.flow := leasehold.require_flow(p_flow);
begin
  if v_flow.state <> 'running' then
    return v_flow.state;
  end if;
  perform leasehold.log_action(v_flow.tenant_id, 'flow.cancel', p_flow::text, jsonb_build_object('reason', p_reason));
  insert into leasehold.stop (flow_id, state, reason) values (p_flow, 'canceled', coalesce(p_reason, 'the flow was canceled'));
  perform leasehold.stop_flow(p_flow);
  return (select case state when 'running' then 'requested' else state end from leasehold.flow where flow_id = p_flow);
end
$$;
