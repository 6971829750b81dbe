-- Forget what was said of a gate: its breaker is closed, and nothing holds it. Whoever waits asks again. Logged.
-- internal
create or replace function leasehold.calm_gate(p_terms leasehold.gate_terms) returns void
language plpgsql as $$
declare
  v_now  timestamptz;
  v_gate leasehold.gate_now;
begin
  perform pg_advisory_xact_lock(7508, hashint8(p_terms.gate_id));
  v_now := leasehold.now();
  delete from leasehold.gate_word where gate_id = p_terms.gate_id;
  v_gate := leasehold.gate_state(p_terms, v_now);
  v_gate.state := 'closed';
  v_gate.since := v_now;
  v_gate.window_at := v_now;
  v_gate.starts := 0;
  v_gate.before_at := v_now;
  v_gate.before := 0;
  perform leasehold.keep_gates(array[v_gate]);
  perform leasehold.hurry_gates(array[p_terms.gate_id]);
  perform leasehold.log_action(p_terms.tenant_id, 'gate.reset', p_terms.gate);
end
$$;
