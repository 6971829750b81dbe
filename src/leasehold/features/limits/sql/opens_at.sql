-- When the next job may pass a gate; in the past: now.
-- internal
create or replace function leasehold.opens_at(p_gate leasehold.gate_now, p_terms leasehold.gate_terms) returns timestamptz
language sql stable as $$
  select greatest(
    case when p_terms.every is not null then p_gate.tat end,
    case when p_gate.state = 'open' or p_gate.state = 'half-open' and p_gate.probes_left = 0 then p_gate.probe_at end,
    (select max(held_until) from leasehold.gate_word where gate_id = p_gate.gate_id),
    '-infinity'
  )
$$;
