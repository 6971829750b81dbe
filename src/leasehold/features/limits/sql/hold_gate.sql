-- Let nobody pass a gate of the current tenant for so many seconds. Logged.
-- for: api, worker, operator
create or replace function leasehold.hold_gate(p_gate text, p_seconds double precision) returns void
language plpgsql as $$
declare
  v_terms leasehold.gate_terms := leasehold.own_gate(p_gate);
  v_now   timestamptz := leasehold.now();
begin
  if p_seconds is null or p_seconds not between 0 and 2592000 then
    raise exception 'a gate is held for at most thirty days' using errcode = 'LH400';
  end if;
  insert into leasehold.gate_word (gate_id, started_at, at, held_until)
  values (v_terms.gate_id, v_now, v_now, v_now + make_interval(secs => p_seconds));
  perform leasehold.log_action(v_terms.tenant_id, 'gate.hold', p_gate, jsonb_build_object('seconds', p_seconds));
end
$$;
