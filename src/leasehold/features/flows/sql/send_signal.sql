-- Send a signal to the step of the current tenant that waits for this name and key; kept until one does. Without a key it is
-- for the steps of a flow that gave none: their key is the flow's id. Logged. Returns whether a step has taken it already.
-- for: api, worker
-- settings: index
create or replace function leasehold.send_signal(p_name text, p_key text, p_payload jsonb default '{}') returns boolean
language plpgsql as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_signal uuid := leasehold.new_id(leasehold.micros(leasehold.now()));
begin
  perform leasehold.check_signal(p_name, p_key);
  if p_key is null then
    raise exception 'a signal needs a key' using errcode = 'LH400', hint = 'that which the step waits for, or the id of its flow';
  end if;
  if p_payload is null or pg_column_size(p_payload) > 65536 then
    raise exception 'the payload of a signal is JSON of at most 64 kB' using errcode = 'LH413', hint = 'send a reference';
  end if;
  perform leasehold.check_tenants(array[v_tenant]);
  insert into leasehold.signal (signal_id, tenant_id, name, key, payload, sent_at)
  values (v_signal, v_tenant, p_name, p_key, p_payload, leasehold.now());
  perform leasehold.log_action(v_tenant, 'signal.send', p_name, jsonb_build_object('key', p_key));
  perform leasehold.update_flow_of_ended_jobs(leasehold.deliver_signals(array(
    select job_id from leasehold.waiting where what = 'signal' and (tenant_id, signal, key) = (v_tenant, p_name, p_key) limit 1
  )));
  return not exists (select from leasehold.signal where signal_id = v_signal);
end
$$;
